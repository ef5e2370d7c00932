import { z } from 'zod'
import { fileObject } from './file-object.ts'
import { Hook, settings } from './settings.ts'

export const SprintMode = z.enum(['standard', 'ralph'])

/** `.claude/workflows/<name>.yaml`: a reusable way of working. */
export const Workflow = fileObject({
  name: z.string().min(1).describe('What people call this workflow'),
  description: z.string().optional(),
  schemaVersion: z.string().optional(),
  mode: SprintMode.optional().describe('ralph: goal-driven; standard: phases (the default)'),
  goalPrompt: z.string().optional().describe('Added to the planning prompt'),
  reflectionPrompt: z.string().optional().describe('Added to the reflecting prompt'),
  perIterationHooks: z.array(Hook).optional().describe('Deterministic tasks after every iteration'),
  ...settings,
})
export type Workflow = z.output<typeof Workflow>
