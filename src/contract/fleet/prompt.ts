import { z } from 'zod'
import { Timestamp } from '../time.ts'
import { Uuid } from './page.ts'

export const PromptStatus = z.enum(['queued', 'running', 'finished', 'failed', 'cancelled', 'parked'])
export type PromptStatus = z.infer<typeof PromptStatus>

/** One prompt to one agent, from a user or from the loop. The seed's AgentPrompt. */
export const AgentPrompt = z.object({
  id: Uuid,
  agentId: Uuid,
  prompt: z.string(),
  status: PromptStatus,
  model: z.string().optional(),
  /** The requester: a user's name, or the loop. */
  by: z.string(),
  sprintId: Uuid.optional(),
  iteration: z.int().optional(),
  /** How many times it was sent to the agent. */
  attempt: z.int(),
  /** Order in the queue; only comparisons are meaningful. */
  position: z.number(),
  /** The machine must start it before this time. */
  leaseUntil: Timestamp.optional(),
  error: z.string().optional(),
  /** The agent's last message. */
  answer: z.string().optional(),
  costUsd: z.number().optional(),
  createdAt: Timestamp,
  startedAt: Timestamp.optional(),
  endedAt: Timestamp.optional(),
})
export type AgentPrompt = z.output<typeof AgentPrompt>
