import { describe, expect, it } from 'vitest'
import {
  formatAgo,
  formatBytes,
  formatCap,
  formatCount,
  formatDurationShort,
  formatUsd,
  formatRoughly,
  formatStopwatch,
} from './numbers.ts'

describe('number formats', () => {
  it.each([
    [4000, '4 s'],
    [41 * 60_000, '41 min'],
    [372_000, '6 m 12 s'],
    [2 * 3_600_000 + 10 * 60_000, '2 h 10 min'],
    [3 * 86_400_000, '3 d'],
    [-5, '0 s'],
  ])('formats %d ms as %s', (ms, words) => {
    expect(formatDurationShort(ms)).toBe(words)
  })

  it('formats an age, and never a time in the future', () => {
    expect([formatAgo(1000, 1500), formatAgo(0, 90_000), formatAgo(5000, 0), formatRoughly(50 * 3_600_000)]).toEqual([
      'just now',
      '2 min ago',
      'just now',
      '2 d',
    ])
  })

  it('distinguishes unknown cost from zero cost', () => {
    expect([formatUsd(null), formatUsd(0), formatUsd(0.001), formatUsd(1234.5), formatCap(10), formatCap(2.5)]).toEqual(
      ['unpriced', '$0.00', '<$0.01', '$1,234.50', '$10', '$2.50'],
    )
  })

  it('shortens counts and sizes', () => {
    expect([
      formatCount(212),
      formatCount(4100),
      formatCount(38_000),
      formatCount(1_940_000),
      formatBytes(182e9),
      formatBytes(0),
    ]).toEqual(['212', '4.1 k', '38 k', '1.9 M', '182 GB', '0 B'])
  })

  it('counts the time inside an iteration like a stopwatch', () => {
    expect([formatStopwatch(31_000), formatStopwatch(3_725_000), formatStopwatch(-1)]).toEqual([
      '00:31',
      '1:02:05',
      '00:00',
    ])
  })
})
