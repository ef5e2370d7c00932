import { z } from 'zod'
import { fileObject } from './file-object.ts'
import { cleanupModes, Phase } from './phases.ts'
import { SprintMode } from './progress.ts'
import { Hook, settings, text } from './settings.ts'

const WorkflowWorktree = fileObject({
  enabled: z.boolean().describe('Whether the sprint works in a worktree of its own'),
  branchPrefix: text.optional().describe('The branch is this and the id of the sprint; default "sprint/"'),
  pathPrefix: text.optional().describe('The folder is this and the id of the sprint'),
  cleanup: cleanupModes.optional().describe('When the worktree is removed; default on-complete'),
})

/** `.claude/workflows/<name>.yaml`: a reusable way of working. */
export const Workflow = fileObject({
  name: z.string().min(1).describe('What people call this workflow'),
  description: z.string().optional().describe('What it is good for'),
  schemaVersion: z.union([z.string(), z.number()]).optional().describe('Version of the format; "2.0"'),
  mode: SprintMode.optional().describe('ralph: goal-driven; standard: phases (the default)'),
  phases: z.array(Phase).optional().describe('Standard mode: what is done, in this order'),
  worktree: WorkflowWorktree.optional().describe('Sprints work in a git worktree of their own'),
  goalPrompt: z.string().optional().describe('Added to the planning prompt'),
  reflectionPrompt: z.string().optional().describe('Added to the reflecting prompt'),
  perIterationHooks: z.array(Hook).optional().describe('Deterministic tasks after every iteration'),
  ...settings,
})
export type Workflow = z.output<typeof Workflow>
