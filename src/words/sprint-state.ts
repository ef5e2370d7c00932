import type { LiveIteration, SprintStatus } from '../contract/progress.ts'
import type { CheckCount, GoalDoubt, IterationMark, SprintSummary } from '../contract/sprint-summary.ts'
import { statusWords } from './status.ts'
import type { Tone } from './tone.ts'
import { verdictBadge, type VerdictBadge } from './verdict.ts'

/** Groups of the fleet, which its counters count and filter by. */
export type SituationGroup = 'running' | 'needs-you' | 'parked' | 'failed' | 'resting'

export type SprintState = {
  readonly group: SituationGroup
  readonly tone: Tone
  readonly label: string
  /** Work runs now. */
  readonly live: boolean
  /** `iteration 3 of 40` */
  readonly iteration?: string | undefined
  /** What happens inside the iteration that runs. */
  readonly doing?: string | undefined
  /** What is missing from a goal that was reached. */
  readonly doubt?: GoalDoubt | undefined
}

const groups: Readonly<Record<SprintStatus, SituationGroup>> = {
  'in-progress': 'running',
  'not-started': 'running',
  'needs-human': 'needs-you',
  parked: 'parked',
  failed: 'failed',
  blocked: 'failed',
  'limit-reached': 'failed',
  paused: 'resting',
  'paused-at-breakpoint': 'resting',
  interrupted: 'resting',
  completed: 'resting',
}

/** The state of a sprint, for the terminal and every part of the page. */
export function describeSprintState({
  status,
  iteration,
  maxIterations,
  mode,
  stage,
  doubt,
}: SummaryWords): SprintState {
  const { label, tone } = statusWords[status]
  const cap = maxIterations === undefined ? '' : ` of ${maxIterations}`
  return {
    group: groups[status],
    tone,
    label,
    live: status === 'in-progress',
    iteration: iteration > 0 ? `iteration ${iteration}${cap}` : undefined,
    doing: status !== 'in-progress' ? undefined : (describeStage(stage) ?? mode),
    ...(doubt && { doubt }),
  }
}

/** A glance from the API has plain strings. */
type SummaryWords = Pick<SprintSummary, 'status' | 'iteration' | 'maxIterations' | 'doubt'> & {
  readonly mode?: string | undefined
  readonly stage?: string | undefined
}

const describeStage = (stage: string | undefined): string | undefined =>
  stage !== undefined && stage !== 'agent' && stage in stageWords ? stageWords[toStage(stage)] : undefined

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the caller has looked it up
const toStage = (stage: string) => stage as LiveIteration['stage']

export const stageWords: Readonly<Record<LiveIteration['stage'], string>> = {
  agent: 'agent working',
  waiting: 'waiting to retry',
  checks: 'running checks',
  gate: 'running its gate',
  review: 'second agent reviewing',
  hooks: 'running hooks',
  checkpoint: 'creating a checkpoint',
}

/** The badge of one iteration of a sprint; a parked sprint works on none. */
export const iterationBadge = (status: SprintStatus, mark: Omit<IterationMark, 'number'>): VerdictBadge =>
  mark.verdict === undefined && status === 'parked'
    ? { sign: 'stopped', tone: 'warn', words: 'is waiting for the usage limit' }
    : verdictBadge(mark)

/** `2 of 3 green`, `1 of 1 green at the start` */
export const describeChecks = ({ green, all, baseline }: CheckCount): string =>
  `${green} of ${all} green${baseline === true ? ' at the start' : ''}`
