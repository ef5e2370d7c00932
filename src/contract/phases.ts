import { z } from 'zod'
import { fileObject, nonEmptyText } from './file-object.ts'
import { Id } from './ids.ts'
import { agentNames, ErrorCategory } from './settings.ts'
import { Duration, Timestamp } from './time.ts'

const maxRetries = z.int().min(1)

/** A duration that the seeds write as a number of seconds; milliseconds in memory. */
const Seconds = z.union([
  Duration,
  z.codec(z.number().positive(), z.number(), { decode: (seconds) => seconds * 1000, encode: (ms) => ms / 1000 }),
])

export const Gate = fileObject({
  script: nonEmptyText.describe('Shell command that Ralph runs after the phase; exit 0 lets the sprint continue'),
  onFail: fileObject({
    prompt: nonEmptyText.describe(
      'What to ask the agent when the script fails; Ralph appends the output of the script',
    ),
    maxRetries: maxRetries.default(3).describe('Maximum runs of the script before the sprint blocks'),
  }),
  timeout: Seconds.default(60_000).describe('Seconds, or a duration such as 5m; default 60'),
})

/** A phase as a workflow describes it. */
export const Phase = fileObject({
  id: Id.describe('Unique within the workflow'),
  prompt: nonEmptyText
    .optional()
    .describe('Prompt for the agent; {{item.…}}, {{phase.…}} and {{sprint.…}} are replaced'),
  forEach: nonEmptyText.optional().describe('Name of a collection in SPRINT.yaml; the phase runs once per item'),
  collection: nonEmptyText.optional().describe('Collection to use instead of the one that for-each names'),
  workflow: nonEmptyText.optional().describe('Workflow to insert here; with for-each: the workflow of each item'),
  model: nonEmptyText.optional().describe('Model for this phase; default: the model of the sprint'),
  agent: agentNames.optional().describe('Agent program for this phase; default: the agent of the sprint'),
  parallel: z
    .boolean()
    .optional()
    .describe('The next phase does not wait for this one; with for-each: items run at the same time'),
  waitForParallel: z.boolean().optional().describe('Wait for all running phases first'),
  break: z.boolean().optional().describe('Pause after the phase until a user resumes the sprint'),
  gate: Gate.optional().describe('Script that must pass before the sprint continues'),
})
export type Phase = z.output<typeof Phase>

const itemFields = {
  prompt: nonEmptyText.describe('What to do'),
  id: Id.optional().describe('Default: the name of the collection and an index, from 0'),
  workflow: nonEmptyText.optional().describe('Workflow for this item; default: the workflow of the phase'),
  model: nonEmptyText.optional().describe('Model for this item; default: the model of the sprint'),
  agent: agentNames.optional().describe('Agent program for this item; default: the agent of the sprint'),
  'depends-on': z.array(nonEmptyText).optional().describe('Ids of items that must be completed first'),
}

type ItemFields = z.output<z.ZodObject<typeof itemFields>>

export type CollectionItem = Omit<ItemFields, 'depends-on'> & {
  readonly dependsOn?: readonly string[] | undefined
  /** All fields of the item under the names in the file: what `{{item.…}}` can refer to. */
  readonly fields: Readonly<Record<string, unknown>>
}

/** An item may have custom fields for use in prompts, so it cannot be a `fileObject`. */
export const CollectionItem = z.codec(z.looseObject(itemFields), z.custom<CollectionItem>(), {
  decode: ({ 'depends-on': dependsOn, prompt, id, workflow, model, agent, ...own }) => ({
    prompt,
    id,
    workflow,
    model,
    agent,
    dependsOn,
    fields: { ...own, prompt, id, workflow, model, agent, 'depends-on': dependsOn },
  }),
  encode: ({ fields, prompt }) => ({ ...fields, prompt }),
})

const WorkStatus = z.enum(['pending', 'in-progress', 'completed', 'blocked', 'skipped', 'failed'])

const work = {
  status: WorkStatus.describe('Current status'),
  model: z.string().optional().describe('Model, if it differs from the model of the sprint'),
  agent: z.array(z.string()).optional().describe('First choice, then fallbacks; absent: the agents of the sprint'),
  startedAt: Timestamp.optional().describe('Start time'),
  completedAt: Timestamp.optional().describe('End time'),
  summary: z.string().optional().describe("The agent's own summary"),
  error: z.string().optional().describe('Why it did not complete'),
  errorCategory: ErrorCategory.optional().describe('Category of the failure'),
  retryCount: z.int().optional().describe('Number of retries'),
  nextRetryAt: Timestamp.optional().describe('Time of the next retry'),
}

const flow = {
  parallel: z.boolean().optional().describe('The next phase does not wait for this one'),
  waitForParallel: z.boolean().optional().describe('Waits for all running phases first'),
  break: z.boolean().optional(),
  gate: fileObject({ script: z.string(), onFailPrompt: z.string(), maxRetries, timeout: Seconds }).optional(),
  gateTracking: fileObject({
    attempts: z.int(),
    status: z.enum(['pending', 'running', 'passed', 'retrying', 'failed', 'blocked']),
    lastOutput: z.string().optional(),
    lastExitCode: z.int().nullable().optional(),
    error: z.string().optional(),
  }).optional(),
}

/** One part of an item; the parts run one after the other. */
export const CompiledSubPhase = fileObject({ id: Id, prompt: z.string(), ...work, ...flow })
export type CompiledSubPhase = z.output<typeof CompiledSubPhase>

/** One item of a for-each phase. */
export const CompiledStep = fileObject({
  id: Id.describe('Id of the item'),
  prompt: z.string().describe('What to do'),
  ...work,
  dependsOn: z.array(Id).optional().describe('Ids of items that must be completed first'),
  phases: z.array(CompiledSubPhase).describe('Parts of the item; they run one after the other'),
})
export type CompiledStep = z.output<typeof CompiledStep>

/** A phase in PROGRESS.yaml, with its own prompt or with steps. */
export const CompiledPhase = fileObject({
  id: Id.describe('Id of the phase'),
  prompt: z.string().optional().describe('Prompt for the agent'),
  ...work,
  ...flow,
  steps: z.array(CompiledStep).optional().describe('Its items'),
})
export type CompiledPhase = z.output<typeof CompiledPhase>

export const DependencyNode = fileObject({ id: Id, dependsOn: z.array(Id), blockedBy: z.array(Id) })

/** Dependencies between the steps of a for-each phase; `blocked-by` shrinks as they complete. */
export const DependencyGraph = fileObject({ phaseId: Id, nodes: z.array(DependencyNode) })
export type DependencyGraph = z.output<typeof DependencyGraph>

/** Ids of a piece of work in a sprint with phases: a phase, or a part of one of its items. */
export const WorkRef = fileObject({
  phase: Id.describe('Id of the phase'),
  step: Id.optional().describe('Id of the item'),
  subPhase: Id.optional().describe('Id of the part of the item'),
  gateFix: z.int().optional().describe('Set when the agent repairs a failed gate: how many times the gate has run'),
})
export type WorkRef = z.output<typeof WorkRef>

/** Position of a sprint with phases, by index: the first work that is not done. */
const Current = fileObject({
  phase: z.int().describe('Index of the phase, from 0'),
  step: z.int().nullable().describe('Index of the item'),
  subPhase: z.int().nullable().describe('Index of the part of the item'),
})

/** Work of a sprint with phases that runs beside other work, as in seed 004. */
export const ParallelTask = fileObject({
  id: z.string().describe('Item and phase, or the phase alone'),
  stepId: Id.optional().describe('Id of the item; absent: a phase without items'),
  phaseId: Id.describe('Id of the phase or of the part of the item'),
  status: z.enum(['running', 'completed', 'failed']).describe('Current status'),
  spawnedAt: Timestamp.describe('Start time'),
  completedAt: Timestamp.optional().describe('End time'),
  error: z.string().optional().describe('Why it did not complete'),
})
export type ParallelTask = z.output<typeof ParallelTask>

/** Where a sprint is, in the words of seed 004. */
export const positionFields = {
  current: Current.optional().describe('Position of the sprint, by index; ralph mode: `step` is the next pending step'),
  parallelTasks: z
    .array(ParallelTask)
    .optional()
    .describe('Standard mode: phases and items with `parallel: true` that have started'),
}

export const cleanupModes = z.enum(['never', 'on-complete', 'on-merge'])

/** The worktree of a sprint, with all variables replaced. */
export const CompiledWorktree = fileObject({
  enabled: z.literal(true),
  branch: z.string(),
  path: z.string(),
  cleanup: cleanupModes,
})
export type CompiledWorktree = z.output<typeof CompiledWorktree>
