import type { Usage } from '../contract/outcome.ts'
import type { LiveIteration, Progress } from '../contract/progress.ts'
import { withLive } from './live.ts'

type Spent = {
  readonly usage: Usage
  readonly costUsd?: number | undefined
  readonly costEstimated?: boolean | undefined
  readonly model?: string | undefined
}

/** Adds what an attempt cost. An attempt without a price makes the sum unknown, not zero. */
export function withCost(progress: Progress, live: LiveIteration, { usage, costUsd, costEstimated, model }: Spent) {
  const plus = (sum: number | null) => (sum === null || costUsd === undefined ? null : sum + costUsd)
  const counted: LiveIteration = {
    ...live,
    usage: addUsage(live.usage, usage),
    costUsd: plus(live.costUsd),
    ...(costEstimated && { costEstimated }),
    ...(model !== undefined && { model }),
  }
  const { stats } = progress
  const total = { ...stats, usage: addUsage(stats.usage, usage), costUsd: plus(stats.costUsd) }
  return { progress: withLive({ ...progress, stats: total }, counted), live: counted }
}

const addUsage = (a: Usage, b: Usage): Usage => ({
  inputTokens: a.inputTokens + b.inputTokens,
  outputTokens: a.outputTokens + b.outputTokens,
  cacheReadTokens: a.cacheReadTokens + b.cacheReadTokens,
  cacheWriteTokens: a.cacheWriteTokens + b.cacheWriteTokens,
})
