import { noUsage } from '../contract/outcome.ts'
import {
  shown,
  type IterationRecord,
  type LiveIteration,
  type Progress,
  type SprintStatus,
} from '../contract/progress.ts'
import { chooseAgent } from './agents.ts'
import { isStuck, reachedLimit } from './limits.ts'
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
  const { agent } = chooseAgent(progress, at)
  const live: LiveIteration = {
    number,
    mode,
    ...(step && { step: step.id }),
    stage: pause ? 'waiting' : 'agent',
    attempt: 1,
    ...(agent !== undefined && { agent }),
    startedAt: at,
    ...(!pause && { promptedAt: at }),
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
  const record = recordOf(live, at)
  const { verdict } = record
  const { stats } = progress
  const withoutProgress = madeProgress(progress, live) ? 0 : stats.withoutProgress + 1
  const ended: Progress = {
    ...progress,
    live: progress.live.filter(({ number }) => number !== live.number),
    iterations: [...progress.iterations, record].slice(-shown.iterations),
    stats: { ...stats, activeMs: stats.activeMs + (at - live.startedAt), withoutProgress },
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

const recordOf = ({ number, mode, step, verdict = 'failed', ...live }: LiveIteration, at: number): IterationRecord => ({
  number,
  mode,
  ...(step !== undefined && { step }),
  verdict,
  ...(live.summary !== undefined && { summary: live.summary }),
  ...(live.rejected && { rejected: live.rejected }),
  ...(live.checks && { checks: live.checks }),
  ...(live.tampered && { tampered: live.tampered }),
  ...(live.review && { review: live.review }),
  ...(live.changed !== undefined && { changed: live.changed }),
  ...(live.checkpoint !== undefined && { checkpoint: live.checkpoint }),
  ...(live.agent !== undefined && { agent: live.agent }),
  ...(live.model !== undefined && { model: live.model }),
  ...(live.costEstimated && { costEstimated: live.costEstimated }),
  attempts: live.attempt,
  startedAt: live.startedAt,
  endedAt: at,
  costUsd: live.costUsd,
  usage: live.usage,
})

/** Files, steps or checks are not what they were. Where the files were not looked at, the agent gets the benefit of the doubt. */
function madeProgress({ limits, iterations, baseline = [] }: Progress, live: LiveIteration): boolean {
  if (limits.noProgress === 'off' || live.changed !== false || live.stepsChanged === true) return true
  if (!live.checks) return false
  const before = iterations.findLast(({ checks }) => checks)?.checks ?? baseline
  return live.checks.some(({ name, passed }) => before.find((check) => check.name === name)?.passed !== passed)
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
  if (progress.stopRequested) return restAs(progress, progress.stopRequested.as)
  const stuck = isStuck(progress) && record.mode === 'reflecting'
  if (stuck && !reachedLimit(progress)) return askWhatToDo(progress, record, at)
  return beginIteration(progress, at, pause)
}

/** It has reflected, and still nothing has changed. */
function askWhatToDo(progress: Progress, { number, summary = '' }: IterationRecord, at: number): Transition {
  const reason = `No progress in ${progress.stats.withoutProgress} iterations: no file, step or check has changed`
  const details = `The last thing the agent said: ${summary}`
  const humanNeeded = { reason, details, askedAt: at }
  const asked = tell({ type: 'question-asked', iteration: number, reason, details })
  const again = { ...progress, humanNeeded, stats: { ...progress.stats, withoutProgress: 0 } }
  return andThen([asked], rest(again, 'needs-human', reason))
}

/** On request, not by itself. */
export const restAs = (progress: Progress, as: 'paused' | 'interrupted'): Transition =>
  rest(progress, as, `${as} on request`)

/** Nothing more is ordered in a sprint that was stopped in the middle of an iteration. */
export const isStopped = ({ status }: Progress): boolean => status === 'interrupted' || status === 'paused'

/**
 * The sprint stops here for now: nothing new is ordered. What still runs (hooks in the background) is waited for. A usage
 * limit that is not over is kept: the next run goes on waiting for it.
 */
export function rest(progress: Progress, status: SprintStatus, reason?: string): Transition {
  const { reason: _before, stopRequested: _stop, ...kept } = progress
  const rested: Progress = { ...kept, status, ...(reason !== undefined && { reason }) }
  return { progress: rested, orders: [...notifying(rested), tell({ type: 'sprint-rested', status, reason })] }
}

/** People want to know when it ends or needs them, not when they have stopped it themselves. */
function notifying({ notify = [], status, reason, ralphExit, sprintId }: Progress): Order[] {
  if (notify.length === 0 || status === 'paused' || status === 'interrupted') return []
  const text = reason ?? ralphExit.finalSummary ?? ''
  return [{ type: 'notify', about: status, text: `${sprintId}: ${status}${text === '' ? '' : `: ${text}`}` }]
}
