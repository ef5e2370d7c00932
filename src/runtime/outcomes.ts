import { RalphError, errorMessage } from '../contract/errors.ts'
import { noUsage, type Outcome } from '../contract/outcome.ts'
import type { Expense } from '../loop/core/cost.ts'

/** A failed start is a failed attempt: the loop decides what to do, and the run continues. */
export function createFailedStart(error: unknown): Outcome {
  const isMissing = error instanceof RalphError && error.code === 'AGENT_NOT_FOUND'
  return {
    status: 'failed',
    class: isMissing ? 'not_found' : 'crash',
    retryable: !isMissing,
    reason: `could not start: ${errorMessage(error)}`,
    text: '',
    usage: noUsage,
    costUsd: 0,
    resumable: false,
  }
}

/** The usage and cost of an outcome. */
export const pickExpense = ({ usage, costUsd, costEstimated }: Outcome): Expense => ({
  usage,
  ...(costUsd !== undefined && { costUsd }),
  ...(costEstimated && { costEstimated }),
})
