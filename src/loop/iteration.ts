import { noUsage } from '../contract/outcome.ts'
import {
  shown,
  type IterationRecord,
  type LiveIteration,
  type Progress,
  type SprintStatus,
} from '../contract/progress.ts'
import { reachedLimit } from './limits.ts'
import { chooseMode } from './mode.ts'
import { andThen, tell, type Order, type Transition } from './order.ts'

/** A pause before the first attempt of an iteration. */
type Pause = { readonly ms: number; readonly reason: string }

/** Begins the next iteration, unless a limit is reached. With a pause, its first attempt waits. */
export function beginIteration(progress: Progress, at: number, pause?: Pause): Transition {
  const limit = reachedLimit(progress)
  if (limit) return rest(progress, 'limit-reached', limit)
  const number = progress.stats.currentIteration + 1
  const { mode, step, idleCount } = chooseMode(progress)
  const live: LiveIteration = {
    number,
    mode,
    ...(step && { step: step.id }),
    stage: pause ? 'waiting' : 'agent',
    attempt: 1,
    startedAt: at,
    costUsd: 0,
    usage: noUsage,
  }
  const next: Progress = {
    ...progress,
    ralph: { ...progress.ralph, idleCount },
    live: [...progress.live, live],
    stats: { ...progress.stats, currentIteration: number },
  }
  const started = tell({ type: 'iteration-started', iteration: number, mode, step: step?.id, stepPrompt: step?.prompt })
  const order: Order = pause
    ? { type: 'wait', iteration: number, until: at + pause.ms, reason: pause.reason }
    : { type: 'run-attempt', iteration: number, attempt: 1 }
  return { progress: next, orders: [started, order] }
}

/** Writes the receipt of an iteration and goes on, or rests. */
export function endIteration(progress: Progress, live: LiveIteration, at: number, pause?: Pause): Transition {
  const { stage: _stage, attempt, goalCompleteSummary: _claim, verdict = 'failed', ...kept } = live
  const record: IterationRecord = { ...kept, verdict, attempts: attempt, endedAt: at }
  const ended: Progress = {
    ...progress,
    live: progress.live.filter(({ number }) => number !== live.number),
    iterations: [...progress.iterations, record].slice(-shown.iterations),
    stats: { ...progress.stats, activeMs: progress.stats.activeMs + (at - live.startedAt) },
  }
  const told = tell({
    type: 'iteration-ended',
    iteration: live.number,
    verdict,
    summary: live.summary,
    durationMs: at - live.startedAt,
    costUsd: live.costUsd,
  })
  return andThen([told], afterIteration(ended, record, at, pause))
}

function afterIteration(progress: Progress, record: IterationRecord, at: number, pause?: Pause): Transition {
  if (record.verdict === 'accepted') {
    return rest({ ...progress, stats: { ...progress.stats, completedAt: at } }, 'completed')
  }
  if (progress.humanNeeded) {
    const { reason, details } = progress.humanNeeded
    const asked = tell({ type: 'question-asked', iteration: record.number, reason, details })
    return andThen([asked], rest(progress, 'needs-human', reason))
  }
  if (progress.status === 'blocked') return rest(progress, 'blocked', progress.reason)
  if (progress.status !== 'in-progress') return { progress, orders: [] }
  if (progress.pauseRequested) return rest(progress, 'paused', 'paused on request')
  return beginIteration(progress, at, pause)
}

/**
 * The sprint stops here for now: nothing new is ordered. What still runs (hooks in the background) is waited for. A usage
 * limit that is not over is kept: the next run goes on waiting for it.
 */
export function rest(progress: Progress, status: SprintStatus, reason?: string): Transition {
  const { reason: _before, pauseRequested: _pause, ...kept } = progress
  return {
    progress: { ...kept, status, ...(reason !== undefined && { reason }) },
    orders: [tell({ type: 'sprint-rested', status, reason })],
  }
}
