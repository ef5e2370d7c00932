import type { CompiledPhase, WorkRef } from '../../contract/phases.ts'
import type { LiveIteration, Progress } from '../../contract/progress.ts'
import type { Fact } from '../fact.ts'
import { runHooks } from '../hooks.ts'
import { illegal, liveIteration, withLive } from '../live.ts'
import { andThen, tell, type Transition } from '../order.ts'
import { isStopped } from '../rest.ts'
import { nameOf, withWork, workAt } from './work.ts'

type Tracking = NonNullable<CompiledPhase['gateTracking']>

/** How much of a gate's output is kept and reported. */
const keptCharacters = 10_000

/** Runs the gate of the work after the agent and the checks, if there is one. Also runs after a failed repair. */
export function thenGate(progress: Progress, live: LiveIteration, at: number): Transition {
  const { work, verdict } = live
  const judged = verdict === 'completed' || (verdict === 'failed' && work?.gateFix !== undefined)
  if (!work || !judged || !workAt(progress, work).gate) return runHooks(progress, live, at)
  return startGate(progress, live, work)
}

export function startGate(progress: Progress, live: LiveIteration, ref: WorkRef): Transition {
  const running = withTracking(progress, ref, (before) => ({ ...before, status: 'running' }))
  return {
    progress: withLive(running, { ...live, stage: 'gate' }),
    orders: isStopped(progress) ? [] : [{ type: 'run-gate', iteration: live.number }],
  }
}

/** Exit 0 lets the sprint continue. Otherwise the agent repairs the work, as long as the gate may run again. */
export function onGateEnded(progress: Progress, fact: Extract<Fact, { type: 'gate-ended' }>): Transition {
  const before = liveIteration(progress, fact.iteration, fact)
  const { work: ref } = before
  if (before.stage !== 'gate' || !ref) throw illegal(progress, fact, 'no gate is running')
  const { gate, gateTracking } = workAt(progress, ref)
  const attempts = (gateTracking?.attempts ?? 0) + 1
  const of = gate?.maxRetries ?? 1
  const passed = fact.exitCode === 0 && fact.error === undefined
  const output = fact.output.slice(-keptCharacters)
  const why = fact.error ?? `exit code ${fact.exitCode}`
  const tracking: Tracking = {
    attempts,
    status: passed ? 'passed' : attempts < of ? 'retrying' : 'blocked',
    lastOutput: output,
    lastExitCode: fact.exitCode,
    ...(fact.error !== undefined && { error: fact.error }),
  }
  const text = `the gate of ${nameOf(ref)} failed (${why}), ${attempts} of ${of} times`
  const live: LiveIteration = passed
    ? { ...before, verdict: 'completed' }
    : { ...before, verdict: 'refused', error: { category: 'validation', text } }
  const { exitCode, error } = fact
  const told = tell({
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
  const known = withTracking(progress, ref, () => tracking)
  return andThen([told], runHooks(withLive(known, live), live, fact.at))
}

const withTracking = (progress: Progress, ref: WorkRef, change: (tracking: Tracking) => Tracking): Progress =>
  withWork(progress, ref, (work) => ({
    ...work,
    gateTracking: change(work.gateTracking ?? { attempts: 0, status: 'pending' }),
  }))
