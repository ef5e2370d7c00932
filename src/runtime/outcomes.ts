import { RalphError } from '../contract/errors.ts'
import { noUsage, type Outcome } from '../contract/outcome.ts'
import type { Spent } from '../loop/cost.ts'

/** A failed start is a failed attempt: the loop decides what to do, and the run continues. */
export function notStarted(error: unknown): Outcome {
  const isMissing = error instanceof RalphError && error.code === 'AGENT_NOT_FOUND'
  return {
    status: 'failed',
    class: isMissing ? 'not_found' : 'crash',
    retryable: !isMissing,
    reason: `could not start: ${messageOf(error)}`,
    text: '',
    usage: noUsage,
    costUsd: 0,
    resumable: false,
  }
}

/** The usage and cost of an outcome. */
export const spentOf = ({ usage, costUsd, costEstimated }: Outcome): Spent => ({
  usage,
  ...(costUsd !== undefined && { costUsd }),
  ...(costEstimated && { costEstimated }),
})

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
