import type { Usage } from '../contract/outcome.ts'
import type { LiveIteration, Progress } from '../contract/progress.ts'
import { withLive } from './live.ts'
import { tell, type Order } from './order.ts'

export type Spent = {
  readonly usage: Usage
  /** Absent: unpriced. */
  readonly costUsd?: number | undefined
  readonly costEstimated?: boolean | undefined
  readonly model?: string | undefined
}

/** Adds the cost of an attempt to its iteration and to the sprint. */
export function withCost(progress: Progress, live: LiveIteration, spent: Spent) {
  const { costEstimated, model } = spent
  const counted: LiveIteration = {
    ...plus(live, spent),
    ...(costEstimated && { costEstimated }),
    ...(model !== undefined && { model }),
  }
  return { progress: withLive(withSprintCost(progress, spent), counted), live: counted }
}

/** Adds cost outside of attempts, such as that of a hook. */
export const withSprintCost = (progress: Progress, spent: Spent): Progress => ({
  ...progress,
  stats: plus(progress.stats, spent),
})

type Sum = Pick<Progress['stats'], 'usage' | 'costUsd' | 'spentUsd'>

/** An attempt without a price makes the sum unknown, not zero; the known part is kept beside it. */
function plus<T extends Sum>(sum: T, { usage, costUsd }: Spent): T {
  const total = sum.costUsd === null || costUsd === undefined ? null : sum.costUsd + costUsd
  const known = total === null && { spentUsd: spentUsd(sum) + (costUsd ?? 0) }
  return { ...sum, usage: addUsage(sum.usage, usage), costUsd: total, ...known }
}

/** Known cost; the real cost may be higher. */
export const spentUsd = ({ costUsd, spentUsd: known }: Omit<Sum, 'usage'>): number => known ?? costUsd ?? 0

/** A limit in USD cannot count work without a price, so warn about it. */
export function unpricedNote(before: Progress, after: Progress): Order[] {
  const { limits, runLimits = {} } = before
  const hasBudget = (runLimits.usd ?? limits.usd) !== 'off' || limits.iterationUsd !== 'off'
  if (!hasBudget || before.stats.costUsd === null || after.stats.costUsd !== null) return []
  const text = `some of the work has no known price: the limits in USD only count the rest, so far $${spentUsd(after.stats).toFixed(2)}`
  return [tell({ type: 'note', level: 'warning', text })]
}

export const addUsage = (a: Usage, b: Usage): Usage => ({
  inputTokens: a.inputTokens + b.inputTokens,
  outputTokens: a.outputTokens + b.outputTokens,
  cacheReadTokens: a.cacheReadTokens + b.cacheReadTokens,
  cacheWriteTokens: a.cacheWriteTokens + b.cacheWriteTokens,
})
