import { z } from 'zod'
import { Timestamp } from '../time.ts'
import { Uuid } from './page.ts'

export const QuestionStatus = z.enum(['open', 'answered', 'expired', 'superseded', 'dismissed'])
export type QuestionStatus = z.infer<typeof QuestionStatus>

/** A question that only a person can answer. */
export const SprintQuestion = z.object({
  id: Uuid,
  sprintId: Uuid,
  agentId: Uuid,
  agentName: z.string(),
  goal: z.string(),
  status: QuestionStatus,
  /** The question in one sentence. */
  reason: z.string(),
  details: z.string(),
  options: z.array(z.string()).optional(),
  default: z.string().optional(),
  iteration: z.int().optional(),
  askedAt: Timestamp,
  answer: z.string().optional(),
  answeredBy: z.string().optional(),
  answeredAt: Timestamp.optional(),
})
export type SprintQuestion = z.output<typeof SprintQuestion>
