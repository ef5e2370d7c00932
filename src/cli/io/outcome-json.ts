import type { Outcome } from '../../contract/outcome.ts'
import { formatTimestamp } from '../../contract/time.ts'

/** An outcome as JSON for programs: every field is present, even if empty. */
export const encodeOutcome = ({
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
