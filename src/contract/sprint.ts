import { z } from 'zod'
import { fileObject, nonEmptyText } from './file-object.ts'
import { SprintId } from './ids.ts'
import { cleanupModes, CollectionItem } from './phases.ts'
import { HookOverrides, settings } from './settings.ts'
import { Duration } from './time.ts'

const Worktree = fileObject({
  enabled: z.boolean().describe('Whether the sprint has its own git worktree'),
  branch: nonEmptyText.optional().describe('{sprint-id}, {sprint-name}, {date} and {workflow} are replaced'),
  path: nonEmptyText.optional().describe('{sprint-id}, {sprint-name}, {date} and {workflow} are replaced'),
  cleanup: cleanupModes.optional().describe('When the worktree is removed; default on-complete'),
})

/** The old way to set limits. */
const Config = fileObject({
  maxIterations: z.int().min(1).optional().describe('limits.iterations'),
  timeBox: Duration.optional().describe('limits.duration'),
  autoCommit: z.boolean().optional().describe('checkpoint'),
  maxTasks: z.int().min(1).optional().describe('Standard mode: maximum number of items'),
})

/** `SPRINT.yaml`: what a user writes to start a sprint. */
export const Sprint = fileObject({
  workflow: z.string().min(1).describe('Name of a workflow in .claude/workflows, or the bundled `ralph`'),
  goal: z.string().optional().describe('What to achieve, in your words, with the criteria for success'),
  steps: z
    .array(z.union([nonEmptyText, CollectionItem]))
    .optional()
    .describe('Ralph mode: first steps, if you already know them. Standard mode: the collection "step"'),
  collections: z.record(z.string(), z.array(CollectionItem)).optional().describe('Standard mode: items for for-each'),
  worktree: Worktree.optional().describe('Gives the sprint its own git worktree'),
  config: Config.optional().describe('The old way to set limits'),
  sprintId: SprintId.optional().describe('Default: the date and the name of the folder'),
  name: z.string().optional().describe('Display name of the sprint'),
  owner: z.string().optional().describe('Person responsible for the sprint'),
  created: z.string().optional().describe('Creation date'),
  perIterationHooks: HookOverrides.optional().describe('Enables, disables, changes or adds hooks by id'),
  ...settings,
})
export type Sprint = z.output<typeof Sprint>
