import { unlimitedIterations, type Progress } from '../../contract/progress.ts'
import { formatDuration } from '../../contract/time.ts'
import { findReachedLimits, type ReachedLimit } from '../../loop/core/limits.ts'
import { fromProgress } from '../../loop/progress-codec.ts'

/** The command that runs the sprint on, with the flags that it needs to. */
export const resumeCommand = (name: string, progress: Progress | undefined): string =>
  `ralph run ${name} ${progress ? describeRaisedLimits(progress) : ''}`.trimEnd()

/** The flags that raise every reached limit enough for more work; each that is missing would stop the next run. */
export function describeRaisedLimits(progress: Progress): string {
  const reached = findReachedLimits(fromProgress(progress))
  const flags = [...reached.map(formatFlag), ...listOtherFlags(progress, reached)].join(' ')
  return reached.some(({ name }) => name === 'tokens')
    ? `${flags}   after you raise limits.tokens in SPRINT.yaml`
    : flags
}

/**
 * What the next run needs besides: the flags of this run, because they hold for one run and SPRINT.yaml has less, and a raised limit
 * that was lowered in SPRINT.yaml since.
 */
function listOtherFlags(progress: Progress, reached: readonly ReachedLimit[]): string[] {
  const { runLimits = {}, ...configured } = progress
  const { iterations } = progress.limits
  const maxIterations = iterations === 'off' ? unlimitedIterations : iterations
  const ofThisRun = {
    iterations: runLimits.iterations,
    usd: runLimits.usd,
    duration: runLimits.durationMs,
    tokens: undefined,
  }
  return findReachedLimits(fromProgress({ ...configured, stats: { ...progress.stats, maxIterations } }))
    .filter(({ name }) => !reached.some((other) => other.name === name))
    .map((next) => {
      const value = ofThisRun[next.name]
      return value === undefined ? formatFlag(next) : formatValue(next.name, value)
    })
}

/** Twice the limit, or more if that is still too little. */
function formatFlag({ name, limit, used }: ReachedLimit): string {
  if (used < limit * 2) return formatValue(name, limit * 2)
  return formatValue(name, name === 'duration' ? Math.ceil(used / 30_000) * 60_000 : Math.ceil(used * 2))
}

function formatValue(name: ReachedLimit['name'], value: number): string {
  switch (name) {
    case 'iterations':
      return `--max-iterations ${value}`
    case 'usd':
      return `--budget-usd ${value}`
    case 'duration':
      return `--max-duration ${formatDuration(value)}`
    case 'tokens':
      // No flag raises it: the run has to accept a changed SPRINT.yaml.
      return '--accept-changes'
  }
}
