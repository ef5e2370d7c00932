import type { Progress } from '../../contract/progress.ts'
import { formatTimestamp } from '../../contract/time.ts'
import { clipLine, toOneLine } from '../../words/text.ts'

const lastIterations = 5
const maxSteps = 20

/** The status of a sprint, short enough for a model to read. */
export function summarizeSprint(progress: Progress, { folder, owner }: { folder: string; owner: string | undefined }) {
  const { stats, live, parked, humanNeeded, dynamicSteps, iterations } = progress
  const pending = dynamicSteps.filter(({ status }) => status === 'pending')
  return {
    ...summarizeSprintRow(progress, { folder, owner }),
    reason: progress.reason,
    live: live.map(({ number, mode, stage, step, attempt }) => ({ number, mode, stage, step, attempt })),
    steps: {
      completed: stats.completedSteps,
      pending: pending.slice(0, maxSteps).map(({ id, prompt }) => ({ id, prompt: clipLine(toOneLine(prompt), 200) })),
      morePending: Math.max(0, pending.length - maxSteps),
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
      summary: summary === undefined ? undefined : clipLine(toOneLine(summary), 300),
      checks,
      costUsd,
    })),
  }
}

/** One line of a list. */
export const summarizeSprintRow = (
  { sprintId, status, goal, stats }: Progress,
  { folder, owner }: { readonly folder: string; readonly owner: string | undefined },
) => ({
  folder,
  sprintId,
  status,
  running: owner ?? false,
  goal: clipLine(toOneLine(goal), 300),
  iteration: stats.currentIteration,
})
