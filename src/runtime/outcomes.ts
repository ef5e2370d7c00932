import { RalphError } from '../contract/errors.ts'
import { noUsage, type Outcome } from '../contract/outcome.ts'
import type { Spent } from '../loop/cost.ts'

/** What cannot even be started has failed like anything else: the loop knows what to do about it, and the run goes on. */
export function notStarted(error: unknown): Outcome {
  const isMissing = error instanceof RalphError && error.code === 'AGENT_NOT_FOUND'
  return {
    status: 'failed',
    class: isMissing ? 'not_found' : 'crash',
    retryable: !isMissing,
    reason: `it could not be started: ${messageOf(error)}`,
    text: '',
    usage: noUsage,
    costUsd: 0,
    resumable: false,
  }
}

/** What it used, without what it said. */
export const spentOf = ({ usage, costUsd, costEstimated }: Outcome): Spent => ({
  usage,
  ...(costUsd !== undefined && { costUsd }),
  ...(costEstimated && { costEstimated }),
})

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
