import { z } from 'zod'
import { fileObject } from './file-object.ts'
import { Timestamp } from './time.ts'

/** Why an attempt did not end well. One vocabulary for all drivers; the policy of the loop is a table over these. */
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

/** How one attempt ended, as read from the agent's own structured output and the way its process ended. */
export const Outcome = fileObject({
  status: z.enum(['ok', 'failed', 'aborted', 'timeout']),
  class: FailureClass.optional(),
  retryable: z.boolean(),
  /** When a usage limit ends. */
  resetsAt: Timestamp.optional(),
  /** One sentence for people: what went wrong. */
  reason: z.string().optional(),
  /** What a person has to decide before it can go on. */
  question: fileObject({ reason: z.string(), details: z.string(), options: z.array(z.string()).optional() }).optional(),
  /** The final message, where a report is looked for. */
  text: z.string(),
  structured: z.unknown().optional(),
  sessionId: z.string().optional(),
  usage: Usage,
  /** Absent means unpriced, which is not zero. */
  costUsd: z.number().optional(),
  /** The price is by our own list, not by the provider. */
  costEstimated: z.boolean().optional(),
  model: z.string().optional(),
  resumable: z.boolean().default(false),
  /** As the process ended; null if it was killed or is unknown. */
  exitCode: z.int().nullable().optional(),
})
export type Outcome = z.output<typeof Outcome>
export type Question = NonNullable<Outcome['question']>
