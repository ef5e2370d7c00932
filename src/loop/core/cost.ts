import type { Usage } from '../../contract/outcome.ts'
import type { LiveIteration } from '../../contract/progress.ts'
import { replaceLive } from './live-iteration.ts'
import { emitEvent, type Order } from './order.ts'
import type { Sprint } from './sprint.ts'

export type Expense = {
  readonly usage: Usage
  /** Absent: unpriced. */
  readonly costUsd?: number | undefined
  readonly costEstimated?: boolean | undefined
  readonly model?: string | undefined
}

/** Adds the cost of an attempt to its iteration and to the sprint. */
export function addCost(sprint: Sprint, live: LiveIteration, spent: Expense) {
  const { costEstimated, model } = spent
  const counted: LiveIteration = {
    ...addToSum(live, spent),
    ...(costEstimated && { costEstimated }),
    ...(model !== undefined && { model }),
  }
  return { sprint: replaceLive(addSprintCost(sprint, spent), counted), live: counted }
}

/** Adds cost outside of attempts, such as that of a hook. */
export const addSprintCost = (sprint: Sprint, spent: Expense): Sprint => ({
  ...sprint,
  stats: addToSum(sprint.stats, spent),
})

type CostSum = Pick<Sprint['stats'], 'usage' | 'costUsd' | 'spentUsd'>

/** An attempt without a price makes the sum unknown, not zero; the known part is kept beside it. */
function addToSum<T extends CostSum>(sum: T, { usage, costUsd }: Expense): T {
  const total = sum.costUsd === null || costUsd === undefined ? null : sum.costUsd + costUsd
  const known = total === null && { spentUsd: getKnownCost(sum) + (costUsd ?? 0) }
  return { ...sum, usage: mergeUsage(sum.usage, usage), costUsd: total, ...known }
}

/** Known cost; the real cost may be higher. */
export const getKnownCost = ({ costUsd, spentUsd: known }: Omit<CostSum, 'usage'>): number => known ?? costUsd ?? 0

/** A limit in USD cannot count work without a price, so warn about it. */
export function warnUnpriced(before: Sprint, after: Sprint): Order[] {
  const { limits } = before.plan
  const runLimits = before.run?.limits ?? {}
  const hasBudget = (runLimits.usd ?? limits.usd) !== 'off' || limits.iterationUsd !== 'off'
  if (!hasBudget || before.stats.costUsd === null || after.stats.costUsd !== null) return []
  const text = `some of the work has no known price: the limits in USD only count the rest, so far $${getKnownCost(after.stats).toFixed(2)}`
  return [emitEvent({ type: 'note', level: 'warning', text })]
}

export const mergeUsage = (a: Usage, b: Usage): Usage => ({
  inputTokens: a.inputTokens + b.inputTokens,
  outputTokens: a.outputTokens + b.outputTokens,
  cacheReadTokens: a.cacheReadTokens + b.cacheReadTokens,
  cacheWriteTokens: a.cacheWriteTokens + b.cacheWriteTokens,
})
