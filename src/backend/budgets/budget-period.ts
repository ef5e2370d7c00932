import type { BudgetPeriod } from '../../contract/fleet/budget.ts'

const dayMs = 86_400_000

/** The day or month in UTC that contains a moment. */
export function findPeriod(period: BudgetPeriod, now: number): { readonly start: number; readonly end: number } {
  const date = new Date(now)
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()]
  const start = period === 'day' ? Date.UTC(year, month, date.getUTCDate()) : Date.UTC(year, month)
  return { start, end: period === 'day' ? start + dayMs : Date.UTC(year, month + 1) }
}

export const formatDay = (at: number): string => new Date(at).toISOString().slice(0, 10)

/** The days whose average is the normal pace of a budget. */
export const paceDays = 7
/** A shorter part of a period says nothing about its pace. */
const minElapsedDays = 0.25

type Spend = {
  readonly spentUsd: number
  /** Spend of the last `paceDays` whole days. */
  readonly recentUsd: number
}

/** Adds the rest of the period at the pace of the last days, or at that of this period if it is higher. */
export function forecastSpend({ spentUsd, recentUsd }: Spend, period: BudgetPeriod, now: number): number {
  const { start, end } = findPeriod(period, now)
  const elapsedDays = (now - start) / dayMs
  const pace = elapsedDays < minElapsedDays ? 0 : spentUsd / elapsedDays
  return spentUsd + Math.max(pace, recentUsd / paceDays) * ((end - now) / dayMs)
}

/** The share of a budget from which users are warned. */
const nearShare = 0.8

export function describeBudgetState(spentUsd: number, limitUsd: number): 'within' | 'near' | 'spent' {
  if (spentUsd >= limitUsd) return 'spent'
  return spentUsd >= limitUsd * nearShare ? 'near' : 'within'
}
