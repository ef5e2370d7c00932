import type { CompiledStep, WorkRef } from '../../../contract/phases.ts'
import type { LiveIteration, Progress } from '../../../contract/progress.ts'
import { andThen, emitEvent, type Order, type Transition } from '../../core/order.ts'
import { scheduleRest } from '../../core/rest.ts'
import { findDueItem, getFailureMode } from './next-work.ts'
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
export function closeWork(progress: Progress, live: LiveIteration, at: number): Transition {
  const next = live.work ? applyVerdict(progress, live.work, live, at) : closeSprint(progress, live)
  return { progress: updateCurrent(next.progress), orders: next.orders }
}

function applyVerdict(progress: Progress, ref: WorkRef, live: LiveIteration, at: number): Transition {
  const { verdict, summary, error = { category: 'logic', text: summary ?? 'it failed' } } = live
  if (verdict === 'completed') return completeWork(progress, ref, { at, summary })
  if (verdict === 'needs-human') return returnToPending(progress, ref, at)
  const gate = getWork(progress, ref).gateTracking?.status
  if (verdict === 'refused') return gate === 'blocked' ? failWork(progress, ref, error, at) : { progress, orders: [] }
  const retry = planRetry(progress, ref, error, at)
  return retry ? returnToPending(retry.progress, ref, at) : failWork(progress, ref, error, at)
}

/** Returns the work to pending, unless another part of its item has failed. */
function returnToPending(progress: Progress, ref: WorkRef, at: number): Transition {
  const waiting = updateWork(progress, ref, (work) => ({ ...work, status: 'pending' }))
  return ref.step === undefined ? { progress: waiting, orders: [] } : settleStep(waiting, ref, at)
}

type Completion = { readonly at: number; readonly summary?: string | undefined }

/** Also completes a phase or an item that had nothing to do. */
export function completeWork(progress: Progress, ref: WorkRef, completion: Completion): Transition {
  if (ref.step !== undefined && ref.subPhase === undefined) return completeStep(progress, ref, completion)
  const { at, summary } = completion
  const work = getWork(progress, ref)
  const marked = updateWork(progress, ref, (before) => ({
    ...clearFailure(before),
    status: 'completed',
    completedAt: at,
    ...(summary !== undefined && { summary }),
  }))
  const { stats } = marked
  const counted = { ...marked, stats: { ...stats, completedPhases: (stats.completedPhases ?? 0) + 1 } }
  const paused = work.break === true ? pauseAtBreakpoint(counted, ref) : { progress: counted, orders: [] }
  const orders = [createWorkEnded(ref, 'completed', summary), ...paused.orders]
  return andThen(orders, ref.step === undefined ? paused : settleStep(paused.progress, ref, at))
}

function clearFailure<W extends { readonly error?: unknown }>(work: W) {
  return { ...work, error: undefined, errorCategory: undefined, nextRetryAt: undefined }
}

function pauseAtBreakpoint(progress: Progress, ref: WorkRef): Transition {
  const ending = {
    status: 'paused-at-breakpoint',
    reason: `breakpoint after ${formatWorkRef(ref)}`,
    phase: ref.phase,
  } as const
  return andThen([emitEvent({ type: 'breakpoint-reached', work: ref })], scheduleRest(progress, ending))
}

function completeStep(progress: Progress, ref: WorkRef, { at }: Completion): Transition {
  const marked = updateStep(progress, ref, (step) => ({
    ...clearFailure(step),
    status: 'completed',
    completedAt: at,
    ...pickSummary(step),
  }))
  const { stats } = marked
  const counted = { ...marked, stats: { ...stats, completedSteps: stats.completedSteps + 1 } }
  return andThen([createWorkEnded(ref, 'completed')], settlePhase(unblockDependents(counted, ref), ref, at))
}

/** The last summary of its parts. */
function pickSummary({ phases }: CompiledStep) {
  const summary = phases.findLast((part) => part.summary !== undefined)?.summary
  return summary === undefined ? {} : { summary }
}

/** Shrinks `blocked-by` of the items that wait for this one. */
function unblockDependents(progress: Progress, { phase, step }: WorkRef): Progress {
  if (!progress.dependencyGraph) return progress
  const dependencyGraph = progress.dependencyGraph.map((graph) => {
    if (graph.phaseId !== phase) return graph
    const nodes = graph.nodes.map((node) =>
      node.blockedBy.some((id) => id === step)
        ? { ...node, blockedBy: node.blockedBy.filter((id) => id !== step) }
        : node,
    )
    return { ...graph, nodes }
  })
  return { ...progress, dependencyGraph }
}

/** A failed phase blocks the sprint; a failed part of an item fails the item. */
function failWork(progress: Progress, ref: WorkRef, error: WorkError, at: number): Transition {
  if (ref.step === undefined) return blockPhase(progress, ref, error)
  const failed = updateWork(progress, ref, (work) => ({ ...work, status: 'failed', ...errorFields(error) }))
  return andThen([createWorkEnded(ref, 'failed', error.text)], settleStep(failed, ref, at))
}

const errorFields = ({ category, text }: WorkError) => ({
  error: text,
  errorCategory: category,
  nextRetryAt: undefined,
})

function blockPhase(progress: Progress, { phase }: WorkRef, error: WorkError): Transition {
  const blocked = updatePhase(progress, phase, (before) => ({ ...before, status: 'blocked', ...errorFields(error) }))
  const ending = {
    status: 'blocked',
    reason: `phase ${phase} failed: ${error.text}`,
    phase,
    error: error.text,
  } as const
  return andThen([createWorkEnded({ phase }, 'blocked', error.text)], scheduleRest(blocked, ending))
}

/** An item ends when all its parts have ended, or when one has failed and no other is running. */
function settleStep(progress: Progress, ref: WorkRef, at: number): Transition {
  const item = { phase: ref.phase, step: ref.step }
  const { phases } = getStep(progress, item)
  const bad = phases.find(hasFailed)
  if (!bad) return areAllFinished(phases) ? completeStep(progress, item, { at }) : { progress, orders: [] }
  if (isWorkLive(progress, item)) return { progress, orders: [] }
  const error = { category: bad.errorCategory ?? 'logic', text: bad.error ?? 'it failed' } as const
  const failed = updateStep(progress, item, (step) => ({ ...step, status: 'failed', ...errorFields(error) }))
  const next =
    getFailureMode(failed) === 'skip-dependents' ? skipDependents(failed, item) : { progress: failed, orders: [] }
  return andThen([createWorkEnded(item, 'failed', error.text), ...next.orders], settlePhase(next.progress, item, at))
}

/** Items that depend on a failed one, directly or not, do not start in this run. */
function skipDependents(progress: Progress, ref: WorkRef): Transition {
  const { steps = [], parallel } = getPhase(progress, ref.phase)
  if (parallel !== true) return { progress, orders: [] }
  const dependents = findDependents(steps, ref.step ?? '')
  const skipped = steps.filter(({ id, status }) => dependents.has(id) && status === 'pending')
  const isSkipped = new Set(skipped)
  const why = `depends on ${ref.step}, which failed`
  const marked = updatePhase(progress, ref.phase, (phase) => ({
    ...phase,
    steps: steps.map((step) => (isSkipped.has(step) ? { ...step, status: 'skipped' as const, error: why } : step)),
  }))
  return {
    progress: marked,
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
function settlePhase(progress: Progress, { phase: id }: WorkRef, at: number): Transition {
  const phase = getPhase(progress, id)
  const steps = phase.steps ?? []
  const bad = hasAnyFailed(steps) ? steps.find(hasFailed) : undefined
  if (!bad) {
    if (phase.gate || !areAllFinished(steps)) return { progress, orders: [] }
    return completeWork(progress, { phase: id }, { at })
  }
  if (isWorkLive(progress, { phase: id }) || findDueItem(progress, phase)) return { progress, orders: [] }
  return blockPhase(
    progress,
    { phase: id },
    { category: bad.errorCategory ?? 'logic', text: `${bad.id}: ${bad.error ?? ''}` },
  )
}

/** Ends the sprint after the final checks. */
function closeSprint(progress: Progress, { verdict }: LiveIteration): Transition {
  if (verdict === 'accepted') return scheduleRest(progress, { status: 'completed' })
  const red = (progress.refusedBy ?? []).map(
    ({ name, reason, exitCode }) => `${name}: ${reason ?? `exit code ${exitCode}`}`,
  )
  const error = `all phases are completed, but not accepted: ${red.join('; ')}`
  return scheduleRest(progress, { status: 'blocked', reason: error, error })
}

const createWorkEnded = (work: WorkRef, status: 'completed' | 'failed' | 'blocked' | 'skipped', text?: string): Order =>
  emitEvent({ type: 'work-ended', work, status, ...(text !== undefined && { text }) })
