import { z } from 'zod'
import { fileObject, nonEmptyText } from './file-object.ts'
import { cleanupModes, Phase } from './phases.ts'
import { SprintMode, SprintProtocol } from './progress.ts'
import { Hook, settings } from './settings.ts'

const WorkflowWorktree = fileObject({
  enabled: z.boolean().describe('Whether sprints get their own git worktree'),
  branchPrefix: nonEmptyText.optional().describe('Prefix of the branch name, before the sprint id; default "sprint/"'),
  pathPrefix: nonEmptyText.optional().describe('Prefix of the folder, before the sprint id'),
  cleanup: cleanupModes.optional().describe('When the worktree is removed; default on-complete'),
})

/** `.claude/workflows/<name>.yaml`: a reusable way of working. */
export const Workflow = fileObject({
  name: z.string().min(1).describe('Display name of the workflow'),
  description: z.string().optional().describe('When to use it'),
  schemaVersion: z.union([z.string(), z.number()]).optional().describe('Version of the file format; "2.0"'),
  mode: SprintMode.optional().describe('ralph: goal-driven; standard: phases (the default)'),
  protocol: SprintProtocol.exclude(['notes'])
    .optional()
    .describe('Ralph mode: report (default): a JSON report; classic: PROGRESS.yaml by yq, and RALPH_COMPLETE'),
  report: z
    .enum(['required', 'optional'])
    .optional()
    .describe(
      'Standard mode: optional: an agent that ends well without a report has completed its phase; default required',
    ),
  phases: z.array(Phase).optional().describe('Standard mode: the phases, in order'),
  worktree: WorkflowWorktree.optional().describe('Gives each sprint its own git worktree'),
  goalPrompt: z.string().optional().describe('Text added to the planning prompt'),
  reflectionPrompt: z.string().optional().describe('Text added to the reflecting prompt'),
  perIterationHooks: z.array(Hook).optional().describe('Deterministic tasks that run after every iteration'),
  ...settings,
})
export type Workflow = z.output<typeof Workflow>
