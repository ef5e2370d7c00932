import type { Outcome } from '../../contract/outcome.ts'
import { formatTimestamp } from '../../contract/time.ts'

/** An outcome for programs: every field is there, also those that have nothing to say. */
export const outcomeJson = ({
  status,
  class: failure,
  retryable,
  resetsAt,
  sessionId,
  usage,
  costUsd,
  text,
}: Outcome) => ({
  status,
  class: failure ?? null,
  retryable,
  resetsAt: resetsAt === undefined ? null : formatTimestamp(resetsAt),
  sessionId: sessionId ?? null,
  usage,
  costUsd: costUsd ?? null,
  text,
})
