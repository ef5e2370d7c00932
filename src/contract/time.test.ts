import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { Duration, formatDuration, formatPeriod, formatTimestamp, parseDuration, Period, Timestamp } from './time.ts'

describe('a moment', () => {
  it('is milliseconds in memory and UTC in files', () => {
    const noon = Date.UTC(2026, 0, 18, 12)

    expect(z.decode(Timestamp, '2026-01-18T12:00:00Z')).toBe(noon)
    expect(z.decode(Timestamp, '2026-01-18T14:00:00+02:00')).toBe(noon)
    expect(z.encode(Timestamp, noon)).toBe('2026-01-18T12:00:00.000Z')
    expect(formatTimestamp(0)).toBe('1970-01-01T00:00:00.000Z')
  })

  it('survives a round trip', () => {
    const comesBack = (ms: number) => {
      expect(z.decode(Timestamp, z.encode(Timestamp, ms))).toBe(ms)
    }

    expect(
      fc.check(fc.property(fc.integer({ min: 0, max: 4_102_444_800_000 }), comesBack), { seed: 42 }),
    ).toMatchObject({
      failed: false,
    })
  })

  it.each(['yesterday', '2026-01-18', '2026-13-01T00:00:00Z', ''])('is not %j', (text) => {
    expect(Timestamp.safeParse(text).success).toBe(false)
  })
})

describe('a period', () => {
  it.each([
    ['30d', 30 * 86_400_000],
    ['1d', 86_400_000],
    ['12h', 12 * 3_600_000],
  ])('%s is %d ms, and is written like that', (text, ms) => {
    expect(Period.parse(text)).toBe(ms)
    expect(formatPeriod(ms)).toBe(text)
  })

  it.each(['30', 'd', '1.5d', '1d12h', '1w'])('is not "%s"', (text) => {
    expect(Period.safeParse(text).success).toBe(false)
  })
})

describe('a duration', () => {
  it.each([
    ['500ms', 500],
    ['30s', 30_000],
    ['10m', 600_000],
    ['2h', 7_200_000],
    ['0s', 0],
    ['999999999h', 3_599_999_996_400_000],
  ])('%s is %d ms', (text, ms) => {
    expect(z.decode(Duration, text)).toBe(ms)
    expect(parseDuration(text)).toBe(ms)
  })

  it.each([
    [0, '0ms'],
    [1, '1ms'],
    [1500, '1500ms'],
    [60_000, '1m'],
    [90_000, '90s'],
    [3_600_000, '1h'],
  ])('%d ms is written as %s', (ms, text) => {
    expect(z.encode(Duration, ms)).toBe(text)
    expect(formatDuration(ms)).toBe(text)
  })

  it('survives a round trip', () => {
    const comesBack = (ms: number) => {
      expect(z.decode(Duration, z.encode(Duration, ms))).toBe(ms)
    }

    expect(fc.check(fc.property(fc.nat(999_999_999), comesBack), { seed: 42 })).toMatchObject({ failed: false })
  })

  it.each(['10', '10 m', '1d', '-1s', '1.5h', 'm', '', '1h30m', '١s'])('is not %j', (text) => {
    expect(Duration.safeParse(text).success).toBe(false)
  })
})
