import { z } from 'zod'

/** The most new steps that one report may add (DESIGN §6). */
export const maxNewSteps = 1000

const PendingStep = z.object({ id: z.string().nullable(), prompt: z.string().trim().min(1) })

const reported = {
  summary: z.string(),
  completedStepIds: z.array(z.string()).default([]),
  pendingSteps: z.array(PendingStep).default([]),
}

const HumanNeeded = z.object({
  reason: z.string().trim().min(1),
  details: z.string(),
  /** Answers to choose from, and the one to take if nobody answers. */
  options: z.array(z.string()).optional(),
  default: z.string().optional(),
})

/** What an agent says at the end of an iteration: the JSON of seed 001, with its required fields per status. */
export const Report = z.discriminatedUnion('status', [
  z.object({ status: z.literal('continue'), ...reported }),
  z.object({ status: z.literal('goal-complete'), ...reported, goalCompleteSummary: z.string().trim().min(1) }),
  z.object({ status: z.literal('needs-human'), ...reported, humanNeeded: HumanNeeded }),
])

export type Report = z.infer<typeof Report>
export type ReportStatus = Report['status']
