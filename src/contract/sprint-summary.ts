import type { LiveIteration, Progress, SprintStatus, Verdict } from './progress.ts'
import { unlimitedIterations } from './progress.ts'

/** The part of a progress that its summary needs. */
export type SummarySource = Pick<Progress, 'stats' | 'limits' | 'live' | 'iterations' | 'status'> &
  Partial<Pick<Progress, 'runLimits' | 'parked' | 'reason' | 'doneWhen' | 'baseline'>> & {
    /** Of a sprint that has reached its goal. */
    readonly ralphExit?: Doubts | undefined
  }

type Doubts = Pick<Progress['ralphExit'], 'unchecked' | 'unproven'>

/** What is missing from a goal that was reached. */
export type GoalDoubt = 'unchecked' | 'unproven'

export type IterationMark = {
  readonly number: number
  /** Absent: it is running. */
  readonly verdict?: Verdict | undefined
  readonly changed?: boolean | undefined
  /** Present for an iteration that planned: it need not change files. */
  readonly mode?: 'planning' | undefined
}

export type CheckCount = {
  readonly green: number
  readonly all: number
  /** The checks have only run before the first iteration. */
  readonly baseline?: boolean | undefined
}

/**
 * The state of a sprint in few words. Rows of the fleet, the page of a sprint and its parts are all drawn from this, so that they
 * cannot contradict each other.
 */
export type SprintSummary = {
  readonly status: SprintStatus
  readonly iteration: number
  readonly maxIterations?: number | undefined
  /** The last ones, oldest first. */
  readonly verdicts: readonly IterationMark[]
  readonly checks?: CheckCount | undefined
  /** What happens now; absent unless the sprint is in progress. */
  readonly mode?: LiveIteration['mode'] | undefined
  readonly stage?: LiveIteration['stage'] | undefined
  readonly parked?: Progress['parked']
  readonly reason?: string | undefined
  readonly doubt?: GoalDoubt | undefined
}

/** Iterations in a summary. */
const maxVerdicts = 20

export function summarizeSprint(progress: SummarySource): SprintSummary {
  const { status, stats, live, iterations } = progress
  const current = status === 'in-progress' ? live.at(-1) : undefined
  const past = iterations.map(({ number, verdict, changed, mode }) => ({
    number,
    verdict,
    ...(changed === false && { changed }),
    ...(mode === 'planning' && { mode }),
  }))
  const now = live.map((each) => ({ number: each.number, verdict: judgeLive(status, each) }))
  return {
    status,
    iteration: stats.currentIteration,
    maxIterations: iterationCap(progress),
    verdicts: [...past, ...now].slice(-maxVerdicts),
    checks: countChecks(progress),
    mode: current?.mode,
    stage: current?.stage,
    parked: status === 'parked' ? progress.parked : undefined,
    reason: status === 'in-progress' || status === 'parked' ? undefined : progress.reason,
    doubt: status === 'completed' ? readDoubt(progress.ralphExit) : undefined,
  }
}

function readDoubt({ unchecked, unproven }: Doubts = {}): GoalDoubt | undefined {
  if (unchecked === true) return 'unchecked'
  return unproven === true ? 'unproven' : undefined
}

/** Whether work runs, or resumes by itself. */
export const isUnderWay = (status: SprintStatus): boolean => status === 'in-progress' || status === 'parked'

/** An iteration without a receipt runs only while its sprint does. In a sprint that rests it was stopped, and resumes with it. */
export const judgeLive = (status: SprintStatus, live: Pick<LiveIteration, 'verdict'>): Verdict | undefined =>
  isUnderWay(status) ? live.verdict : (live.verdict ?? 'interrupted')

function iterationCap({ runLimits, limits, stats }: SummarySource): number | undefined {
  if (runLimits?.iterations !== undefined) return runLimits.iterations
  if (limits.iterations !== 'off') return limits.iterations
  return stats.maxIterations < unlimitedIterations ? stats.maxIterations : undefined
}

function countChecks({ live, iterations, doneWhen = [], baseline = [] }: SummarySource): CheckCount | undefined {
  const marks = live.find(({ checks }) => checks)?.checks ?? iterations.findLast(({ checks }) => checks)?.checks
  if (marks) return { green: marks.filter(({ passed }) => passed).length, all: marks.length }
  if (baseline.length > 0)
    return { green: baseline.filter(({ passed }) => passed).length, all: baseline.length, baseline: true }
  return doneWhen.length > 0 ? { green: 0, all: doneWhen.length } : undefined
}
