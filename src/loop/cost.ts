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

/** Adds what an attempt cost, to its iteration and to the sprint. */
export function withCost(progress: Progress, live: LiveIteration, spent: Spent) {
  const { costEstimated, model } = spent
  const counted: LiveIteration = {
    ...plus(live, spent),
    ...(costEstimated && { costEstimated }),
    ...(model !== undefined && { model }),
  }
  return { progress: withLive(withSprintCost(progress, spent), counted), live: counted }
}

/** Adds what was spent outside the attempts, such as by a hook. */
export const withSprintCost = (progress: Progress, spent: Spent): Progress => ({
  ...progress,
  stats: plus(progress.stats, spent),
})

type Sum = Pick<Progress['stats'], 'usage' | 'costUsd' | 'spentUsd'>

/** An attempt without a price makes the sum unknown, not zero; what is known to be spent is kept beside it. */
function plus<T extends Sum>(sum: T, { usage, costUsd }: Spent): T {
  const total = sum.costUsd === null || costUsd === undefined ? null : sum.costUsd + costUsd
  const known = total === null && { spentUsd: spentUsd(sum) + (costUsd ?? 0) }
  return { ...sum, usage: addUsage(sum.usage, usage), costUsd: total, ...known }
}

/** What is known to be spent: at least that much it was. */
export const spentUsd = ({ costUsd, spentUsd: known }: Omit<Sum, 'usage'>): number => known ?? costUsd ?? 0

/** A limit on money cannot see what has no price, and that must not be silent. */
export function unpricedNote(before: Progress, after: Progress): Order[] {
  const { limits, runLimits = {} } = before
  const hasBudget = (runLimits.usd ?? limits.usd) !== 'off' || limits.iterationUsd !== 'off'
  if (!hasBudget || before.stats.costUsd === null || after.stats.costUsd !== null) return []
  const text = `no price is known for some of the work: the limits on money count only the rest, so far $${spentUsd(after.stats).toFixed(2)}`
  return [tell({ type: 'note', level: 'warning', text })]
}

export const addUsage = (a: Usage, b: Usage): Usage => ({
  inputTokens: a.inputTokens + b.inputTokens,
  outputTokens: a.outputTokens + b.outputTokens,
  cacheReadTokens: a.cacheReadTokens + b.cacheReadTokens,
  cacheWriteTokens: a.cacheWriteTokens + b.cacheWriteTokens,
})
