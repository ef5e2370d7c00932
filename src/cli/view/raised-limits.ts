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
  const flags = [...reached.map(formatFlag), ...repeatedFlags(progress, reached)].join(' ')
  return reached.some(({ name }) => name === 'tokens')
    ? `${flags}   after you raise limits.tokens in SPRINT.yaml`
    : flags
}

/** The flags of this run that the next one needs again, because they hold for one run and SPRINT.yaml has less. */
function repeatedFlags(progress: Progress, reached: readonly ReachedLimit[]): string[] {
  const { runLimits = {}, ...configured } = progress
  const { iterations } = progress.limits
  const maxIterations = iterations === 'off' ? unlimitedIterations : iterations
  const flags = {
    iterations: `--max-iterations ${runLimits.iterations}`,
    usd: `--budget-usd ${runLimits.usd}`,
    duration: `--max-duration ${formatDuration(runLimits.durationMs ?? 0)}`,
    tokens: '',
  }
  return findReachedLimits(fromProgress({ ...configured, stats: { ...progress.stats, maxIterations } }))
    .filter(({ name }) => !reached.some((other) => other.name === name))
    .map(({ name }) => flags[name])
}

function formatFlag({ name, limit, used }: ReachedLimit): string {
  const isEnough = used < limit * 2
  switch (name) {
    case 'iterations':
      return `--max-iterations ${isEnough ? limit * 2 : used * 2}`
    case 'usd':
      return `--budget-usd ${isEnough ? limit * 2 : Math.ceil(used * 2)}`
    case 'duration':
      return `--max-duration ${formatDuration(isEnough ? limit * 2 : Math.ceil(used / 30_000) * 60_000)}`
    case 'tokens':
      // No flag raises it: the run has to accept a changed SPRINT.yaml.
      return '--accept-changes'
  }
}
