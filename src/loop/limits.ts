import { formatDuration } from '../contract/time.ts'
import type { Progress } from '../contract/progress.ts'

/** The limit that forbids another iteration, in one sentence; undefined if there is none. */
export function reachedLimit(progress: Progress): string | undefined {
  const { currentIteration, maxIterations } = progress.stats
  if (currentIteration >= maxIterations) return `${maxIterations} iterations (limits.iterations)`
  return spentLimit(progress)
}

/** The limit that forbids even another attempt of the iteration under way. */
export function spentLimit({ limits, runLimits = {}, stats }: Progress): string | undefined {
  const usd = runLimits.usd ?? limits.usd
  const duration = runLimits.durationMs ?? limits.duration
  if (usd !== 'off' && stats.costUsd !== null && stats.costUsd >= usd) {
    return `$${stats.costUsd.toFixed(2)} of $${usd} spent (limits.usd)`
  }
  const tokens = stats.usage.inputTokens + stats.usage.outputTokens
  if (limits.tokens !== 'off' && tokens >= limits.tokens) return `${tokens} of ${limits.tokens} tokens (limits.tokens)`
  if (duration !== 'off' && stats.activeMs >= duration) {
    return `${formatDuration(duration)} of work (limits.duration)`
  }
  return undefined
}
