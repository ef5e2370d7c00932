import type { CompiledPhase, CompiledStep, CompiledSubPhase, DependencyGraph } from '../../../contract/phases.ts'
import type { Sprint } from '../../core/sprint.ts'
import { isSameData } from '../../core/same-data.ts'
import { mergeLoopSettings } from '../../core/loop-settings.ts'
import type { RecompileResult } from '../../core/way.ts'
import { listPhases, setPhasesState } from './phases-state.ts'
import { isFinished, type WorkUnit as Listed } from './units.ts'

/**
 * Matches phases, items and their parts by id. Finished ones stay as they are; the others take their new definition and keep
 * their state. Removed ones are dropped, unless they are history or still running.
 */
export function mergePhases(before: Sprint, compiled: Sprint): RecompileResult {
  const { sprint, changes } = mergeLoopSettings(before, compiled)
  const { phases: fresh, dependencyGraph } = compiled.way.concurrent ? compiled.way : {}
  if (!fresh) return { sprint, changes }
  const old = listPhases(sprint)
  const isNeeded = (phase: CompiledPhase) =>
    phase.status === 'completed' || sprint.live.some(({ work }) => work?.phase === phase.id)
  const phases = mergeById(old, fresh, { merge: mergePhase, isNeeded })
  const merged: Sprint = {
    ...setPhasesState(sprint, {
      phases,
      dependencyGraph: dependencyGraph?.map((each) => refreshBlockedBy(each, phases)),
    }),
    stats: { ...sprint.stats, ...countMergedPhases(phases) },
  }
  // A completed sprint with new work is no longer completed.
  const isOpen = sprint.status === 'completed' && !phases.every(isFinished)
  return {
    sprint: isOpen ? { ...merged, status: 'paused', stats: { ...merged.stats, completedAt: null } } : merged,
    changes: [...changes, ...describeDifferences(old, phases)],
  }
}

type MergeRules<U> = { readonly merge: (old: U, fresh: U) => U; readonly isNeeded: (gone: U) => boolean }

/** Uses the new order; removed entries that are still needed come first. */
function mergeById<U extends { readonly id: string }>(
  before: readonly U[],
  now: readonly U[],
  rules: MergeRules<U>,
): U[] {
  const known = new Map(before.map((unit) => [unit.id, unit]))
  const written = new Set(now.map(({ id }) => id))
  const gone = before.filter((unit) => !written.has(unit.id) && rules.isNeeded(unit))
  return [...gone, ...now.map((fresh) => rules.merge(known.get(fresh.id) ?? fresh, fresh))]
}

function mergePhase(old: CompiledPhase, fresh: CompiledPhase): CompiledPhase {
  if (!old.steps || !fresh.steps) return isFinished(old) ? old : { ...fresh, ...pickState(old) }
  const steps = mergeById(old.steps, fresh.steps, { merge: mergeStep, isNeeded: isUnitStarted })
  if (!isFinished(old)) return { ...fresh, ...pickState(old), steps }
  // The phase has new items, so it continues, and its gate must pass again.
  return steps.every(isFinished) ? { ...old, steps } : { ...fresh, status: 'pending', steps }
}

function mergeStep(old: CompiledStep, fresh: CompiledStep): CompiledStep {
  if (isFinished(old)) return old
  return {
    ...fresh,
    ...pickState(old),
    phases: mergeById(old.phases, fresh.phases, { merge: mergePart, isNeeded: isUnitStarted }),
  }
}

const mergePart = (old: CompiledSubPhase, fresh: CompiledSubPhase): CompiledSubPhase =>
  isFinished(old) ? old : { ...fresh, ...pickState(old) }

const isUnitStarted = ({ status }: { readonly status: Listed['status'] }): boolean =>
  status === 'completed' || status === 'in-progress'

type UnitState = Pick<
  CompiledPhase,
  'status' | 'startedAt' | 'error' | 'errorCategory' | 'retryCount' | 'nextRetryAt' | 'gateTracking'
>

/** The state of a unit that has not finished. */
function pickState({ status, startedAt, error, errorCategory, retryCount, nextRetryAt, gateTracking }: UnitState) {
  return {
    status,
    ...(startedAt !== undefined && { startedAt }),
    ...(error !== undefined && { error }),
    ...(errorCategory !== undefined && { errorCategory }),
    ...(retryCount !== undefined && { retryCount }),
    ...(nextRetryAt !== undefined && { nextRetryAt }),
    ...(gateTracking !== undefined && { gateTracking }),
  }
}

function refreshBlockedBy(graph: DependencyGraph, phases: readonly CompiledPhase[]): DependencyGraph {
  const steps = phases.find(({ id }) => id === graph.phaseId)?.steps ?? []
  const done = new Set(steps.filter(({ status }) => status === 'completed').map(({ id }) => id))
  return {
    ...graph,
    nodes: graph.nodes.map((node) => ({ ...node, blockedBy: node.dependsOn.filter((id) => !done.has(id)) })),
  }
}

function countMergedPhases(phases: readonly CompiledPhase[]) {
  const steps = phases.flatMap((phase) => phase.steps ?? [])
  const works = [...phases, ...steps.flatMap((step) => step.phases)]
  return {
    totalPhases: works.length,
    completedPhases: works.filter(isUnitCompleted).length,
    totalSteps: steps.length,
    completedSteps: steps.filter(isUnitCompleted).length,
  }
}

const isUnitCompleted = ({ status }: { readonly status: Listed['status'] }): boolean => status === 'completed'

function describeDifferences(before: readonly CompiledPhase[], after: readonly CompiledPhase[]): string[] {
  const old = new Map(before.map((phase) => [phase.id, phase]))
  const now = new Set(after.map(({ id }) => id))
  const changed = after.flatMap((phase) => {
    const known = old.get(phase.id)
    if (!known) return [`phase ${phase.id} added`]
    return isSameData(known, phase) ? [] : [`phase ${phase.id} changed`]
  })
  const order = (phases: readonly CompiledPhase[]) =>
    phases.map(({ id }) => id).filter((id) => old.has(id) && now.has(id))
  const moved = order(before).join('\n') === order(after).join('\n') ? [] : ['phases in another order']
  return [...changed, ...before.filter(({ id }) => !now.has(id)).map(({ id }) => `phase ${id} removed`), ...moved]
}
