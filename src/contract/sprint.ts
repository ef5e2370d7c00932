import { z } from 'zod'
import { fileObject } from './file-object.ts'
import { SprintId } from './ids.ts'
import { HookOverrides, settings } from './settings.ts'

const GivenStep = z.union([z.string().trim().min(1), fileObject({ prompt: z.string().trim().min(1) })])

/** `SPRINT.yaml`: what a person writes to start a sprint. */
export const Sprint = fileObject({
  workflow: z.string().min(1).describe('Name of a workflow in .claude/workflows, or the bundled `ralph`'),
  goal: z.string().optional().describe('What is to be reached, in your words, with the criteria for success'),
  steps: z.array(GivenStep).optional().describe('First steps, if you already know them'),
  sprintId: SprintId.optional().describe('Default: the name of the folder, with the date in front'),
  name: z.string().optional(),
  owner: z.string().optional(),
  created: z.string().optional(),
  perIterationHooks: HookOverrides.optional().describe(
    'Switches hooks of the workflow on or off by id, changes or adds hooks',
  ),
  ...settings,
})
export type Sprint = z.output<typeof Sprint>
