import { z } from 'zod'
import { fileObject } from './file-object.ts'
import { SprintId } from './ids.ts'
import { cleanupModes, CollectionItem } from './phases.ts'
import { HookOverrides, settings, text } from './settings.ts'
import { Duration } from './time.ts'

const Worktree = fileObject({
  enabled: z.boolean().describe('Whether the sprint works in a worktree of its own'),
  branch: text.optional().describe('{sprint-id}, {sprint-name}, {date} and {workflow} are replaced'),
  path: text.optional().describe('{sprint-id}, {sprint-name}, {date} and {workflow} are replaced'),
  cleanup: cleanupModes.optional().describe('When the worktree is removed; default on-complete'),
})

/** The older way to set limits. */
const Config = fileObject({
  maxIterations: z.int().min(1).optional().describe('limits.iterations'),
  timeBox: Duration.optional().describe('limits.duration'),
  autoCommit: z.boolean().optional().describe('checkpoint'),
  maxTasks: z.int().min(1).optional().describe('Standard mode: the most items that the sprint may have'),
})

/** `SPRINT.yaml`: what a person writes to start a sprint. */
export const Sprint = fileObject({
  workflow: z.string().min(1).describe('Name of a workflow in .claude/workflows, or the bundled `ralph`'),
  goal: z.string().optional().describe('What is to be reached, in your words, with the criteria for success'),
  steps: z
    .array(z.union([text, CollectionItem]))
    .optional()
    .describe('Ralph mode: first steps, if you already know them. Standard mode: the collection "step"'),
  collections: z.record(z.string(), z.array(CollectionItem)).optional().describe('Standard mode: items for for-each'),
  worktree: Worktree.optional().describe('Work in a git worktree of its own'),
  config: Config.optional().describe('The older way to set limits'),
  sprintId: SprintId.optional().describe('Default: the name of the folder, with the date in front'),
  name: z.string().optional().describe('What people call this sprint'),
  owner: z.string().optional().describe('Who is responsible for it'),
  created: z.string().optional().describe('When it was written'),
  perIterationHooks: HookOverrides.optional().describe(
    'Switches hooks of the workflow on or off by id, changes or adds hooks',
  ),
  ...settings,
})
export type Sprint = z.output<typeof Sprint>
