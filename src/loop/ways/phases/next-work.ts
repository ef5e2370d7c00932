import type { CompiledPhase, CompiledStep, WorkRef } from '../../../contract/phases.ts'
import type { Sprint } from '../../core/sprint.ts'
import { listPhases } from './phases-state.ts'
import { areAllFinished, findFirstOpen, hasFailed, isFinished, hasAnyFailed, findUnit } from './units.ts'
import { isWorkLive, type PhaseWork } from './work.ts'

/** `agent`: an agent works on it. `gate`: only its gate runs. `nothing`: there is nothing to do. */
export type DueWork = { readonly ref: WorkRef; readonly what: 'agent' | 'gate' | 'nothing' }

const defaultConcurrency = 4

/** Maximum number of agents that work at the same time. */
export const getMaxConcurrency = ({ plan: { parallelExecution } }: Sprint): number =>
  parallelExecution?.maxConcurrency ?? defaultConcurrency

/** Returns the first work that may start now. */
export function findDueWork(sprint: Sprint): DueWork | undefined {
  for (const phase of listReachable(listPhases(sprint), isBackground)) {
    const due = phase.steps ? findDueItem(sprint, phase) : getDueWork(sprint, phase, { phase: phase.id })
    if (due) return due
  }
  return undefined
}

/** For a for-each phase, `parallel` refers to its items. */
const isBackground = ({ parallel, steps }: CompiledPhase): boolean => parallel === true && steps === undefined

/**
 * Unfinished work that need not wait for earlier work: a parallel one only holds up work that waits for all parallel ones.
 */
function* listReachable<W extends PhaseWork>(works: readonly W[], isParallel: (work: W) => boolean): Generator<W> {
  let open = 0
  for (let index = findFirstOpen(works) ?? works.length, work = works[index]; work; work = works[++index]) {
    if (isFinished(work)) continue
    if (work.waitForParallel === true && open > 0) return
    yield work
    if (!isParallel(work)) return
    open++
  }
}

function getDueWork(sprint: Sprint, work: PhaseWork, ref: WorkRef): DueWork | undefined {
  if (isWorkLive(sprint, ref) || hasFailed(work)) return undefined
  const gate = work.gateTracking?.status
  if (gate === 'retrying') return { ref: { ...ref, gateFix: work.gateTracking?.attempts ?? 1 }, what: 'agent' }
  return { ref, what: gate === 'pending' ? 'gate' : 'agent' }
}

/** The first item of a phase that may continue; when all are done, the gate of the phase. */
export function findDueItem(sprint: Sprint, phase: CompiledPhase): DueWork | undefined {
  const ref = { phase: phase.id }
  const steps = phase.steps ?? []
  if (hasFailed(phase)) return undefined
  if (areAllFinished(steps)) {
    if (isWorkLive(sprint, ref)) return undefined
    if (!phase.gate) return { ref, what: 'nothing' }
    const due = getDueWork(sprint, phase, ref)
    return due?.ref.gateFix === undefined ? due && { ref, what: 'gate' } : due
  }
  if (stopsAtFailure(sprint, phase) && hasAnyFailed(steps)) return undefined
  const isReady = createReadinessTest(sprint, steps)
  for (let index = findFirstOpen(steps) ?? steps.length, step = steps[index]; step; step = steps[++index]) {
    if (isFinished(step) || hasFailed(step) || !isReady(step)) continue
    const due = findDuePart(sprint, step, { ...ref, step: step.id })
    if (due) return due
    if (phase.parallel !== true) return undefined
  }
  return undefined
}

function findDuePart(sprint: Sprint, step: CompiledStep, ref: WorkRef): DueWork | undefined {
  if (step.phases.length === 0) return { ref, what: 'nothing' }
  if (hasAnyFailed(step.phases)) return undefined
  for (const part of listReachable(step.phases, ({ parallel }) => parallel === true)) {
    const due = getDueWork(sprint, part, { ...ref, subPhase: part.id })
    if (due) return due
  }
  return undefined
}

/** Sequential items stop at the first failure; parallel items follow `on-dependency-failure`. */
const stopsAtFailure = (sprint: Sprint, phase: CompiledPhase): boolean =>
  phase.parallel !== true || getFailureMode(sprint) === 'fail-phase'

export const getFailureMode = ({
  plan: { parallelExecution },
}: Sprint): 'skip-dependents' | 'fail-phase' | 'continue' => parallelExecution?.onDependencyFailure ?? 'skip-dependents'

/** Whether the dependencies of an item are done; with `continue`, failed ones count as done. */
function createReadinessTest(sprint: Sprint, steps: readonly CompiledStep[]): (step: CompiledStep) => boolean {
  const continuesAfterFailure = getFailureMode(sprint) === 'continue'
  const isDone = (step: CompiledStep | undefined) =>
    step && (isFinished(step) || (continuesAfterFailure && hasFailed(step)))
  return ({ dependsOn = [] }) => dependsOn.every((id) => isDone(findUnit(steps, id)))
}
