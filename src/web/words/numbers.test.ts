import { describe, expect, it } from 'vitest'
import { ago, bytes, cap, count, duration, money, roughly, stopwatch } from './numbers.ts'

describe('number formats', () => {
  it.each([
    [4000, '4 s'],
    [41 * 60_000, '41 min'],
    [372_000, '6 m 12 s'],
    [2 * 3_600_000 + 10 * 60_000, '2 h 10 min'],
    [3 * 86_400_000, '3 d'],
    [-5, '0 s'],
  ])('formats %d ms as %s', (ms, words) => {
    expect(duration(ms)).toBe(words)
  })

  it('formats an age, and never a time in the future', () => {
    expect([ago(1000, 1500), ago(0, 90_000), ago(5000, 0), roughly(50 * 3_600_000)]).toEqual([
      'just now',
      '2 min ago',
      'just now',
      '2 d',
    ])
  })

  it('distinguishes unknown cost from zero cost', () => {
    expect([money(null), money(0), money(0.001), money(1234.5), cap(10), cap(2.5)]).toEqual([
      'unpriced',
      '$0.00',
      '<$0.01',
      '$1,234.50',
      '$10',
      '$2.50',
    ])
  })

  it('shortens counts and sizes', () => {
    expect([count(212), count(4100), count(38_000), count(1_940_000), bytes(182e9), bytes(0)]).toEqual([
      '212',
      '4.1 k',
      '38 k',
      '1.9 M',
      '182 GB',
      '0 B',
    ])
  })

  it('counts the time inside an iteration like a stopwatch', () => {
    expect([stopwatch(31_000), stopwatch(3_725_000), stopwatch(-1)]).toEqual(['00:31', '1:02:05', '00:00'])
  })
})
