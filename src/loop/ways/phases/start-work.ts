import type { CompiledPhase, CompiledStep, WorkRef } from '../../../contract/phases.ts'
import { chooseAgent } from '../../core/agents.ts'
import { addIteration, openIteration } from '../../core/open-iteration.ts'
import { describeReachedLimit } from '../../core/limits.ts'
import { andThen, type Decision } from '../../core/order.ts'
import { isBaselineDue, requestChecks, requestReview } from '../../core/request-checks.ts'
import { isEnding, scheduleRest, restSprint, restOnRequest } from '../../core/rest.ts'
import { setInbox, setRun, setStats, type RunState, type Sprint } from '../../core/sprint.ts'
import { listPhaseAgents } from './agent-choice.ts'
import { startGate } from './gate.ts'
import { findDueWork, getMaxConcurrency, type DueWork } from './next-work.ts'
import { listPhases, setPhasesState } from './phases-state.ts'
import { hasFailed, isFinished } from './units.ts'
import { completeWork } from './work-ended.ts'
import { updateCurrent, updatePhase, updateStep, updateWork, getWork } from './work.ts'

/** Runs after every fact: a sprint that is about to rest does so once nothing runs; otherwise everything that may start starts. */
export function proceed(sprint: Sprint, at: number): Decision {
  const { status, question } = sprint
  if (status !== 'in-progress' && status !== 'parked') return { sprint, orders: [] }
  const resting = question && scheduleRest(sprint, { status: 'needs-human', reason: question.reason })
  const known = resting?.sprint ?? sprint
  if (isEnding(known)) return restWhenIdle(known, at)
  if (status === 'parked' || isBaselineDue(known) || isMakingCheckpoint(known)) return { sprint: known, orders: [] }
  const next = startAllDue(known, at)
  return next.sprint.run?.ending ? andThen(next.orders, restWhenIdle(next.sprint, at)) : next
}

/** A checkpoint is being made, so files must not change. */
const isMakingCheckpoint = ({ live }: Sprint): boolean => live.some(({ stage }) => stage === 'checkpoint')

/** Iterations that wait for their next attempt stay as they are; after a turn, so do gates, checks and hooks. */
function restWhenIdle(sprint: Sprint, at: number): Decision {
  const { live } = sprint
  const { ending, stopRequested } = sprint.run ?? {}
  const afterTurn = stopRequested?.when === 'turn'
  if (isBaselineDue(sprint)) return { sprint, orders: [] }
  if (live.some(({ stage }) => (afterTurn ? stage === 'agent' : stage !== 'waiting'))) return { sprint, orders: [] }
  const waits = live.some(({ stage }) => stage === 'waiting') ? [{ type: 'abort', what: 'waits' } as const] : []
  if (ending && live.every(({ stage }) => stage === 'waiting')) return andThen(waits, restAsPlanned(sprint, ending, at))
  return stopRequested ? andThen(waits, restOnRequest(sprint, stopRequested.as)) : { sprint, orders: [] }
}

function restAsPlanned(before: Sprint, ending: NonNullable<RunState['ending']>, at: number): Decision {
  const sprint = setRun(before, { ending: undefined })
  const { status, reason, phase, error } = ending
  if (status === 'blocked') {
    const failed = { blockedAt: at, ...(phase !== undefined && { failedPhase: phase }), error }
    return restSprint(setPhasesState(sprint, failed), status, reason)
  }
  if (status === 'paused-at-breakpoint')
    return restSprint(setPhasesState(sprint, { breakpointPhaseId: phase }), status, reason)
  if (status === 'completed') return restSprint(setStats(sprint, { completedAt: at }), status, reason)
  return restSprint(sprint, status, reason)
}

function startAllDue(sprint: Sprint, at: number): Decision {
  let decision: Decision = { sprint, orders: [] }
  while (!decision.sprint.run?.ending && decision.sprint.live.length < getMaxConcurrency(decision.sprint)) {
    const due = findDueWork(decision.sprint)
    if (!due) break
    decision = andThen(decision.orders, startWork(decision.sprint, due, at))
  }
  if (decision.sprint.run?.ending || decision.sprint.live.length > 0) return decision
  return andThen(decision.orders, finishSprint(decision.sprint, at))
}

function startWork(sprint: Sprint, { ref, what }: DueWork, at: number): Decision {
  if (what === 'nothing') return completeWork(sprint, ref, { at })
  if (what === 'gate') {
    const fields = { mode: 'executing', step: getWorkId(ref), work: ref, stage: 'gate', attempt: 0 } as const
    const added = addIteration(markInProgress(sprint, ref, at), fields, at)
    return startGate(added.sprint, added.live, ref)
  }
  const limit = describeReachedLimit(sprint)
  if (limit) return scheduleRest(sprint, { status: 'limit-reached', reason: limit })
  const { nextRetryAt = at, gate, error = '', ...work } = getWork(sprint, ref)
  const prompt = ref.gateFix === undefined ? work.prompt : gate?.onFailPrompt
  const { agent } = chooseAgent(sprint, at, listPhaseAgents(sprint, ref))
  const opening = {
    mode: 'executing',
    step: getWorkId(ref),
    work: ref,
    ...(prompt !== undefined && { stepPrompt: prompt }),
    ...(agent !== undefined && { agent }),
    ...(nextRetryAt > at && { wait: { until: nextRetryAt, reason: error } }),
  } as const
  return openIteration(markInProgress(sprint, ref, at), opening, at)
}

/** The value of `$PHASE_ID` in hooks. */
const getWorkId = ({ phase, step }: WorkRef): string => step ?? phase

/** Marks the work as in sprint, together with its item and phase. */
function markInProgress(sprint: Sprint, ref: WorkRef, at: number): Sprint {
  const atWork = <U extends CompiledPhase | CompiledStep>(unit: U): U => ({
    ...unit,
    status: 'in-progress',
    startedAt: unit.startedAt ?? at,
  })
  const withinPhase = updatePhase(sprint, ref.phase, atWork)
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
function finishSprint(sprint: Sprint, at: number): Decision {
  const phases = listPhases(sprint)
  const open = phases.find((phase) => hasFailed(phase)) ?? phases.find((phase) => !isFinished(phase))
  if (open) {
    const { id: phase, error = 'nothing of it can begin' } = open
    return scheduleRest(sprint, { status: 'blocked', reason: `phase ${phase} failed: ${error}`, phase, error })
  }
  const fresh = setInbox(sprint, { refusedBy: undefined })
  const summary = 'all phases are completed'
  const fields = { mode: 'executing', stage: 'checks', attempt: 0, summary, goalCompleteSummary: summary } as const
  const added = addIteration(fresh, fields, at)
  const final = requestChecks(added.sprint, added.live) ?? requestReview(added.sprint, added.live)
  return final ?? scheduleRest(sprint, { status: 'completed' })
}
