import type { FailureClass, Usage } from '../contract/outcome.ts'
import type { CheckResult, RunLimits } from '../contract/progress.ts'
import type { Report } from '../contract/report.ts'
import type { Check } from '../contract/settings.ts'

/** How an attempt ended, as far as the loop cares. */
export type AttemptEnd =
  | { readonly kind: 'report'; readonly report: Report }
  | { readonly kind: 'malformed'; readonly reason: string }
  | {
      readonly kind: 'failed'
      readonly class: FailureClass
      readonly reason: string
      readonly retryable: boolean
      readonly resetsAt?: number | undefined
    }
  | { readonly kind: 'aborted' }

/** What has happened. Times and randomness are in the fact, so that the loop itself stays pure. */
export type Fact =
  | {
      readonly type: 'started'
      readonly at: number
      readonly runLimits?: RunLimits | undefined
      /** Checks found in the project; taken if the sprint names none. */
      readonly detectedChecks?: readonly Check[] | undefined
    }
  | {
      readonly type: 'attempt-ended'
      readonly at: number
      readonly iteration: number
      readonly attempt: number
      readonly end: AttemptEnd
      readonly usage: Usage
      /** Absent: unpriced. */
      readonly costUsd?: number | undefined
      /** In [0, 1): spreads the retries of many sprints. */
      readonly random: number
    }
  | { readonly type: 'wait-ended'; readonly at: number; readonly iteration: number }
  | {
      readonly type: 'checks-ended'
      readonly at: number
      readonly iteration: number
      readonly results: readonly CheckResult[]
    }
  | {
      readonly type: 'hook-ended'
      readonly at: number
      readonly iteration: number
      readonly hookId: string
      readonly exitCode: number | null
      readonly error?: string | undefined
      /** The last part of what a failed hook printed. */
      readonly output?: string | undefined
    }
  | { readonly type: 'pause-requested'; readonly at: number }
  | { readonly type: 'interrupted'; readonly at: number }
  | { readonly type: 'answered'; readonly at: number; readonly answer: string }
