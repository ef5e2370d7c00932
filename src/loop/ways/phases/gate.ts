import type { CompiledPhase, WorkRef } from '../../../contract/phases.ts'
import type { LiveIteration, Progress } from '../../../contract/progress.ts'
import type { Fact } from '../../core/fact.ts'
import { runHooks } from '../../iteration/hooks.ts'
import { createIllegalFact, getLiveIteration, replaceLive } from '../../core/live-iteration.ts'
import { andThen, emitEvent, type Transition } from '../../core/order.ts'
import { isStopped } from '../../core/rest.ts'
import { formatWorkRef, updateWork, getWork } from './work.ts'

type GateTracking = NonNullable<CompiledPhase['gateTracking']>

/** How much of a gate's output is kept and reported. */
const keptCharacters = 10_000

/** Runs the gate of the work after the agent and the checks, if there is one. Also runs after a failed repair. */
export function startGateIfDue(progress: Progress, live: LiveIteration, at: number): Transition {
  const { work, verdict } = live
  const judged = verdict === 'completed' || (verdict === 'failed' && work?.gateFix !== undefined)
  if (!work || !judged || !getWork(progress, work).gate) return runHooks(progress, live, at)
  return startGate(progress, live, work)
}

export function startGate(progress: Progress, live: LiveIteration, ref: WorkRef): Transition {
  const running = updateTracking(progress, ref, (before) => ({ ...before, status: 'running' }))
  return {
    progress: replaceLive(running, { ...live, stage: 'gate' }),
    orders: isStopped(progress) ? [] : [{ type: 'run-gate', iteration: live.number }],
  }
}

/** Exit 0 lets the sprint continue. Otherwise the agent repairs the work, as long as the gate may run again. */
export function onGateEnded(progress: Progress, fact: Extract<Fact, { type: 'gate-ended' }>): Transition {
  const before = getLiveIteration(progress, fact.iteration, fact)
  const { work: ref } = before
  if (before.stage !== 'gate' || !ref) throw createIllegalFact(progress, fact, 'no gate is running')
  const { gate, gateTracking } = getWork(progress, ref)
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
  const known = updateTracking(progress, ref, () => tracking)
  return andThen([endedEvent], runHooks(replaceLive(known, live), live, fact.at))
}

const updateTracking = (progress: Progress, ref: WorkRef, change: (tracking: GateTracking) => GateTracking): Progress =>
  updateWork(progress, ref, (work) => ({
    ...work,
    gateTracking: change(work.gateTracking ?? { attempts: 0, status: 'pending' }),
  }))
