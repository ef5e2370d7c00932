import type { FailureClass } from '../../contract/outcome.ts'
import type { WorkRef } from '../../contract/phases.ts'
import type { LiveIteration, Progress } from '../../contract/progress.ts'
import type { ErrorCategory } from '../../contract/settings.ts'
import type { AttemptEnd } from '../fact.ts'
import { soonestStart } from '../policy.ts'
import { withWork, workAt } from './work.ts'

export type WorkError = NonNullable<LiveIteration['error']>

/** The categories that `retry` speaks of. What is not in here is for the policy table alone. */
const categories: Partial<Record<FailureClass, ErrorCategory>> = {
  rate_limit: 'rate-limit',
  overloaded: 'network',
  network: 'network',
  hang: 'timeout',
  protocol: 'validation',
  crash: 'logic',
  unknown: 'logic',
  max_turns: 'logic',
  output_cap: 'logic',
  not_found: 'logic',
}

/** What is none of them counts as logic. */
export const categoryOf = (failure: FailureClass): ErrorCategory => categories[failure] ?? 'logic'

/** Notes another try of a work and when it may begin; undefined if `retry` of the sprint does not allow one. */
export function planRetry(
  progress: Progress,
  ref: WorkRef,
  { category, text }: WorkError,
  at: number,
): { readonly progress: Progress; readonly until: number } | undefined {
  const { retry } = progress
  const retryCount = (workAt(progress, ref).retryCount ?? 0) + 1
  if (!retry?.retryOn.includes(category) || retryCount >= retry.maxAttempts) return undefined
  const pauseMs = retry.backoffMs[retryCount - 1] ?? retry.backoffMs.at(-1) ?? 0
  const until = soonestStart(progress, at + pauseMs)
  const noted = { retryCount, nextRetryAt: until, error: text, errorCategory: category }
  return { progress: withWork(progress, ref, (work) => ({ ...work, ...noted })), until }
}

type Failed = Extract<AttemptEnd, { kind: 'failed' }>

/**
 * Whether the same iteration gets another attempt. `retry` of the sprint decides; without it the table of failures does, but
 * a program that ends by itself with an error has failed its work: only one that was killed is started again.
 */
export function planAttempt(progress: Progress, ref: WorkRef, end: Failed, at: number) {
  const category = categories[end.class]
  if (!category) return 'by-policy'
  if (progress.retry) return planRetry(progress, ref, { category, text: end.reason }, at)
  return end.class === 'crash' && end.exitCode !== undefined ? undefined : 'by-policy'
}
