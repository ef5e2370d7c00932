import type { Outcome } from '../contract/outcome.ts'
import type { Fact } from '../loop/fact.ts'
import { budgetOf } from '../loop/limits.ts'
import { buildReviewPrompt, readReview } from '../loop/review.ts'
import { liveOf, type Context, type Doing } from './context.ts'
import { notStarted, spentOf } from './outcomes.ts'
import { unlessDiskFull } from './disk-space.ts'

/** Asks a second agent whether the goal's criteria are met. An unclear answer counts as no. */
export async function runReview({ iteration }: Doing<'run-review'>, context: Context): Promise<Fact | undefined> {
  const { progress, ports, signal } = context
  const prompt = buildReviewPrompt(progress, liveOf(progress, iteration).goalCompleteSummary ?? '')
  const outcome = await askReviewer(prompt, iteration, context).catch(unlessDiskFull(notStarted))
  if (signal.aborted) return undefined
  const ended = { type: 'review-ended' as const, at: ports.clock.now(), iteration, spent: spentOf(outcome) }
  if (outcome.status === 'ok') return { ...ended, ...readReview(outcome.text, prompt) }
  const summary = `the review failed: ${outcome.reason ?? outcome.status}`
  return { ...ended, passed: false, summary, unable: true }
}

async function askReviewer(prompt: string, iteration: number, { progress, ports, signal }: Context): Promise<Outcome> {
  const { review, timeouts } = progress
  const agent = ports.agents(review?.agent, review?.model)
  ports.observe({ type: 'check-started', iteration, name: `review by ${agent.name}` })
  return agent.run(
    {
      attempt: `${iteration}-review`,
      transcript: `iter-${iteration}-review.jsonl`,
      prompt,
      timeouts,
      budget: budgetOf(progress),
      onEvent: () => {},
    },
    signal,
  )
}
