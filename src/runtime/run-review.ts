import type { Outcome } from '../contract/outcome.ts'
import type { Fact } from '../loop/core/fact.ts'
import { getRemainingBudget } from '../loop/core/limits.ts'
import { buildReviewPrompt, readReview } from '../loop/iteration/review.ts'
import { fromProgress } from '../loop/progress-codec.ts'
import { requireLiveIteration, type OrderContext, type OrderByType } from './context.ts'
import { createFailedStart, pickExpense } from './outcomes.ts'
import { rethrowDiskFull } from './disk-space.ts'

/** Asks a second agent whether the goal's criteria are met. An unclear answer counts as no. */
export async function runReview(
  { iteration }: OrderByType<'run-review'>,
  context: OrderContext,
): Promise<Fact | undefined> {
  const { progress, ports, signal } = context
  const live = requireLiveIteration(progress, iteration)
  const prompt = buildReviewPrompt(fromProgress(progress), live.goalCompleteSummary ?? '', live.survivors)
  const outcome = await askReviewer(prompt, iteration, context).catch(rethrowDiskFull(createFailedStart))
  if (signal.aborted) return undefined
  const ended = { type: 'review-ended' as const, at: ports.clock.now(), iteration, spent: pickExpense(outcome) }
  if (outcome.status === 'ok') return { ...ended, ...readReview(outcome.text, prompt) }
  const summary = `the review failed: ${outcome.reason ?? outcome.status}`
  return { ...ended, passed: false, summary, unable: true }
}

async function askReviewer(
  prompt: string,
  iteration: number,
  { progress, ports, signal }: OrderContext,
): Promise<Outcome> {
  const { review, timeouts } = progress
  const agent = ports.agents(review?.agent, review?.model)
  ports.observe({ type: 'check-started', iteration, name: `review by ${agent.name}` })
  return agent.run(
    {
      attempt: `${iteration}-review`,
      transcript: `iter-${iteration}-review.jsonl`,
      prompt,
      timeouts,
      budget: getRemainingBudget(fromProgress(progress)),
      onEvent: () => {},
    },
    signal,
  )
}
