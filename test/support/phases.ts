import type { CompiledPhase, CompiledStep, CompiledSubPhase } from '../../src/contract/phases.ts'
import { noUsage } from '../../src/contract/outcome.ts'
import type { LiveIteration, Progress } from '../../src/contract/progress.ts'
import type { PhaseReport } from '../../src/contract/report.ts'
import type { AttemptEnd, Fact } from '../../src/loop/core/fact.ts'
import { buildProgress, noon, type Play } from './builders.ts'

/** A sprint with phases that was compiled and never run. */
export function buildStandard(
  phases: readonly CompiledPhase[],
  overrides: Parameters<typeof buildProgress>[0] = {},
): Progress {
  const steps = phases.flatMap((phase) => phase.steps ?? [])
  const total = phases.length + steps.flatMap((step) => step.phases).length
  return buildProgress({
    mode: 'standard',
    goal: '',
    phases: [...phases],
    current: { phase: 0, step: null, subPhase: null },
    ...overrides,
    stats: { totalSteps: steps.length, totalPhases: total, completedPhases: 0, ...overrides.stats },
  })
}

/** A phase with a prompt of its own. */
export const buildPhase = (id: string, overrides: Partial<CompiledPhase> = {}): CompiledPhase => ({
  id,
  prompt: `do ${id}`,
  status: 'pending',
  ...overrides,
})

/** A phase that works on items. */
export const forEach = (
  id: string,
  steps: readonly CompiledStep[],
  overrides: Partial<CompiledPhase> = {},
): CompiledPhase => ({
  id,
  status: 'pending',
  steps: [...steps],
  ...overrides,
})

export const buildItem = (id: string, overrides: Partial<CompiledStep> = {}): CompiledStep => ({
  id,
  prompt: `do ${id}`,
  status: 'pending',
  phases: [buildPart('execute')],
  ...overrides,
})

export const buildPart = (id: string, overrides: Partial<CompiledSubPhase> = {}): CompiledSubPhase => ({
  id,
  prompt: `do ${id}`,
  status: 'pending',
  ...overrides,
})

export const buildGate = (maxRetries = 3): NonNullable<CompiledPhase['gate']> => ({
  script: 'make check',
  onFailPrompt: 'mend it',
  maxRetries,
  timeout: 60_000,
})

/** The live iteration of a phase, an item or a part of one, by its name as in `work/x/execute`. */
function findLive({ live }: Progress, name: string): LiveIteration {
  const found = live.find(({ work }) => [work?.phase, work?.step, work?.subPhase].join('/').startsWith(name))
  if (!found) throw new Error(`nothing is under way for ${name}`)
  return found
}

const attemptEndedOn =
  (name: string, end: AttemptEnd, at = noon): Play =>
  (progress) => {
    const { number: iteration, attempt } = findLive(progress, name)
    return { type: 'attempt-ended', at, iteration, attempt, end, usage: noUsage, costUsd: 0, random: 0 }
  }

/** The agent that works on it reports this. */
const reportsOn = (name: string, report: PhaseReport, at = noon): Play =>
  attemptEndedOn(name, { kind: 'phase-report', report }, at)

export const completes = (name: string, at = noon): Play =>
  reportsOn(name, { status: 'completed', summary: `${name} ok` }, at)

export const fails = (name: string, error = 'boom', at = noon): Play =>
  reportsOn(name, { status: 'failed', summary: 'tried', error }, at)

export const asks = (name: string, reason = 'which one?'): Play =>
  reportsOn(name, { status: 'needs-human', summary: 'stuck', humanNeeded: { reason, details: '' } })

export const saysNothing = (name: string, session?: string): Play =>
  attemptEndedOn(name, { kind: 'malformed', reason: 'no report', session })

type Failure = Extract<AttemptEnd, { kind: 'failed' }>

/** The attempt ends without a report. */
export const breaks = (name: string, overrides: Partial<Failure> = {}, at = noon): Play =>
  attemptEndedOn(
    name,
    { kind: 'failed', class: 'crash', reason: 'exit code 1', retryable: true, exitCode: 1, ...overrides },
    at,
  )

export const gateEnds =
  (name: string, exitCode: number, overrides: Partial<Extract<Fact, { type: 'gate-ended' }>> = {}): Play =>
  (progress) => ({
    type: 'gate-ended',
    at: noon,
    iteration: findLive(progress, name).number,
    exitCode,
    output: exitCode === 0 ? 'fine' : 'red',
    ...overrides,
  })

export const waitEndsOn =
  (name: string, at = noon): Play =>
  (progress) => ({ type: 'wait-ended', at, iteration: findLive(progress, name).number })

/** Names of everything in progress. */
export const listInProgress = ({ live }: Progress): string[] =>
  live.map(({ work }) => [work?.phase, work?.step, work?.subPhase].filter((id) => id !== undefined).join('/'))

/** The status of every phase, item and part of an item, by name. */
export const listStatuses = ({ phases = [] }: Progress): Readonly<Record<string, string>> =>
  Object.fromEntries(
    phases.flatMap((phase) => [
      [phase.id, phase.status],
      ...(phase.steps ?? []).flatMap((step) => [
        [`${phase.id}/${step.id}`, step.status],
        ...step.phases.map((part) => [`${phase.id}/${step.id}/${part.id}`, part.status]),
      ]),
    ]),
  )
