import { z } from 'zod'
import { fileObject } from './file-object.ts'
import { Id } from './ids.ts'
import { agentNames, ErrorCategory, text } from './settings.ts'
import { Duration, Timestamp } from './time.ts'

const maxRetries = z.int().min(1)

/** A length of time that the seeds write as a number of seconds: milliseconds inside. */
const Seconds = z.union([
  Duration,
  z.codec(z.number().positive(), z.number(), { decode: (seconds) => seconds * 1000, encode: (ms) => ms / 1000 }),
])

export const Gate = fileObject({
  script: text.describe('Shell command that Ralph runs after the phase; exit 0 lets the sprint go on'),
  onFail: fileObject({
    prompt: text.describe("What the agent is asked to do about it; the script's output is added"),
    maxRetries: maxRetries.default(3).describe('How often the script is run before the sprint is blocked'),
  }),
  timeout: Seconds.default(60_000).describe('Seconds, or a duration such as 5m; default 60'),
})

/** A phase as a workflow describes it. */
export const Phase = fileObject({
  id: Id.describe('Unique within the workflow'),
  prompt: text
    .optional()
    .describe('What the agent is asked to do; {{item.…}}, {{phase.…}} and {{sprint.…}} are replaced'),
  forEach: text.optional().describe('Name of a collection of SPRINT.yaml: the phase is done for each of its items'),
  collection: text.optional().describe('Another collection than the one that for-each names'),
  workflow: text.optional().describe('Workflow to insert here; with for-each: the workflow of each item'),
  model: text.optional().describe('Another model than that of the sprint'),
  agent: agentNames.optional().describe('Another agent program than that of the sprint'),
  parallel: z
    .boolean()
    .optional()
    .describe('The next phase does not wait for this one; with for-each: items run at the same time'),
  waitForParallel: z.boolean().optional().describe('First wait for all phases that still run'),
  break: z.boolean().optional().describe('Stop after the phase until somebody resumes the sprint'),
  gate: Gate.optional().describe('A script that must pass before the sprint goes on'),
})
export type Phase = z.output<typeof Phase>

const itemFields = {
  prompt: text.describe('What is to be done'),
  id: Id.optional().describe('Default: the name of the collection and a number, from 0'),
  workflow: text.optional().describe('Another workflow than the one of the phase'),
  model: text.optional().describe('Another model than that of the sprint'),
  agent: agentNames.optional().describe('Another agent program than that of the sprint'),
  'depends-on': z.array(text).optional().describe('Ids of items that must be completed first'),
}

type ItemFields = z.output<z.ZodObject<typeof itemFields>>

export type CollectionItem = Omit<ItemFields, 'depends-on'> & {
  readonly dependsOn?: readonly string[] | undefined
  /** Everything that is written at the item, under its own name: what `{{item.…}}` can refer to. */
  readonly fields: Readonly<Record<string, unknown>>
}

/** An item may have fields of its own for use in prompts, so it is no `fileObject`. */
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
  status: WorkStatus.describe('How it stands'),
  model: z.string().optional().describe('Another model than that of the sprint'),
  agent: z.array(z.string()).optional().describe('First choice, then fallbacks; absent: those of the sprint'),
  startedAt: Timestamp.optional().describe('When it began'),
  completedAt: Timestamp.optional().describe('When it was over'),
  summary: z.string().optional().describe('What the agent said it did'),
  error: z.string().optional().describe('Why it is not completed'),
  errorCategory: ErrorCategory.optional().describe('What kind of failure that was'),
  retryCount: z.int().optional().describe('How often it was tried again'),
  nextRetryAt: Timestamp.optional().describe('When it is tried again'),
}

const flow = {
  parallel: z.boolean().optional().describe('The next phase does not wait for this one'),
  waitForParallel: z.boolean().optional().describe('First waits for all phases that still run'),
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

/** What is asked of the agent for one item, one after the other. */
export const CompiledSubPhase = fileObject({ id: Id, prompt: z.string(), ...work, ...flow })
export type CompiledSubPhase = z.output<typeof CompiledSubPhase>

/** One item of a for-each phase. */
export const CompiledStep = fileObject({
  id: Id.describe('Id of the item'),
  prompt: z.string().describe('What is to be done'),
  ...work,
  dependsOn: z.array(Id).optional().describe('Ids of items that must be completed first'),
  phases: z.array(CompiledSubPhase).describe('What is asked of the agent for this item, one after the other'),
})
export type CompiledStep = z.output<typeof CompiledStep>

/** A phase in PROGRESS.yaml: with a prompt of its own, or with steps. */
export const CompiledPhase = fileObject({
  id: Id.describe('Id of the phase'),
  prompt: z.string().optional().describe('What the agent is asked to do'),
  ...work,
  ...flow,
  steps: z.array(CompiledStep).optional().describe('Its items'),
})
export type CompiledPhase = z.output<typeof CompiledPhase>

export const DependencyNode = fileObject({ id: Id, dependsOn: z.array(Id), blockedBy: z.array(Id) })

/** Which steps of a for-each phase wait for which; `blocked-by` shrinks as they are completed. */
export const DependencyGraph = fileObject({ phaseId: Id, nodes: z.array(DependencyNode) })
export type DependencyGraph = z.output<typeof DependencyGraph>

/** A piece of work of a standard sprint by its ids: a phase, or one of the things that are asked for one of its items. */
export const WorkRef = fileObject({
  phase: Id.describe('Id of the phase'),
  step: Id.optional().describe('Id of the item'),
  subPhase: Id.optional().describe('Id of the part of the item'),
  gateFix: z.int().optional().describe('Not the work itself, but what its gate found, after so many runs of the gate'),
})
export type WorkRef = z.output<typeof WorkRef>

/** Where a standard sprint stands, by index: the first work that is not over. */
export const Current = fileObject({
  phase: z.int().describe('Index of the phase, from 0'),
  step: z.int().nullable().describe('Index of the item'),
  subPhase: z.int().nullable().describe('Index of the part of the item'),
})

export const cleanupModes = z.enum(['never', 'on-complete', 'on-merge'])

/** The worktree that a sprint works in, with all variables replaced. */
export const CompiledWorktree = fileObject({
  enabled: z.literal(true),
  branch: z.string(),
  path: z.string(),
  cleanup: cleanupModes,
})
export type CompiledWorktree = z.output<typeof CompiledWorktree>
