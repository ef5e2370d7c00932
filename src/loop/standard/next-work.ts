import type { CompiledPhase, CompiledStep, WorkRef } from '../../contract/phases.ts'
import type { Progress } from '../../contract/progress.ts'
import { areOver, firstOpenIn, hasFailed, isOver, someFailed, unitIn } from './units.ts'
import { isLive, type Work } from './work.ts'

/** `agent`: an agent works on it. `gate`: only its gate runs. `nothing`: there is nothing to do. */
export type Due = { readonly ref: WorkRef; readonly what: 'agent' | 'gate' | 'nothing' }

const most = 4

/** Maximum number of agents that work at the same time. */
export const roomFor = ({ parallelExecution }: Progress): number => parallelExecution?.maxConcurrency ?? most

/** Returns the first work that may start now. */
export function nextDue(progress: Progress): Due | undefined {
  for (const phase of reachable(progress.phases ?? [], isBackground)) {
    const due = phase.steps ? dueItem(progress, phase) : dueWork(progress, phase, { phase: phase.id })
    if (due) return due
  }
  return undefined
}

/** For a for-each phase, `parallel` refers to its items. */
const isBackground = ({ parallel, steps }: CompiledPhase): boolean => parallel === true && steps === undefined

/**
 * Unfinished work that need not wait for earlier work: a parallel one only holds up work that waits for all parallel ones.
 */
function* reachable<W extends Work>(works: readonly W[], isParallel: (work: W) => boolean): Generator<W> {
  let open = 0
  for (let index = firstOpenIn(works) ?? works.length, work = works[index]; work; work = works[++index]) {
    if (isOver(work)) continue
    if (work.waitForParallel === true && open > 0) return
    yield work
    if (!isParallel(work)) return
    open++
  }
}

function dueWork(progress: Progress, work: Work, ref: WorkRef): Due | undefined {
  if (isLive(progress, ref) || hasFailed(work)) return undefined
  const gate = work.gateTracking?.status
  if (gate === 'retrying') return { ref: { ...ref, gateFix: work.gateTracking?.attempts ?? 1 }, what: 'agent' }
  return { ref, what: gate === 'pending' ? 'gate' : 'agent' }
}

/** The first item of a phase that may continue; when all are done, the gate of the phase. */
export function dueItem(progress: Progress, phase: CompiledPhase): Due | undefined {
  const ref = { phase: phase.id }
  const steps = phase.steps ?? []
  if (hasFailed(phase)) return undefined
  if (areOver(steps)) {
    if (isLive(progress, ref)) return undefined
    if (!phase.gate) return { ref, what: 'nothing' }
    const due = dueWork(progress, phase, ref)
    return due?.ref.gateFix === undefined ? due && { ref, what: 'gate' } : due
  }
  if (stopsAtFailure(progress, phase) && someFailed(steps)) return undefined
  const isReady = readiness(progress, steps)
  for (let index = firstOpenIn(steps) ?? steps.length, step = steps[index]; step; step = steps[++index]) {
    if (isOver(step) || hasFailed(step) || !isReady(step)) continue
    const due = duePart(progress, step, { ...ref, step: step.id })
    if (due) return due
    if (phase.parallel !== true) return undefined
  }
  return undefined
}

function duePart(progress: Progress, step: CompiledStep, ref: WorkRef): Due | undefined {
  if (step.phases.length === 0) return { ref, what: 'nothing' }
  if (someFailed(step.phases)) return undefined
  for (const part of reachable(step.phases, ({ parallel }) => parallel === true)) {
    const due = dueWork(progress, part, { ...ref, subPhase: part.id })
    if (due) return due
  }
  return undefined
}

/** Sequential items stop at the first failure; parallel items follow `on-dependency-failure`. */
const stopsAtFailure = (progress: Progress, phase: CompiledPhase): boolean =>
  phase.parallel !== true || onFailure(progress) === 'fail-phase'

export const onFailure = ({ parallelExecution }: Progress): 'skip-dependents' | 'fail-phase' | 'continue' =>
  parallelExecution?.onDependencyFailure ?? 'skip-dependents'

/** Whether the dependencies of an item are done; with `continue`, failed ones count as done. */
function readiness(progress: Progress, steps: readonly CompiledStep[]): (step: CompiledStep) => boolean {
  const goesOn = onFailure(progress) === 'continue'
  const isDone = (step: CompiledStep | undefined) => step && (isOver(step) || (goesOn && hasFailed(step)))
  return ({ dependsOn = [] }) => dependsOn.every((id) => isDone(unitIn(steps, id)))
}
