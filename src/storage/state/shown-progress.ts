import { z } from 'zod'
import { ParallelTask, type CompiledPhase, type CompiledStep, type CompiledSubPhase } from '../../contract/phases.ts'
import type { Progress } from '../../contract/progress.ts'
import { isGoalDriven } from '../../contract/way.ts'
import { encodeProgress } from './encode-progress.ts'

/** Fields of PROGRESS.yaml that follow from the others: users and their scripts read them, Ralph does not. */
export const derivedFields: ReadonlySet<string> = new Set(['current', 'parallel-tasks'])

/** Encodes the progress as users see it: in PROGRESS.yaml and in the JSON of commands, with the fields that seed 004 expects. */
export function encodeShownProgress(progress: Progress): Record<string, unknown> {
  // Truncation of the file is noticed by its last field, so the last field is one that every version has written.
  const { stats, ...fields } = encodeProgress(progress)
  return {
    ...fields,
    ...(isGoalDriven(progress) && { current: { phase: 0, step: findCurrentStep(progress), 'sub-phase': null } }),
    'parallel-tasks': (progress.phases ?? []).flatMap(listPhaseTasks),
    stats,
  }
}

/** Removes what `encodeShownProgress` adds. */
export function omitDerivedFields({ parallelTasks: _tasks, current, ...progress }: Progress): Progress {
  return isGoalDriven(progress) ? progress : { ...progress, ...(current && { current }) }
}

/** Completed steps come first. */
function findCurrentStep({ dynamicSteps }: Progress): number | null {
  const index = dynamicSteps.findIndex(({ status }) => status === 'pending')
  return index === -1 ? null : index
}

/** Phases and items are immutable, so cache their tasks: a phase can have thousands of items. */
const knownTasks = new WeakMap<CompiledPhase | CompiledStep, readonly object[]>()

function listPhaseTasks(phase: CompiledPhase): readonly object[] {
  const known = knownTasks.get(phase)
  if (known) return known
  const { id, parallel, steps } = phase
  const tasks = steps
    ? steps.flatMap((step) => listItemTasks(id, step, parallel === true))
    : parallel === true
      ? encodeTask(phase, { id, phaseId: id })
      : []
  knownTasks.set(phase, tasks)
  return tasks
}

/** Items that run at the same time, or parts of an item that the next part does not wait for. */
function listItemTasks(phaseId: string, step: CompiledStep, isParallel: boolean): readonly object[] {
  const known = knownTasks.get(step)
  if (known) return known
  const stepId = step.id
  const tasks = isParallel
    ? encodeTask(step, { id: `${stepId}-${phaseId}`, stepId, phaseId })
    : step.phases
        .filter(({ parallel }) => parallel === true)
        .flatMap((part) => encodeTask(part, { id: `${stepId}-${part.id}`, stepId, phaseId: part.id }))
  knownTasks.set(step, tasks)
  return tasks
}

type TaskIds = Pick<ParallelTask, 'id' | 'stepId' | 'phaseId'>

function encodeTask(work: CompiledPhase | CompiledStep | CompiledSubPhase, ids: TaskIds): object[] {
  const { startedAt, completedAt, error } = work
  if (startedAt === undefined) return []
  const status = taskStatuses[work.status]
  return [
    z.encode(ParallelTask, {
      ...ids,
      status,
      spawnedAt: startedAt,
      ...(status !== 'running' && completedAt !== undefined && { completedAt }),
      ...(error !== undefined && { error }),
    }),
  ]
}

const taskStatuses = {
  pending: 'running',
  'in-progress': 'running',
  completed: 'completed',
  skipped: 'completed',
  blocked: 'failed',
  failed: 'failed',
} as const satisfies Record<CompiledPhase['status'], ParallelTask['status']>
