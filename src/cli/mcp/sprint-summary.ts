import type { Progress } from '../../contract/progress.ts'
import { formatTimestamp } from '../../contract/time.ts'
import { clip, oneLine } from '../io/paint.ts'

const lastIterations = 5
const mostSteps = 20

/** The status of a sprint, short enough for a model to read. */
export function sprintSummary(progress: Progress, { folder, owner }: { folder: string; owner: string | undefined }) {
  const { stats, live, parked, humanNeeded, dynamicSteps, iterations } = progress
  const pending = dynamicSteps.filter(({ status }) => status === 'pending')
  return {
    ...overview(progress, { folder, owner }),
    reason: progress.reason,
    live: live.map(({ number, mode, stage, step, attempt }) => ({ number, mode, stage, step, attempt })),
    steps: {
      completed: stats.completedSteps,
      pending: pending.slice(0, mostSteps).map(({ id, prompt }) => ({ id, prompt: clip(oneLine(prompt), 200) })),
      morePending: Math.max(0, pending.length - mostSteps),
    },
    question: humanNeeded && { ...humanNeeded, askedAt: formatTimestamp(humanNeeded.askedAt) },
    parked: parked && { reason: parked.reason, until: formatTimestamp(parked.until) },
    costUsd: stats.costUsd,
    activeSeconds: Math.round(stats.activeMs / 1000),
    lastEventAt: stats.updatedAt === undefined ? undefined : formatTimestamp(stats.updatedAt),
    iterations: iterations.slice(-lastIterations).map(({ number, mode, verdict, summary, checks, costUsd }) => ({
      number,
      mode,
      verdict,
      summary: summary === undefined ? undefined : clip(oneLine(summary), 300),
      checks,
      costUsd,
    })),
  }
}

/** One line of a list. */
export const overview = (
  { sprintId, status, goal, stats }: Progress,
  { folder, owner }: { readonly folder: string; readonly owner: string | undefined },
) => ({
  folder,
  sprintId,
  status,
  running: owner ?? false,
  goal: clip(oneLine(goal), 300),
  iteration: stats.currentIteration,
})
