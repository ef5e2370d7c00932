import type { CompiledStep, WorkRef } from '../../contract/phases.ts'
import type { LiveIteration, Progress } from '../../contract/progress.ts'
import { andThen, tell, type Order, type Transition } from '../order.ts'
import { comeToRest } from '../rest.ts'
import { dueItem, onFailure } from './next-work.ts'
import { planRetry, type WorkError } from './retry.ts'
import { areOver, hasFailed, someFailed } from './units.ts'
import { isLive, nameOf, phaseAt, stepAt, withCurrent, withPhase, withStep, withWork, workAt } from './work.ts'

/** Applies the end of an iteration to its work, its item, its phase and the sprint. */
export function closeWork(progress: Progress, live: LiveIteration, at: number): Transition {
  const next = live.work ? outcomeOf(progress, live.work, live, at) : closeSprint(progress, live)
  return { progress: withCurrent(next.progress), orders: next.orders }
}

function outcomeOf(progress: Progress, ref: WorkRef, live: LiveIteration, at: number): Transition {
  const { verdict, summary, error = { category: 'logic', text: summary ?? 'it failed' } } = live
  if (verdict === 'completed') return completeWork(progress, ref, { at, summary })
  if (verdict === 'needs-human') return putBack(progress, ref, at)
  const gate = workAt(progress, ref).gateTracking?.status
  if (verdict === 'refused') return gate === 'blocked' ? fail(progress, ref, error, at) : { progress, orders: [] }
  const retry = planRetry(progress, ref, error, at)
  return retry ? putBack(retry.progress, ref, at) : fail(progress, ref, error, at)
}

/** Returns the work to pending, unless another part of its item has failed. */
function putBack(progress: Progress, ref: WorkRef, at: number): Transition {
  const waiting = withWork(progress, ref, (work) => ({ ...work, status: 'pending' }))
  return ref.step === undefined ? { progress: waiting, orders: [] } : settleStep(waiting, ref, at)
}

type Completion = { readonly at: number; readonly summary?: string | undefined }

/** Also completes a phase or an item that had nothing to do. */
export function completeWork(progress: Progress, ref: WorkRef, completion: Completion): Transition {
  if (ref.step !== undefined && ref.subPhase === undefined) return completeStep(progress, ref, completion)
  const { at, summary } = completion
  const work = workAt(progress, ref)
  const marked = withWork(progress, ref, (before) => ({
    ...withoutFailure(before),
    status: 'completed',
    completedAt: at,
    ...(summary !== undefined && { summary }),
  }))
  const { stats } = marked
  const counted = { ...marked, stats: { ...stats, completedPhases: (stats.completedPhases ?? 0) + 1 } }
  const paused = work.break === true ? breakpoint(counted, ref) : { progress: counted, orders: [] }
  const orders = [ended(ref, 'completed', summary), ...paused.orders]
  return andThen(orders, ref.step === undefined ? paused : settleStep(paused.progress, ref, at))
}

function withoutFailure<W extends { readonly error?: unknown }>(work: W) {
  return { ...work, error: undefined, errorCategory: undefined, nextRetryAt: undefined }
}

function breakpoint(progress: Progress, ref: WorkRef): Transition {
  const ending = {
    status: 'paused-at-breakpoint',
    reason: `breakpoint after ${nameOf(ref)}`,
    phase: ref.phase,
  } as const
  return andThen([tell({ type: 'breakpoint-reached', work: ref })], comeToRest(progress, ending))
}

function completeStep(progress: Progress, ref: WorkRef, { at }: Completion): Transition {
  const marked = withStep(progress, ref, (step) => ({
    ...withoutFailure(step),
    status: 'completed',
    completedAt: at,
    ...summaryOf(step),
  }))
  const { stats } = marked
  const counted = { ...marked, stats: { ...stats, completedSteps: stats.completedSteps + 1 } }
  return andThen([ended(ref, 'completed')], settlePhase(unblocked(counted, ref), ref, at))
}

/** The last summary of its parts. */
function summaryOf({ phases }: CompiledStep) {
  const summary = phases.findLast((part) => part.summary !== undefined)?.summary
  return summary === undefined ? {} : { summary }
}

/** Shrinks `blocked-by` of the items that wait for this one. */
function unblocked(progress: Progress, { phase, step }: WorkRef): Progress {
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
function fail(progress: Progress, ref: WorkRef, error: WorkError, at: number): Transition {
  if (ref.step === undefined) return block(progress, ref, error)
  const failed = withWork(progress, ref, (work) => ({ ...work, status: 'failed', ...errorFields(error) }))
  return andThen([ended(ref, 'failed', error.text)], settleStep(failed, ref, at))
}

const errorFields = ({ category, text }: WorkError) => ({
  error: text,
  errorCategory: category,
  nextRetryAt: undefined,
})

function block(progress: Progress, { phase }: WorkRef, error: WorkError): Transition {
  const blocked = withPhase(progress, phase, (before) => ({ ...before, status: 'blocked', ...errorFields(error) }))
  const ending = {
    status: 'blocked',
    reason: `phase ${phase} failed: ${error.text}`,
    phase,
    error: error.text,
  } as const
  return andThen([ended({ phase }, 'blocked', error.text)], comeToRest(blocked, ending))
}

/** An item ends when all its parts have ended, or when one has failed and no other is running. */
function settleStep(progress: Progress, ref: WorkRef, at: number): Transition {
  const item = { phase: ref.phase, step: ref.step }
  const { phases } = stepAt(progress, item)
  const bad = phases.find(hasFailed)
  if (!bad) return areOver(phases) ? completeStep(progress, item, { at }) : { progress, orders: [] }
  if (isLive(progress, item)) return { progress, orders: [] }
  const error = { category: bad.errorCategory ?? 'logic', text: bad.error ?? 'it failed' } as const
  const failed = withStep(progress, item, (step) => ({ ...step, status: 'failed', ...errorFields(error) }))
  const next = onFailure(failed) === 'skip-dependents' ? skipDependents(failed, item) : { progress: failed, orders: [] }
  return andThen([ended(item, 'failed', error.text), ...next.orders], settlePhase(next.progress, item, at))
}

/** Items that depend on a failed one, directly or not, do not start in this run. */
function skipDependents(progress: Progress, ref: WorkRef): Transition {
  const { steps = [], parallel } = phaseAt(progress, ref.phase)
  if (parallel !== true) return { progress, orders: [] }
  const dependents = dependentsOf(steps, ref.step ?? '')
  const skipped = steps.filter(({ id, status }) => dependents.has(id) && status === 'pending')
  const isSkipped = new Set(skipped)
  const why = `depends on ${ref.step}, which failed`
  const marked = withPhase(progress, ref.phase, (phase) => ({
    ...phase,
    steps: steps.map((step) => (isSkipped.has(step) ? { ...step, status: 'skipped' as const, error: why } : step)),
  }))
  return { progress: marked, orders: skipped.map(({ id }) => ended({ phase: ref.phase, step: id }, 'skipped', why)) }
}

function dependentsOf(steps: readonly CompiledStep[], first: string): ReadonlySet<string> {
  const waiting = new Map<string, string[]>()
  for (const { id, dependsOn = [] } of steps)
    for (const on of dependsOn) waiting.set(on, [...(waiting.get(on) ?? []), id])
  const found = new Set(waiting.get(first))
  for (const id of found) for (const next of waiting.get(id) ?? []) found.add(next)
  return found
}

/** A phase ends when all its items have ended and it has no gate, or when one has failed and no other can continue. */
function settlePhase(progress: Progress, { phase: id }: WorkRef, at: number): Transition {
  const phase = phaseAt(progress, id)
  const steps = phase.steps ?? []
  const bad = someFailed(steps) ? steps.find(hasFailed) : undefined
  if (!bad) {
    if (phase.gate || !areOver(steps)) return { progress, orders: [] }
    return completeWork(progress, { phase: id }, { at })
  }
  if (isLive(progress, { phase: id }) || dueItem(progress, phase)) return { progress, orders: [] }
  return block(
    progress,
    { phase: id },
    { category: bad.errorCategory ?? 'logic', text: `${bad.id}: ${bad.error ?? ''}` },
  )
}

/** Ends the sprint after the final checks. */
function closeSprint(progress: Progress, { verdict }: LiveIteration): Transition {
  if (verdict === 'accepted') return comeToRest(progress, { status: 'completed' })
  const red = (progress.refusedBy ?? []).map(
    ({ name, reason, exitCode }) => `${name}: ${reason ?? `exit code ${exitCode}`}`,
  )
  const error = `all phases are completed, but not accepted: ${red.join('; ')}`
  return comeToRest(progress, { status: 'blocked', reason: error, error })
}

const ended = (work: WorkRef, status: 'completed' | 'failed' | 'blocked' | 'skipped', text?: string): Order =>
  tell({ type: 'work-ended', work, status, ...(text !== undefined && { text }) })
