import { formatDuration } from '../../contract/time.ts'
import type { Usage } from '../../contract/outcome.ts'
import type { LiveIteration } from '../../contract/progress.ts'
import { getKnownCost } from './cost.ts'
import type { Sprint } from './sprint.ts'

/** A limit that the work of a sprint has reached. */
export type ReachedLimit = {
  readonly name: 'iterations' | 'usd' | 'tokens' | 'duration'
  readonly limit: number
  readonly used: number
  /** The reason that the user reads. */
  readonly text: string
}

/** Describes the limit that forbids another iteration; undefined if there is none. */
export const describeReachedLimit = (sprint: Sprint): string | undefined => findReachedLimits(sprint)[0]?.text

/** Describes the limit that forbids even another attempt of the current iteration. */
export const describeSpentLimit = (sprint: Sprint): string | undefined => findSpentLimits(sprint)[0]?.text

/** Every limit that forbids another iteration. */
export function findReachedLimits(sprint: Sprint): ReachedLimit[] {
  const { currentIteration: used, maxIterations: limit } = sprint.stats
  const spent = findSpentLimits(sprint)
  if (used < limit) return spent
  const text = `${limit} ${limit === 1 ? 'iteration' : 'iterations'} (limits.iterations)`
  return [{ name: 'iterations', limit, used, text }, ...spent]
}

function findSpentLimits({ plan: { limits }, run, stats }: Sprint): ReachedLimit[] {
  const { usd = limits.usd, durationMs = limits.duration } = run?.limits ?? {}
  const spent = getKnownCost(stats)
  const tokens = countTokens(stats.usage)
  const reached: ReachedLimit[] = []
  if (usd !== 'off' && spent >= usd) {
    const text = `${stats.costUsd === null ? 'at least ' : ''}$${spent.toFixed(2)} of ${formatLimit(usd)} spent (limits.usd)`
    reached.push({ name: 'usd', limit: usd, used: spent, text })
  }
  if (limits.tokens !== 'off' && tokens >= limits.tokens) {
    const text = `${tokens} of ${limits.tokens} tokens (limits.tokens)`
    reached.push({ name: 'tokens', limit: limits.tokens, used: tokens, text })
  }
  if (durationMs !== 'off' && stats.activeMs >= durationMs) {
    const text = `${formatDuration(durationMs)} of work (limits.duration)`
    reached.push({ name: 'duration', limit: durationMs, used: stats.activeMs, text })
  }
  return reached
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
