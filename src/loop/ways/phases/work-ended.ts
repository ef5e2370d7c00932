import type { CompiledStep, WorkRef } from '../../../contract/phases.ts'
import type { LiveIteration } from '../../../contract/progress.ts'
import { andThen, emitEvent, type Order, type Decision } from '../../core/order.ts'
import { scheduleRest } from '../../core/rest.ts'
import { setStats, type Sprint } from '../../core/sprint.ts'
import { findDueItem, getFailureMode } from './next-work.ts'
import { getPhasesState, setPhasesState } from './phases-state.ts'
import { planRetry, type WorkError } from './retry.ts'
import { areAllFinished, hasFailed, hasAnyFailed } from './units.ts'
import {
  isWorkLive,
  formatWorkRef,
  getPhase,
  getStep,
  updateCurrent,
  updatePhase,
  updateStep,
  updateWork,
  getWork,
} from './work.ts'

/** Applies the end of an iteration to its work, its item, its phase and the sprint. */
export function closeWork(sprint: Sprint, live: LiveIteration, at: number): Decision {
  const next = live.work ? applyVerdict(sprint, live.work, live, at) : closeSprint(sprint, live)
  return { sprint: updateCurrent(next.sprint), orders: next.orders }
}

function applyVerdict(sprint: Sprint, ref: WorkRef, live: LiveIteration, at: number): Decision {
  const { verdict, summary, error = { category: 'logic', text: summary ?? 'it failed' } } = live
  if (verdict === 'completed') return completeWork(sprint, ref, { at, summary })
  if (verdict === 'needs-human') return returnToPending(sprint, ref, at)
  const gate = getWork(sprint, ref).gateTracking?.status
  if (verdict === 'refused') return gate === 'blocked' ? failWork(sprint, ref, error, at) : { sprint, orders: [] }
  const retry = planRetry(sprint, ref, error, at)
  return retry ? returnToPending(retry.sprint, ref, at) : failWork(sprint, ref, error, at)
}

/** Returns the work to pending, unless another part of its item has failed. */
function returnToPending(sprint: Sprint, ref: WorkRef, at: number): Decision {
  const waiting = updateWork(sprint, ref, (work) => ({ ...work, status: 'pending' }))
  return ref.step === undefined ? { sprint: waiting, orders: [] } : settleStep(waiting, ref, at)
}

type Completion = { readonly at: number; readonly summary?: string | undefined }

/** Also completes a phase or an item that had nothing to do. */
export function completeWork(sprint: Sprint, ref: WorkRef, completion: Completion): Decision {
  if (ref.step !== undefined && ref.subPhase === undefined) return completeStep(sprint, ref, completion)
  const { at, summary } = completion
  const work = getWork(sprint, ref)
  const marked = updateWork(sprint, ref, (before) => ({
    ...clearFailure(before),
    status: 'completed',
    completedAt: at,
    ...(summary !== undefined && { summary }),
  }))
  const { stats } = marked
  const counted = setStats(marked, { completedPhases: (stats.completedPhases ?? 0) + 1 })
  const paused = work.break === true ? pauseAtBreakpoint(counted, ref) : { sprint: counted, orders: [] }
  const orders = [createWorkEnded(ref, 'completed', summary), ...paused.orders]
  return andThen(orders, ref.step === undefined ? paused : settleStep(paused.sprint, ref, at))
}

function clearFailure<W extends { readonly error?: unknown }>(work: W) {
  return { ...work, error: undefined, errorCategory: undefined, nextRetryAt: undefined }
}

function pauseAtBreakpoint(sprint: Sprint, ref: WorkRef): Decision {
  const ending = {
    status: 'paused-at-breakpoint',
    reason: `breakpoint after ${formatWorkRef(ref)}`,
    phase: ref.phase,
  } as const
  return andThen([emitEvent({ type: 'breakpoint-reached', work: ref })], scheduleRest(sprint, ending))
}

function completeStep(sprint: Sprint, ref: WorkRef, { at }: Completion): Decision {
  const marked = updateStep(sprint, ref, (step) => ({
    ...clearFailure(step),
    status: 'completed',
    completedAt: at,
    ...pickSummary(step),
  }))
  const { stats } = marked
  const counted = setStats(marked, { completedSteps: stats.completedSteps + 1 })
  return andThen([createWorkEnded(ref, 'completed')], settlePhase(unblockDependents(counted, ref), ref, at))
}

/** The last summary of its parts. */
function pickSummary({ phases }: CompiledStep) {
  const summary = phases.findLast((part) => part.summary !== undefined)?.summary
  return summary === undefined ? {} : { summary }
}

/** Shrinks `blocked-by` of the items that wait for this one. */
function unblockDependents(sprint: Sprint, { phase, step }: WorkRef): Sprint {
  const { dependencyGraph: graphs } = getPhasesState(sprint)
  if (!graphs) return sprint
  const dependencyGraph = graphs.map((graph) => {
    if (graph.phaseId !== phase) return graph
    const nodes = graph.nodes.map((node) =>
      node.blockedBy.some((id) => id === step)
        ? { ...node, blockedBy: node.blockedBy.filter((id) => id !== step) }
        : node,
    )
    return { ...graph, nodes }
  })
  return setPhasesState(sprint, { dependencyGraph })
}

/** A failed phase blocks the sprint; a failed part of an item fails the item. */
function failWork(sprint: Sprint, ref: WorkRef, error: WorkError, at: number): Decision {
  if (ref.step === undefined) return blockPhase(sprint, ref, error)
  const failed = updateWork(sprint, ref, (work) => ({ ...work, status: 'failed', ...errorFields(error) }))
  return andThen([createWorkEnded(ref, 'failed', error.text)], settleStep(failed, ref, at))
}

const errorFields = ({ category, text }: WorkError) => ({
  error: text,
  errorCategory: category,
  nextRetryAt: undefined,
})

function blockPhase(sprint: Sprint, { phase }: WorkRef, error: WorkError): Decision {
  const blocked = updatePhase(sprint, phase, (before) => ({ ...before, status: 'blocked', ...errorFields(error) }))
  const ending = {
    status: 'blocked',
    reason: `phase ${phase} failed: ${error.text}`,
    phase,
    error: error.text,
  } as const
  return andThen([createWorkEnded({ phase }, 'blocked', error.text)], scheduleRest(blocked, ending))
}

/** An item ends when all its parts have ended, or when one has failed and no other is running. */
function settleStep(sprint: Sprint, ref: WorkRef, at: number): Decision {
  const item = { phase: ref.phase, step: ref.step }
  const { phases } = getStep(sprint, item)
  const bad = phases.find(hasFailed)
  if (!bad) return areAllFinished(phases) ? completeStep(sprint, item, { at }) : { sprint, orders: [] }
  if (isWorkLive(sprint, item)) return { sprint, orders: [] }
  const error = { category: bad.errorCategory ?? 'logic', text: bad.error ?? 'it failed' } as const
  const failed = updateStep(sprint, item, (step) => ({ ...step, status: 'failed', ...errorFields(error) }))
  const next =
    getFailureMode(failed) === 'skip-dependents' ? skipDependents(failed, item) : { sprint: failed, orders: [] }
  return andThen([createWorkEnded(item, 'failed', error.text), ...next.orders], settlePhase(next.sprint, item, at))
}

/** Items that depend on a failed one, directly or not, do not start in this run. */
function skipDependents(sprint: Sprint, ref: WorkRef): Decision {
  const { steps = [], parallel } = getPhase(sprint, ref.phase)
  if (parallel !== true) return { sprint, orders: [] }
  const dependents = findDependents(steps, ref.step ?? '')
  const skipped = steps.filter(({ id, status }) => dependents.has(id) && status === 'pending')
  const isSkipped = new Set(skipped)
  const why = `depends on ${ref.step}, which failed`
  const marked = updatePhase(sprint, ref.phase, (phase) => ({
    ...phase,
    steps: steps.map((step) => (isSkipped.has(step) ? { ...step, status: 'skipped' as const, error: why } : step)),
  }))
  return {
    sprint: marked,
    orders: skipped.map(({ id }) => createWorkEnded({ phase: ref.phase, step: id }, 'skipped', why)),
  }
}

function findDependents(steps: readonly CompiledStep[], first: string): ReadonlySet<string> {
  const waiting = new Map<string, string[]>()
  for (const { id, dependsOn = [] } of steps)
    for (const on of dependsOn) waiting.set(on, [...(waiting.get(on) ?? []), id])
  const found = new Set(waiting.get(first))
  for (const id of found) for (const next of waiting.get(id) ?? []) found.add(next)
  return found
}

/** A phase ends when all its items have ended and it has no gate, or when one has failed and no other can continue. */
function settlePhase(sprint: Sprint, { phase: id }: WorkRef, at: number): Decision {
  const phase = getPhase(sprint, id)
  const steps = phase.steps ?? []
  const bad = hasAnyFailed(steps) ? steps.find(hasFailed) : undefined
  if (!bad) {
    if (phase.gate || !areAllFinished(steps)) return { sprint, orders: [] }
    return completeWork(sprint, { phase: id }, { at })
  }
  if (isWorkLive(sprint, { phase: id }) || findDueItem(sprint, phase)) return { sprint, orders: [] }
  return blockPhase(
    sprint,
    { phase: id },
    { category: bad.errorCategory ?? 'logic', text: `${bad.id}: ${bad.error ?? ''}` },
  )
}

/** Ends the sprint after the final checks. */
function closeSprint(sprint: Sprint, { verdict }: LiveIteration): Decision {
  if (verdict === 'accepted') return scheduleRest(sprint, { status: 'completed' })
  const red = (sprint.inbox.refusedBy ?? []).map(
    ({ name, reason, exitCode }) => `${name}: ${reason ?? `exit code ${exitCode}`}`,
  )
  const error = `all phases are completed, but not accepted: ${red.join('; ')}`
  return scheduleRest(sprint, { status: 'blocked', reason: error, error })
}

const createWorkEnded = (work: WorkRef, status: 'completed' | 'failed' | 'blocked' | 'skipped', text?: string): Order =>
  emitEvent({ type: 'work-ended', work, status, ...(text !== undefined && { text }) })
