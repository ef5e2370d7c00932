import { RalphError } from '../../../contract/errors.ts'
import type { CompiledPhase, WorkRef } from '../../../contract/phases.ts'
import type { LiveIteration } from '../../../contract/progress.ts'
import type { Fact } from '../../core/fact.ts'
import { emitEvent, type Decision } from '../../core/order.ts'
import { moveToStage } from '../../core/request-checks.ts'
import type { Sprint } from '../../core/sprint.ts'
import type { Gate, IterationChange } from '../../core/way.ts'
import { formatWorkRef, updateWork, getWork } from './work.ts'

type GateTracking = NonNullable<CompiledPhase['gateTracking']>

/** How much of a gate's output is kept and reported. */
const keptCharacters = 10_000

export function findGate(sprint: Sprint, ref: WorkRef): Gate | undefined {
  const { gate, gateTracking } = getWork(sprint, ref)
  return gate && { script: gate.script, timeoutMs: gate.timeout, attempts: gateTracking?.attempts ?? 0 }
}

/** The gate is due after completed work; also after a failed repair. */
export function startGateIfDue(sprint: Sprint, live: LiveIteration): Decision | undefined {
  const { work, verdict } = live
  const judged = verdict === 'completed' || (verdict === 'failed' && work?.gateFix !== undefined)
  if (!work || !judged || !getWork(sprint, work).gate) return undefined
  return startGate(sprint, live, work)
}

export function startGate(sprint: Sprint, live: LiveIteration, ref: WorkRef): Decision {
  const running = updateTracking(sprint, ref, (before) => ({ ...before, status: 'running' }))
  return moveToStage(running, { ...live, stage: 'gate' }, { type: 'run-gate', iteration: live.number })
}

/** Exit 0 lets the sprint continue. Otherwise the agent repairs the work, as long as the gate may run again. */
export function applyGateResult(
  sprint: Sprint,
  before: LiveIteration,
  fact: Extract<Fact, { type: 'gate-ended' }>,
): IterationChange {
  const { work: ref } = before
  if (!ref) throw new RalphError('INTERNAL', `iteration ${before.number} has no gate`)
  const { gate, gateTracking } = getWork(sprint, ref)
  const attempts = (gateTracking?.attempts ?? 0) + 1
  const of = gate?.maxRetries ?? 1
  const passed = fact.exitCode === 0 && fact.error === undefined
  const output = fact.output.slice(-keptCharacters)
  const why = fact.error ?? `exit code ${fact.exitCode}`
  const tracking: GateTracking = {
    attempts,
    status: passed ? 'passed' : attempts < of ? 'retrying' : 'blocked',
    lastOutput: output,
    lastExitCode: fact.exitCode,
    ...(fact.error !== undefined && { error: fact.error }),
  }
  const text = `the gate of ${formatWorkRef(ref)} failed (${why}), ${attempts} of ${of} times`
  const live: LiveIteration = passed
    ? { ...before, verdict: 'completed' }
    : { ...before, verdict: 'refused', error: { category: 'validation', text } }
  const { exitCode, error } = fact
  const endedEvent = emitEvent({
    type: 'gate-ended',
    iteration: live.number,
    work: ref,
    passed,
    attempts,
    of,
    exitCode,
    error,
    output,
  })
  return { sprint: updateTracking(sprint, ref, () => tracking), live, orders: [endedEvent] }
}

const updateTracking = (sprint: Sprint, ref: WorkRef, change: (tracking: GateTracking) => GateTracking): Sprint =>
  updateWork(sprint, ref, (work) => ({
    ...work,
    gateTracking: change(work.gateTracking ?? { attempts: 0, status: 'pending' }),
  }))
