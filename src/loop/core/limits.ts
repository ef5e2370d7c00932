import { formatDuration } from '../../contract/time.ts'
import type { Usage } from '../../contract/outcome.ts'
import type { LiveIteration } from '../../contract/progress.ts'
import { getKnownCost } from './cost.ts'
import type { Sprint } from './sprint.ts'

/** Describes the limit that forbids another iteration; undefined if there is none. */
export function describeReachedLimit(sprint: Sprint): string | undefined {
  const { currentIteration, maxIterations } = sprint.stats
  if (currentIteration >= maxIterations)
    return `${maxIterations} ${maxIterations === 1 ? 'iteration' : 'iterations'} (limits.iterations)`
  return describeSpentLimit(sprint)
}

/** Describes the limit that forbids even another attempt of the current iteration. */
export function describeSpentLimit({ plan: { limits }, run, stats }: Sprint): string | undefined {
  const runLimits = run?.limits ?? {}
  const usd = runLimits.usd ?? limits.usd
  const duration = runLimits.durationMs ?? limits.duration
  const spent = getKnownCost(stats)
  if (usd !== 'off' && spent >= usd) {
    return `${stats.costUsd === null ? 'at least ' : ''}$${spent.toFixed(2)} of ${formatLimit(usd)} spent (limits.usd)`
  }
  const tokens = countTokens(stats.usage)
  if (limits.tokens !== 'off' && tokens >= limits.tokens) return `${tokens} of ${limits.tokens} tokens (limits.tokens)`
  if (duration !== 'off' && stats.activeMs >= duration) {
    return `${formatDuration(duration)} of work (limits.duration)`
  }
  return undefined
}

/** `$1`, `$0.50`, `$0.005`. */
const formatLimit = (usd: number): string => `$${String(usd).replace(/\.\d$/, '$&0')}`

/** Nothing has changed for limits.no-progress iterations. */
export const isStuck = ({ plan: { limits }, stats }: Sprint): boolean =>
  limits.noProgress !== 'off' && stats.withoutProgress >= limits.noProgress

/** Absent fields are unlimited. */
export type AttemptBudget = { readonly usd?: number; readonly tokens?: number; readonly durationMs?: number }

/** What the next attempt may still use of the sprint's limits, and of its iteration's. */
export function getRemainingBudget({ plan: { limits }, run, stats }: Sprint, live?: LiveIteration): AttemptBudget {
  const runLimits = run?.limits ?? {}
  const usd = findLeast([
    subtractUsed(runLimits.usd ?? limits.usd, getKnownCost(stats)),
    live && subtractUsed(limits.iterationUsd, getKnownCost(live)),
  ])
  const tokens = findLeast([
    subtractUsed(limits.tokens, countTokens(stats.usage)),
    live && subtractUsed(limits.iterationTokens, countTokens(live.usage)),
  ])
  const durationMs = subtractUsed(runLimits.durationMs ?? limits.duration, stats.activeMs)
  return {
    ...(usd !== undefined && { usd }),
    ...(tokens !== undefined && { tokens }),
    ...(durationMs !== undefined && { durationMs }),
  }
}

const subtractUsed = (limit: number | 'off', used: number): number | undefined =>
  limit === 'off' ? undefined : limit - used

const findLeast = (amounts: readonly (number | undefined)[]): number | undefined =>
  amounts.reduce((a, b) => (a === undefined || (b !== undefined && b < a) ? b : a))

const countTokens = ({ inputTokens, outputTokens }: Usage): number => inputTokens + outputTokens
