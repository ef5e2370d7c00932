import { describe, expect, it } from 'vitest'
import { formatBytes, formatCount, formatTokens } from './counts.ts'
import { formatAge, formatAgo, formatDurationShort, formatHumanDuration, formatStopwatch } from './durations.ts'
import { formatCap, formatCost, formatUsd } from './money.ts'
import { clipLine, toOneLine } from './text.ts'

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
    expect([formatAgo(1000, 1500), formatAgo(0, 90_000), formatAgo(5000, 0), formatAge(50 * 3_600_000)]).toEqual([
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
    ]).toEqual(['212', '4.1k', '38.0k', '1.9M', '182 GB', '0 B'])
  })

  it('counts the time inside an iteration like a stopwatch', () => {
    expect([formatStopwatch(31_000), formatStopwatch(3_725_000), formatStopwatch(-1)]).toEqual([
      '0:31',
      '1:02:05',
      '0:00',
    ])
  })

  it('names tenths of a second only below ten seconds', () => {
    expect([1234, 9960, 192_000, 7_800_000].map(formatHumanDuration)).toEqual([
      '1.2 s',
      '10 s',
      '3 min 12 s',
      '2 h 10 min',
    ])
  })

  it('marks estimated cost and names the unpriced part', () => {
    expect([
      formatCost({ costUsd: 0.123 }),
      formatCost({ costUsd: 1234.5, costEstimated: true }),
      formatCost({ costUsd: null, spentUsd: 2 }),
      formatCost({ costUsd: null }),
    ]).toEqual(['$0.12', '≈$1,234.50', '$2.00 and an unpriced part', 'unpriced'])
  })

  it('counts cached tokens only where there are some', () => {
    const usage = { inputTokens: 1200, outputTokens: 34, cacheReadTokens: 0, cacheWriteTokens: 0 }
    expect([formatTokens(usage), formatTokens({ ...usage, cacheReadTokens: 5_600_000 })]).toEqual([
      '1.2k in, 34 out',
      '1.2k in, 34 out, 5.6M cached',
    ])
  })
})

it('makes foreign text one harmless line and clips it', () => {
  expect([toOneLine(' a\n\u001b[31mb\u0007 '), clipLine('abcdef', 4), clipLine('abcd', 4)]).toEqual([
    'a b',
    'abc…',
    'abcd',
  ])
})
