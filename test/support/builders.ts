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
import type { Check } from '../../src/contract/check.ts'
import { defaultLimits, defaultTimeouts, type Hook } from '../../src/contract/settings.ts'
import { advance, type Transition } from '../../src/loop/advance.ts'
import type { AttemptEnd, Fact } from '../../src/loop/core/fact.ts'
import type { Order } from '../../src/loop/core/order.ts'

/** The time in tests that do not care about it. */
export const noon = Date.UTC(2026, 0, 18, 12)

type Groups = 'ralph' | 'limits' | 'timeouts' | 'stats'
type ProgressOverrides = Partial<Omit<Progress, Groups>> & { readonly [G in Groups]?: Partial<Progress[G]> }

/** A compiled sprint that never ran, except for the given fields: no checkpoints, known baseline. */
export function buildProgress({ ralph, limits, timeouts, stats, ...overrides }: ProgressOverrides = {}): Progress {
  const { dynamicSteps: steps = [], live = [] } = overrides
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
    ...overrides,
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

export const buildStep = (overrides: Partial<Step> = {}): Step => ({
  id: 'step-0',
  prompt: 'do something',
  status: 'pending',
  addedAt: noon,
  addedInIteration: 1,
  ...(overrides.status === 'completed' && { completedAt: noon, completedInIteration: 1 }),
  ...overrides,
})

/** `step-0`, `step-1` … with these texts. */
export const buildSteps = (...prompts: readonly string[]): Step[] =>
  prompts.map((prompt, number) => buildStep({ id: `step-${number}`, prompt }))

/** The current iteration. */
export const buildLive = (overrides: Partial<LiveIteration> = {}): LiveIteration => ({
  number: 1,
  mode: 'planning',
  stage: 'agent',
  attempt: 1,
  startedAt: noon,
  costUsd: 0,
  usage: noUsage,
  ...overrides,
})

export const buildHook = (overrides: Partial<Hook> = {}): Hook => ({
  id: 'lint',
  run: 'npm run lint',
  parallel: false,
  enabled: true,
  onFail: 'record',
  ...overrides,
})

export const buildHookTask = (overrides: Partial<HookTask> = {}): HookTask => ({
  iteration: 1,
  hookId: 'lint',
  status: 'completed',
  spawnedAt: noon,
  ...overrides,
})

export const buildCheck = (overrides: Partial<Check> = {}): Check => ({
  run: 'npm test',
  timeout: 600_000,
  eachIteration: false,
  protect: false,
  ...overrides,
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

type PartialReport<S extends Report['status']> = Partial<Extract<Report, { status: S }>>
type ReportOverrides =
  | PartialReport<'continue'>
  | (PartialReport<'goal-complete'> & { readonly status: 'goal-complete' })
  | (PartialReport<'needs-human'> & { readonly status: 'needs-human' })

/** A valid report, by default with the status `continue`. */
export function buildReport(overrides: ReportOverrides = {}): Report {
  const defaults = { summary: 'did something', completedStepIds: [], pendingSteps: [] }
  if (overrides.status === 'goal-complete') return { ...defaults, goalCompleteSummary: 'all done', ...overrides }
  if (overrides.status === 'needs-human')
    return { ...defaults, humanNeeded: { reason: 'no key', details: 'see .env' }, ...overrides }
  return { ...defaults, ...overrides, status: 'continue' }
}

/** New steps with these texts, as a report lists them. */
export const newSteps = (...prompts: readonly string[]) => prompts.map((prompt) => ({ id: null, prompt }))

/** A fact, or a function from the current order to its fact. */
export type Play = Fact | ((progress: Progress) => Fact)

type FactByType<T extends Fact['type']> = Extract<Fact, { type: T }>

export const started = (overrides: Partial<FactByType<'started'>> = {}): Fact => ({
  type: 'started',
  at: noon,
  ...overrides,
})

/** The live attempt ends. */
export const attemptEnded =
  (end: AttemptEnd, overrides: Partial<Omit<FactByType<'attempt-ended'>, 'type' | 'end'>> = {}): Play =>
  ({ live: [live] }) => ({
    type: 'attempt-ended',
    at: noon,
    iteration: live?.number ?? 0,
    attempt: live?.attempt ?? 0,
    end,
    usage: noUsage,
    costUsd: 0,
    random: 0,
    ...overrides,
  })

/** The live attempt ends with this report. */
export const reports = (overrides: ReportOverrides = {}, at = noon): Play =>
  attemptEnded({ kind: 'report', report: buildReport(overrides) }, { at })

/** The live attempt ends without a report. */
export const saysNothing = (reason = 'no report'): Play => attemptEnded({ kind: 'malformed', reason })

type Failure = Extract<AttemptEnd, { kind: 'failed' }>

/** The live attempt fails. */
export const fails = (overrides: Partial<Failure> = {}, at = noon): Play =>
  attemptEnded({ kind: 'failed', class: 'crash', reason: 'exit code 1', retryable: true, ...overrides }, { at })

export const checksEnd =
  (...results: readonly CheckResult[]): Play =>
  ({ live: [live] }) => ({ type: 'checks-ended', at: noon, iteration: live?.number ?? 0, results })

/** The last running task of a hook ends, by default successfully. */
export const hookEnds =
  (hookId = 'lint', overrides: Partial<Omit<FactByType<'hook-ended'>, 'type' | 'hookId'>> = {}): Play =>
  ({ hookTasks }) => {
    const task = hookTasks.findLast((other) => other.hookId === hookId && other.status === 'running')
    return { type: 'hook-ended', at: noon, iteration: task?.iteration ?? 0, hookId, exitCode: 0, ...overrides }
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
    (transition, play) =>
      advance(frozen(transition.progress), frozen(typeof play === 'function' ? play(transition.progress) : play)),
    { progress, orders: [] },
  )
}

/** Orders that are work, without the events for observers. */
export const workOrders = (orders: readonly Order[]) => orders.filter((order) => order.type !== 'tell')

/** The events for observers. */
export const emittedEvents = (orders: readonly Order[]) =>
  orders.flatMap((order) => (order.type === 'tell' ? [order.event] : []))

/** The same value, deeply frozen. */
export function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const part of Object.values(value)) frozen(part)
  }
  return value
}
