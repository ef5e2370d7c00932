import { expect, it } from 'vitest'
import { describeBudgetState, findPeriod, forecastSpend } from './budget-period.ts'

const at = (text: string) => Date.parse(text)

it.each([
  ['day', '2026-11-18T23:59:59.999Z', '2026-11-18T00:00:00Z', '2026-11-19T00:00:00Z'],
  ['month', '2026-12-31T12:00:00Z', '2026-12-01T00:00:00Z', '2027-01-01T00:00:00Z'],
  ['month', '2028-02-29T00:00:00Z', '2028-02-01T00:00:00Z', '2028-03-01T00:00:00Z'],
] as const)('finds the %s that contains %s', (period, now, start, end) => {
  expect(findPeriod(period, at(now))).toEqual({ start: at(start), end: at(end) })
})

it('forecasts with the pace of the last days, or of this period if it is higher', () => {
  const noon = at('2026-11-18T12:00:00Z')
  expect(forecastSpend({ spentUsd: 2, recentUsd: 70 }, 'day', noon)).toBe(7)
  expect(forecastSpend({ spentUsd: 20, recentUsd: 70 }, 'day', noon)).toBe(40)
  // The first hours of a period would multiply one attempt by a whole month.
  expect(forecastSpend({ spentUsd: 3, recentUsd: 7 }, 'month', at('2026-11-01T01:00:00Z'))).toBeCloseTo(3 + 30, 0)
})

it('warns from four fifths of a budget on', () => {
  expect([7.99, 8, 10, 12].map((spent) => describeBudgetState(spent, 10))).toEqual(['within', 'near', 'spent', 'spent'])
  expect(describeBudgetState(0, 0)).toBe('spent')
})
