import { z } from 'zod'

/** Maximum number of new steps per report (DESIGN §6). */
export const maxNewSteps = 1000

/** Step prompts are kept byte for byte. */
const stepText = z.string().refine((text) => text.trim() !== '', { error: 'must not be empty' })

const PendingStep = z.object({ id: z.string().nullable(), prompt: stepText })

const reportFields = {
  summary: z.string(),
  completedStepIds: z.array(z.string()).default([]),
  pendingSteps: z.array(PendingStep).default([]),
}

const HumanNeeded = z.object({
  reason: z.string().trim().min(1),
  details: z.string(),
  /** Answers to choose from, and the default if the user does not answer. */
  options: z.array(z.string()).optional(),
  default: z.string().optional(),
})

/** The agent's report at the end of an iteration: the JSON of seed 001, with the required fields of each status. */
export const Report = z.discriminatedUnion('status', [
  z.object({ status: z.literal('continue'), ...reportFields }),
  z.object({ status: z.literal('goal-complete'), ...reportFields, goalCompleteSummary: z.string().trim().min(1) }),
  z.object({ status: z.literal('needs-human'), ...reportFields, humanNeeded: HumanNeeded }),
])

export type Report = z.infer<typeof Report>
export type ReportStatus = Report['status']

/** The agent's report at the end of a phase. */
export const PhaseReport = z.discriminatedUnion('status', [
  z.object({ status: z.literal('completed'), summary: z.string() }),
  z.object({ status: z.literal('failed'), summary: z.string(), error: z.string().optional() }),
  z.object({
    status: z.literal('needs-human'),
    summary: z.string(),
    humanNeeded: z.object({ ...HumanNeeded.shape, details: z.string().default('') }),
  }),
])
export type PhaseReport = z.infer<typeof PhaseReport>
