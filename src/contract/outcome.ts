import { z } from 'zod'
import type { WallsUse } from './cell.ts'
import { fileObject } from './file-object.ts'
import { Timestamp } from './time.ts'

/** Why an attempt failed. One vocabulary for all drivers; `loop/policy.ts` is a table over these classes. */
export const FailureClass = z.enum([
  'rate_limit',
  'usage_limit',
  'overloaded',
  'auth',
  'context',
  'network',
  'protocol',
  'tool_denied',
  'max_turns',
  'budget',
  'crash',
  'hang',
  'output_cap',
  'not_found',
  'unknown',
])
export type FailureClass = z.infer<typeof FailureClass>

export const Usage = fileObject({
  inputTokens: z.number().default(0),
  outputTokens: z.number().default(0),
  cacheReadTokens: z.number().default(0),
  cacheWriteTokens: z.number().default(0),
})
export type Usage = z.output<typeof Usage>

export const noUsage: Usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 }

/** How one attempt ended, read from the agent's structured output and from how its process exited. */
export const Outcome = fileObject({
  status: z.enum(['ok', 'failed', 'aborted', 'timeout']),
  class: FailureClass.optional(),
  retryable: z.boolean(),
  /** When the usage limit resets. */
  resetsAt: Timestamp.optional(),
  /** One sentence for people: what went wrong. */
  reason: z.string().optional(),
  /** What a person has to decide before the agent can continue. */
  question: fileObject({ reason: z.string(), details: z.string(), options: z.array(z.string()).optional() }).optional(),
  /** The final message, which is searched for a report. */
  text: z.string(),
  structured: z.unknown().optional(),
  sessionId: z.string().optional(),
  usage: Usage,
  /** Absent means unpriced, not zero. */
  costUsd: z.number().optional(),
  /** The cost comes from our own price list, not from the provider. */
  costEstimated: z.boolean().optional(),
  model: z.string().optional(),
  resumable: z.boolean().default(false),
  /** Exit code of the process; null if it was killed or is unknown. */
  exitCode: z.int().nullable().optional(),
  /** What stood between its process and the machine. */
  walls: z.custom<WallsUse>().optional(),
})
export type Outcome = z.output<typeof Outcome>
export type AgentQuestion = NonNullable<Outcome['question']>
