import { stepId } from '../contract/ids.ts'
import type { Progress } from '../contract/progress.ts'
import { isSameData } from './same-data.ts'
import { mergePhases } from './standard/merge-phases.ts'

/** Fields that SPRINT.yaml and its workflows decide. All others are the sprint's own history. */
const configuredFields = [
  'name',
  'owner',
  'created',
  'workflow',
  'goal',
  'agent',
  'model',
  'doneWhen',
  'proof',
  'frozen',
  'mayChange',
  'room',
  'review',
  'limits',
  'timeouts',
  'env',
  'prices',
  'checkpoint',
  'sandbox',
  'notify',
  'worktree',
  'retry',
  'prompts',
  'parallelExecution',
  'perIterationHooks',
] as const satisfies readonly (keyof Progress)[]

export type RecompileResult = {
  readonly progress: Progress
  /** Descriptions of what changed. */
  readonly changes: readonly string[]
}

/** Applies a changed SPRINT.yaml to a sprint that has run: the configuration is replaced, the history stays. */
export function recompile(progress: Progress, compiled: Progress, at: number): RecompileResult {
  const changes = configuredFields
    .filter(
      (field) =>
        !isSameData(progress[field], compiled[field]) && !(field === 'doneWhen' && compiled.doneWhen === undefined),
    )
    .map((field) => describeFieldChange(field, progress, compiled))
  const { idleCount, goalCompleteAttemptedAt } = progress.ralph
  const ralph = {
    ...compiled.ralph,
    idleCount,
    ...(goalCompleteAttemptedAt !== undefined && { goalCompleteAttemptedAt }),
  }
  if (!isSameData(progress.ralph, ralph)) changes.push('ralph (idle-threshold, min-iterations or prompts)')
  const settled: Progress = { ...applyFields(progress, compiled), ralph }
  const steps = addNewSteps(settled, compiled, at)
  const phases = mergePhases(steps.progress, compiled)
  return { progress: phases.progress, changes: [...changes, ...steps.changes, ...phases.changes] }
}

function applyFields(progress: Progress, compiled: Progress): Progress {
  const merged: Record<string, unknown> = { ...progress }
  for (const field of configuredFields) {
    if (compiled[field] !== undefined) merged[field] = compiled[field]
    // Detected checks stay as long as none are configured.
    else if (field !== 'doneWhen') delete merged[field]
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same fields as before, with values of the same fields
  return merged as Progress
}

function describeFieldChange(field: (typeof configuredFields)[number], before: Progress, after: Progress): string {
  const [old, now] = [before[field], after[field]]
  if (isShortValue(old) && isShortValue(now)) return `${field}: ${formatSetting(old)} -> ${formatSetting(now)}`
  return `${field} ${old === undefined ? 'added' : now === undefined ? 'removed' : 'changed'}`
}

const isShortValue = (value: unknown): boolean =>
  value === undefined || (typeof value !== 'object' && formatSetting(value).length < 40)
const formatSetting = (value: unknown): string => (value === undefined ? 'none' : (JSON.stringify(value) ?? ''))

/** New steps in SPRINT.yaml become pending steps. */
function addNewSteps(progress: Progress, compiled: Progress, at: number): RecompileResult {
  const known = new Set(progress.dynamicSteps.map((step) => step.prompt))
  const added = compiled.dynamicSteps.filter((step) => !known.has(step.prompt))
  if (added.length === 0) return { progress, changes: [] }
  const { stats } = progress
  const steps = added.map(({ prompt }, index) => ({
    id: stepId(stats.totalSteps + index),
    prompt,
    status: 'pending' as const,
    addedAt: at,
    addedInIteration: stats.currentIteration,
  }))
  return {
    progress: {
      ...progress,
      dynamicSteps: [...progress.dynamicSteps, ...steps],
      stats: { ...stats, totalSteps: stats.totalSteps + steps.length },
    },
    changes: steps.map(({ id }) => `${id} added`),
  }
}
