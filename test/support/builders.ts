import { noUsage } from '../../src/contract/outcome.ts'
import {
  schemaVersion,
  unlimitedIterations,
  type CheckResult,
  type HookTask,
  type LiveIteration,
  type Progress,
  type Step,
} from '../../src/contract/progress.ts'
import type { Report } from '../../src/contract/report.ts'
import { defaultLimits, defaultTimeouts, type Check, type Hook } from '../../src/contract/settings.ts'
import { advance } from '../../src/loop/advance.ts'
import type { AttemptEnd, Fact } from '../../src/loop/fact.ts'
import type { Order, Transition } from '../../src/loop/order.ts'

/** The time in tests that do not care about it. */
export const noon = Date.UTC(2026, 0, 18, 12)

type Groups = 'ralph' | 'limits' | 'timeouts' | 'stats'
type ProgressGiven = Partial<Omit<Progress, Groups>> & { readonly [G in Groups]?: Partial<Progress[G]> }

/** A compiled sprint that never ran, except for the given fields: no checkpoints, known baseline. */
export function aProgress({ ralph, limits, timeouts, stats, ...given }: ProgressGiven = {}): Progress {
  const { dynamicSteps: steps = [], live = [] } = given
  return {
    schemaVersion,
    rev: 0,
    sprintId: '2026-01-18_sprint',
    workflow: 'ralph',
    status: 'not-started',
    mode: 'ralph',
    goal: 'Ship it',
    perIterationHooks: [],
    dynamicSteps: [],
    live: [],
    iterations: [],
    hookTasks: [],
    ralphExit: { detectedAt: null, iteration: null, finalSummary: null },
    checkpoint: false,
    baseline: [],
    ...given,
    ralph: { idleThreshold: 3, minIterations: 0, idleCount: 0, ...ralph },
    limits: { ...defaultLimits, ...limits },
    timeouts: { ...defaultTimeouts, ...timeouts },
    stats: {
      startedAt: null,
      completedAt: null,
      currentIteration: live.at(-1)?.number ?? 0,
      maxIterations: unlimitedIterations,
      totalSteps: steps.length,
      completedSteps: steps.filter(({ status }) => status === 'completed').length,
      costUsd: 0,
      usage: noUsage,
      activeMs: 0,
      withoutProgress: 0,
      ...stats,
    },
  }
}

export const aStep = (given: Partial<Step> = {}): Step => ({
  id: 'step-0',
  prompt: 'do something',
  status: 'pending',
  addedAt: noon,
  addedInIteration: 1,
  ...(given.status === 'completed' && { completedAt: noon, completedInIteration: 1 }),
  ...given,
})

/** `step-0`, `step-1` … with these texts. */
export const steps = (...prompts: readonly string[]): Step[] =>
  prompts.map((prompt, number) => aStep({ id: `step-${number}`, prompt }))

/** The current iteration. */
export const aLive = (given: Partial<LiveIteration> = {}): LiveIteration => ({
  number: 1,
  mode: 'planning',
  stage: 'agent',
  attempt: 1,
  startedAt: noon,
  costUsd: 0,
  usage: noUsage,
  ...given,
})

export const aHook = (given: Partial<Hook> = {}): Hook => ({
  id: 'lint',
  run: 'npm run lint',
  parallel: false,
  enabled: true,
  onFail: 'record',
  ...given,
})

export const aHookTask = (given: Partial<HookTask> = {}): HookTask => ({
  iteration: 1,
  hookId: 'lint',
  status: 'completed',
  spawnedAt: noon,
  ...given,
})

export const aCheck = (given: Partial<Check> = {}): Check => ({
  run: 'npm test',
  timeout: 600_000,
  eachIteration: false,
  protect: false,
  ...given,
})

export const green = (name = 'npm test'): CheckResult => ({
  name,
  passed: true,
  exitCode: 0,
  durationMs: 1000,
  output: '',
})

export const red = (name = 'npm test', output = '1 failing'): CheckResult => ({
  name,
  passed: false,
  exitCode: 1,
  durationMs: 1000,
  output,
})

type Said<S extends Report['status']> = Partial<Extract<Report, { status: S }>>
type ReportGiven =
  | Said<'continue'>
  | (Said<'goal-complete'> & { readonly status: 'goal-complete' })
  | (Said<'needs-human'> & { readonly status: 'needs-human' })

/** A valid report, by default with the status `continue`. */
export function aReport(given: ReportGiven = {}): Report {
  const said = { summary: 'did something', completedStepIds: [], pendingSteps: [] }
  if (given.status === 'goal-complete') return { ...said, goalCompleteSummary: 'all done', ...given }
  if (given.status === 'needs-human')
    return { ...said, humanNeeded: { reason: 'no key', details: 'see .env' }, ...given }
  return { ...said, ...given, status: 'continue' }
}

/** New steps with these texts, as a report lists them. */
export const newSteps = (...prompts: readonly string[]) => prompts.map((prompt) => ({ id: null, prompt }))

/** A fact, or a function from the current order to its fact. */
export type Play = Fact | ((progress: Progress) => Fact)

type FactOf<T extends Fact['type']> = Extract<Fact, { type: T }>

export const started = (given: Partial<FactOf<'started'>> = {}): Fact => ({ type: 'started', at: noon, ...given })

/** The live attempt ends. */
export const attemptEnded =
  (end: AttemptEnd, given: Partial<Omit<FactOf<'attempt-ended'>, 'type' | 'end'>> = {}): Play =>
  ({ live: [live] }) => ({
    type: 'attempt-ended',
    at: noon,
    iteration: live?.number ?? 0,
    attempt: live?.attempt ?? 0,
    end,
    usage: noUsage,
    costUsd: 0,
    random: 0,
    ...given,
  })

/** The live attempt ends with this report. */
export const reports = (given: ReportGiven = {}, at = noon): Play =>
  attemptEnded({ kind: 'report', report: aReport(given) }, { at })

/** The live attempt ends without a report. */
export const saysNothing = (reason = 'no report'): Play => attemptEnded({ kind: 'malformed', reason })

type Failure = Extract<AttemptEnd, { kind: 'failed' }>

/** The live attempt fails. */
export const fails = (given: Partial<Failure> = {}, at = noon): Play =>
  attemptEnded({ kind: 'failed', class: 'crash', reason: 'exit code 1', retryable: true, ...given }, { at })

export const checksEnd =
  (...results: readonly CheckResult[]): Play =>
  ({ live: [live] }) => ({ type: 'checks-ended', at: noon, iteration: live?.number ?? 0, results })

/** The last running task of a hook ends, by default successfully. */
export const hookEnds =
  (hookId = 'lint', given: Partial<Omit<FactOf<'hook-ended'>, 'type' | 'hookId'>> = {}): Play =>
  ({ hookTasks }) => {
    const task = hookTasks.findLast((other) => other.hookId === hookId && other.status === 'running')
    return { type: 'hook-ended', at: noon, iteration: task?.iteration ?? 0, hookId, exitCode: 0, ...given }
  }

export const waitEnds =
  (at = noon): Play =>
  ({ live: [live] }) => ({ type: 'wait-ended', at, iteration: live?.number ?? 0 })

export const pauseRequested: Fact = { type: 'stop-requested', at: noon, as: 'paused', when: 'iteration' }
export const interrupted: Fact = { type: 'stop-requested', at: noon, as: 'interrupted', when: 'now' }
export const answered = (answer: string): Fact => ({ type: 'answered', at: noon, answer })

/** The state of a sprint after these facts, and the orders of the last one. Asserts that the input stays unchanged. */
export function after(progress: Progress, ...plays: readonly Play[]): Transition {
  return plays.reduce<Transition>(
    (so, play) => advance(frozen(so.progress), frozen(typeof play === 'function' ? play(so.progress) : play)),
    { progress, orders: [] },
  )
}

/** Orders that are work, without the events for observers. */
export const work = (orders: readonly Order[]) => orders.filter((order) => order.type !== 'tell')

/** The events for observers. */
export const told = (orders: readonly Order[]) =>
  orders.flatMap((order) => (order.type === 'tell' ? [order.event] : []))

/** The same value, deeply frozen. */
export function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const part of Object.values(value)) frozen(part)
  }
  return value
}
