import type { Fact } from '../loop/fact.ts'
import { buildReviewPrompt, readReview } from '../loop/review.ts'
import { liveOf, type Context, type Doing } from './context.ts'

/** A second agent looks at the work and says whether the goal's criteria are met. What it cannot say is a no. */
export async function runReview({ iteration }: Doing<'run-review'>, context: Context): Promise<Fact | undefined> {
  const { progress, ports, signal } = context
  const { review } = progress
  const live = liveOf(progress, iteration)
  const agent = ports.agents(review?.agent, review?.model)
  ports.observe({ type: 'check-started', iteration, name: `review by ${agent.name}` })
  const outcome = await agent.run(
    {
      attempt: `${iteration}-review`,
      transcript: `iter-${iteration}-review.jsonl`,
      prompt: buildReviewPrompt(progress, live.goalCompleteSummary ?? ''),
      timeouts: progress.timeouts,
      budget: {},
      onEvent: () => {},
    },
    signal,
  )
  if (signal.aborted) return undefined
  const at = ports.clock.now()
  if (outcome.status !== 'ok') {
    return {
      type: 'review-ended',
      at,
      iteration,
      passed: false,
      summary: `the reviewer could not work: ${outcome.reason ?? ''}`,
    }
  }
  return { type: 'review-ended', at, iteration, ...readReview(outcome.text) }
}
