import { z } from 'zod'
import { Timestamp } from '../time.ts'
import { Uuid } from './page.ts'

export const PromptStatus = z.enum(['queued', 'running', 'finished', 'failed', 'cancelled', 'parked'])
export type PromptStatus = z.infer<typeof PromptStatus>

/** One prompt to one agent: a person's own, or one of the loop's. The seed's AgentPrompt. */
export const AgentPrompt = z.object({
  id: Uuid,
  agentId: Uuid,
  prompt: z.string(),
  status: PromptStatus,
  model: z.string().optional(),
  /** Who asked: a user's name, or the loop. */
  by: z.string(),
  sprintId: Uuid.optional(),
  iteration: z.int().optional(),
  /** How often it has been given to the agent. */
  attempt: z.int(),
  /** Order in the queue; only its comparison means anything. */
  position: z.number(),
  /** The machine may start it until then. */
  leaseUntil: Timestamp.optional(),
  error: z.string().optional(),
  /** What the agent said last. */
  answer: z.string().optional(),
  costUsd: z.number().optional(),
  createdAt: Timestamp,
  startedAt: Timestamp.optional(),
  endedAt: Timestamp.optional(),
})
export type AgentPrompt = z.output<typeof AgentPrompt>
