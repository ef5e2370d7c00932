import { stepId } from '../contract/ids.ts'
import type { Progress } from '../contract/progress.ts'
import { same } from './same.ts'
import { mergePhases } from './standard/merge-phases.ts'

/** Fields that SPRINT.yaml and its workflows decide. All others are the sprint's own history. */
const configured = [
  'name',
  'owner',
  'created',
  'workflow',
  'goal',
  'agent',
  'model',
  'doneWhen',
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

export type Recompiled = {
  readonly progress: Progress
  /** Descriptions of what changed. */
  readonly changes: readonly string[]
}

/** Applies a changed SPRINT.yaml to a sprint that has run: the configuration is replaced, the history stays. */
export function recompile(progress: Progress, compiled: Progress, at: number): Recompiled {
  const changes = configured
    .filter(
      (field) => !same(progress[field], compiled[field]) && !(field === 'doneWhen' && compiled.doneWhen === undefined),
    )
    .map((field) => describe(field, progress, compiled))
  const { idleCount, goalCompleteAttemptedAt } = progress.ralph
  const ralph = {
    ...compiled.ralph,
    idleCount,
    ...(goalCompleteAttemptedAt !== undefined && { goalCompleteAttemptedAt }),
  }
  if (!same(progress.ralph, ralph)) changes.push('ralph (idle-threshold, min-iterations or prompts)')
  const settled: Progress = { ...withFields(progress, compiled), ralph }
  const steps = withGivenSteps(settled, compiled, at)
  const phases = mergePhases(steps.progress, compiled)
  return { progress: phases.progress, changes: [...changes, ...steps.changes, ...phases.changes] }
}

function withFields(progress: Progress, compiled: Progress): Progress {
  const kept: Record<string, unknown> = { ...progress }
  for (const field of configured) {
    if (compiled[field] !== undefined) kept[field] = compiled[field]
    // Detected checks stay as long as none are configured.
    else if (field !== 'doneWhen') delete kept[field]
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same fields as before, with values of the same fields
  return kept as Progress
}

function describe(field: (typeof configured)[number], before: Progress, after: Progress): string {
  const [old, now] = [before[field], after[field]]
  if (isShort(old) && isShort(now)) return `${field}: ${show(old)} -> ${show(now)}`
  return `${field} ${old === undefined ? 'added' : now === undefined ? 'removed' : 'changed'}`
}

const isShort = (value: unknown): boolean =>
  value === undefined || (typeof value !== 'object' && show(value).length < 40)
const show = (value: unknown): string => (value === undefined ? 'none' : (JSON.stringify(value) ?? ''))

/** New steps in SPRINT.yaml become pending steps. */
function withGivenSteps(progress: Progress, compiled: Progress, at: number): Recompiled {
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
