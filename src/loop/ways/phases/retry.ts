import type { FailureClass } from '../../../contract/outcome.ts'
import type { WorkRef } from '../../../contract/phases.ts'
import type { LiveIteration } from '../../../contract/progress.ts'
import type { ErrorCategory } from '../../../contract/settings.ts'
import { getEarliestStart } from '../../core/policy.ts'
import type { Sprint } from '../../core/sprint.ts'
import type { FailedEnd, RetryPlan } from '../../core/way.ts'
import { updateWork, getWork } from './work.ts'

export type WorkError = NonNullable<LiveIteration['error']>

/** Categories for the `retry` setting. Classes that are missing here follow the policy table alone. */
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

/** Unmapped classes count as logic. */
export const getErrorCategory = (failure: FailureClass): ErrorCategory => categories[failure] ?? 'logic'

/** Schedules a retry of the work; undefined if the `retry` setting does not allow one. */
export function planRetry(
  sprint: Sprint,
  ref: WorkRef,
  { category, text }: WorkError,
  at: number,
): { readonly sprint: Sprint; readonly until: number } | undefined {
  const { retry } = sprint.plan
  const retryCount = (getWork(sprint, ref).retryCount ?? 0) + 1
  if (!retry?.retryOn.includes(category) || retryCount >= retry.maxAttempts) return undefined
  const pauseMs = retry.backoffMs[retryCount - 1] ?? retry.backoffMs.at(-1) ?? 0
  const until = getEarliestStart(sprint, at + pauseMs)
  const plannedRetry = { retryCount, nextRetryAt: until, error: text, errorCategory: category }
  return { sprint: updateWork(sprint, ref, (work) => ({ ...work, ...plannedRetry })), until }
}

/**
 * Decides whether the same iteration gets another attempt. The `retry` setting decides; without it the policy table does, except
 * that a program that exits with an error has failed its work: only a killed one is started again.
 */
export function planAttempt(sprint: Sprint, { work: ref }: LiveIteration, end: FailedEnd, at: number): RetryPlan {
  const category = categories[end.class]
  if (!ref || !category) return 'by-policy'
  if (sprint.plan.retry) return planRetry(sprint, ref, { category, text: end.reason }, at)
  return end.class === 'crash' && end.exitCode !== undefined ? undefined : 'by-policy'
}
