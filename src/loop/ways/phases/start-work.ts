import type { CompiledPhase, CompiledStep, WorkRef } from '../../../contract/phases.ts'
import type { Progress } from '../../../contract/progress.ts'
import { chooseAgent } from '../../core/agents.ts'
import { startChecks } from '../../iteration/checks.ts'
import { addIteration, openIteration } from '../../iteration/end-iteration.ts'
import { describeReachedLimit } from '../../core/limits.ts'
import { andThen, type Transition } from '../../core/order.ts'
import { scheduleRest, restSprint, restOnRequest } from '../../core/rest.ts'
import { listPhaseAgents } from './agent-choice.ts'
import { startGate } from './gate.ts'
import { findDueWork, getMaxConcurrency, type DueWork } from './next-work.ts'
import { hasFailed, isFinished } from './units.ts'
import { completeWork } from './work-ended.ts'
import { updateCurrent, updatePhase, updateStep, updateWork, getWork } from './work.ts'

/** Runs after every fact: a sprint that is about to rest does so once nothing runs; otherwise everything that may start starts. */
export function proceed(progress: Progress, at: number): Transition {
  const { status, humanNeeded } = progress
  if (status !== 'in-progress' && status !== 'parked') return { progress, orders: [] }
  const asked = humanNeeded && scheduleRest(progress, { status: 'needs-human', reason: humanNeeded.reason })
  const known = asked?.progress ?? progress
  if (known.ending || known.stopRequested) return restWhenIdle(known, at)
  if (status === 'parked' || isBaselineDue(known) || isMakingCheckpoint(known)) return { progress: known, orders: [] }
  const next = startAllDue(known, at)
  return next.progress.ending ? andThen(next.orders, restWhenIdle(next.progress, at)) : next
}

/** The checks must run once before any change. */
export const isBaselineDue = ({ doneWhen = [], baseline, stats, live }: Progress): boolean =>
  live.length === 0 && doneWhen.length > 0 && !baseline && stats.currentIteration === 0

/** A checkpoint is being made, so files must not change. */
const isMakingCheckpoint = ({ live }: Progress): boolean => live.some(({ stage }) => stage === 'checkpoint')

/** Iterations that wait for their next attempt stay as they are; after a turn, so do gates, checks and hooks. */
function restWhenIdle(progress: Progress, at: number): Transition {
  const { ending, stopRequested, live } = progress
  const afterTurn = stopRequested?.when === 'turn'
  if (isBaselineDue(progress)) return { progress, orders: [] }
  if (live.some(({ stage }) => (afterTurn ? stage === 'agent' : stage !== 'waiting'))) return { progress, orders: [] }
  const waits = live.some(({ stage }) => stage === 'waiting') ? [{ type: 'abort', what: 'waits' } as const] : []
  if (ending && live.every(({ stage }) => stage === 'waiting'))
    return andThen(waits, restAsPlanned(progress, ending, at))
  return stopRequested ? andThen(waits, restOnRequest(progress, stopRequested.as)) : { progress, orders: [] }
}

function restAsPlanned(progress: Progress, ending: NonNullable<Progress['ending']>, at: number): Transition {
  const { ending: _ending, ...kept } = progress
  const { status, reason, phase, error } = ending
  const ended: Progress = {
    ...kept,
    ...(status === 'blocked' && { blockedAt: at, ...(phase !== undefined && { failedPhase: phase }), error }),
    ...(status === 'paused-at-breakpoint' && { breakpointPhaseId: phase }),
    ...(status === 'completed' && { stats: { ...kept.stats, completedAt: at } }),
  }
  return restSprint(ended, status, reason)
}

function startAllDue(progress: Progress, at: number): Transition {
  let transition: Transition = { progress, orders: [] }
  while (!transition.progress.ending && transition.progress.live.length < getMaxConcurrency(transition.progress)) {
    const due = findDueWork(transition.progress)
    if (!due) break
    transition = andThen(transition.orders, startWork(transition.progress, due, at))
  }
  if (transition.progress.ending || transition.progress.live.length > 0) return transition
  return andThen(transition.orders, finishSprint(transition.progress, at))
}

function startWork(progress: Progress, { ref, what }: DueWork, at: number): Transition {
  if (what === 'nothing') return completeWork(progress, ref, { at })
  if (what === 'gate') {
    const fields = { mode: 'executing', step: getWorkId(ref), work: ref, stage: 'gate', attempt: 0 } as const
    const added = addIteration(markInProgress(progress, ref, at), fields, at)
    return startGate(added.progress, added.live, ref)
  }
  const limit = describeReachedLimit(progress)
  if (limit) return scheduleRest(progress, { status: 'limit-reached', reason: limit })
  const { nextRetryAt = at, gate, error = '', ...work } = getWork(progress, ref)
  const prompt = ref.gateFix === undefined ? work.prompt : gate?.onFailPrompt
  const { agent } = chooseAgent(progress, at, listPhaseAgents(progress, ref))
  const opening = {
    mode: 'executing',
    step: getWorkId(ref),
    work: ref,
    ...(prompt !== undefined && { stepPrompt: prompt }),
    ...(agent !== undefined && { agent }),
    ...(nextRetryAt > at && { wait: { until: nextRetryAt, reason: error } }),
  } as const
  return openIteration(markInProgress(progress, ref, at), opening, at)
}

/** The value of `$PHASE_ID` in hooks. */
const getWorkId = ({ phase, step }: WorkRef): string => step ?? phase

/** Marks the work as in progress, together with its item and phase. */
function markInProgress(progress: Progress, ref: WorkRef, at: number): Progress {
  const atWork = <U extends CompiledPhase | CompiledStep>(unit: U): U => ({
    ...unit,
    status: 'in-progress',
    startedAt: unit.startedAt ?? at,
  })
  const withinPhase = updatePhase(progress, ref.phase, atWork)
  const withinStep = ref.step === undefined ? withinPhase : updateStep(withinPhase, ref, atWork)
  return updateCurrent(
    updateWork(withinStep, ref, (work) => ({
      ...work,
      status: 'in-progress',
      startedAt: work.startedAt ?? at,
    })),
  )
}

/** Nothing runs and nothing can start: either all phases are completed, or something blocks them. */
function finishSprint(progress: Progress, at: number): Transition {
  const { phases = [], doneWhen = [], review } = progress
  const open = phases.find((phase) => hasFailed(phase)) ?? phases.find((phase) => !isFinished(phase))
  if (open) {
    const { id: phase, error = 'nothing of it can begin' } = open
    return scheduleRest(progress, { status: 'blocked', reason: `phase ${phase} failed: ${error}`, phase, error })
  }
  if (doneWhen.length === 0 && !review) return scheduleRest(progress, { status: 'completed' })
  const { refusedBy: _before, ...kept } = progress
  const summary = 'all phases are completed'
  const fields = { mode: 'executing', stage: 'checks', attempt: 0, summary, goalCompleteSummary: summary } as const
  const added = addIteration(kept, fields, at)
  return startChecks(added.progress, added.live, at)
}
