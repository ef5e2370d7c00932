import { unlimitedIterations, type LiveIteration, type Progress } from '../contract/progress.ts'
import { onAttemptEnded } from './attempt.ts'
import { checksFor, onChecksEnded } from './checks.ts'
import type { Fact } from './fact.ts'
import { isHookRunning, onHookEnded, runHooks } from './hooks.ts'
import { beginIteration, rest } from './iteration.ts'
import { spentLimit } from './limits.ts'
import { illegal, liveIteration, withLive } from './live.ts'
import { andThen, tell, type Order, type Transition } from './order.ts'

/** The whole loop in one function: from where we are and what happened, to where we go and what to do next. */
export function advance(progress: Progress, fact: Fact): Transition {
  const next = decide(progress, fact)
  return { progress: { ...next.progress, rev: progress.rev + 1 }, orders: next.orders }
}

function decide(progress: Progress, fact: Fact): Transition {
  switch (fact.type) {
    case 'started':
      return onStarted(progress, fact)
    case 'attempt-ended':
      return onAttemptEnded(progress, fact)
    case 'wait-ended':
      return onWaitEnded(progress, fact)
    case 'checks-ended':
      return onChecksEnded(progress, fact)
    case 'hook-ended':
      return onHookEnded(progress, fact)
    case 'pause-requested':
      return onPauseRequested(progress)
    case 'interrupted':
      return onInterrupted(progress)
    case 'answered':
      return onAnswered(progress, fact)
  }
}

/** A run begins: for the first time, after a rest, or after a crash. What was under way goes on where it was. */
function onStarted(progress: Progress, fact: Extract<Fact, { type: 'started' }>): Transition {
  if (progress.status === 'completed' || progress.status === 'needs-human') {
    const rested = tell({ type: 'sprint-rested', status: progress.status, reason: progress.reason })
    return { progress, orders: progress.status === 'completed' ? [...reopenHooks(progress), rested] : [rested] }
  }
  const { reason: _reason, failure: _failure, pauseRequested: _pause, runLimits: _before, ...kept } = progress
  const { at, runLimits, detectedChecks } = fact
  const { limits, parked, stats, doneWhen = detectedChecks } = progress
  const configured = limits.iterations === 'off' ? unlimitedIterations : limits.iterations
  const running: Progress = {
    ...kept,
    status: parked ? 'parked' : 'in-progress',
    ...(doneWhen && { doneWhen: [...doneWhen] }),
    ...(runLimits && { runLimits }),
    stats: { ...stats, startedAt: stats.startedAt ?? at, maxIterations: runLimits?.iterations ?? configured },
  }
  const told = tell({ type: 'sprint-started', resumed: stats.startedAt !== null })
  return andThen([told, ...reopen(running)], goOn(running, at))
}

/** The next iteration, or what follows in one that was interrupted between two of its hooks. */
function goOn(progress: Progress, at: number): Transition {
  if (progress.live.length === 0) return beginIteration(progress, at)
  return progress.live
    .filter(({ stage, number }) => stage === 'hooks' && !isHookRunning(progress, number))
    .reduce<Transition>((so, live) => andThen(so.orders, runHooks(so.progress, live, at)), { progress, orders: [] })
}

/** The orders that were open when the last run ended, again. Who carries them out finds what they have left behind. */
const reopen = (progress: Progress): Order[] => [
  ...progress.live.flatMap((live) => reopenIteration(progress, live)),
  ...reopenHooks(progress),
]

const reopenHooks = ({ hookTasks }: Progress): Order[] =>
  hookTasks
    .filter((task) => task.status === 'running')
    .map(({ iteration, hookId }) => ({ type: 'run-hook', iteration, hookId }))

function reopenIteration(progress: Progress, live: LiveIteration): Order[] {
  const { number: iteration, attempt } = live
  switch (live.stage) {
    case 'agent':
      return [{ type: 'run-attempt', iteration, attempt }]
    case 'waiting':
      return [
        { type: 'wait', iteration, until: progress.parked?.until ?? 0, reason: progress.parked?.reason ?? 'resumed' },
      ]
    case 'checks':
      return [{ type: 'run-checks', iteration, names: checksFor(progress, live) }]
    case 'hooks':
      return []
  }
}

function onWaitEnded(progress: Progress, fact: Extract<Fact, { type: 'wait-ended' }>): Transition {
  const live = liveIteration(progress, fact.iteration, fact)
  if (live.stage !== 'waiting') throw illegal(progress, fact, 'it is not waiting')
  if (progress.status !== 'in-progress' && progress.status !== 'parked') return { progress, orders: [] }
  const { parked: _parked, ...kept } = progress
  const limit = spentLimit(progress)
  if (limit) return rest(kept, 'limit-reached', limit)
  const { number: iteration, attempt } = live
  return {
    progress: withLive({ ...kept, status: 'in-progress' }, { ...live, stage: 'agent' }),
    orders: [{ type: 'run-attempt', iteration, attempt }],
  }
}

/** The iteration under way is finished first. One that only waits for its next attempt is left as it is. */
function onPauseRequested(progress: Progress): Transition {
  if (progress.status !== 'in-progress' && progress.status !== 'parked') return { progress, orders: [] }
  if (progress.live.some(({ stage }) => stage !== 'waiting')) {
    return { progress: { ...progress, pauseRequested: true }, orders: [] }
  }
  return andThen([{ type: 'abort', what: 'waits' }], rest(progress, 'paused', 'paused on request'))
}

/**
 * Everything is ended now; the iteration under way gets another attempt when the sprint is resumed. A sprint that rests
 * already (only its hooks still run) goes on resting: a reached goal stays reached, an open question stays open.
 */
function onInterrupted(progress: Progress): Transition {
  const abort: Order = { type: 'abort', what: 'all' }
  const { status, live } = progress
  const finishing = status === 'blocked' && live.some(({ stage }) => stage !== 'waiting')
  if (status !== 'in-progress' && status !== 'parked' && !finishing) return { progress, orders: [abort] }
  return andThen([abort], rest(progress, 'interrupted', 'interrupted by a signal'))
}

function onAnswered(progress: Progress, fact: Extract<Fact, { type: 'answered' }>): Transition {
  const { humanNeeded, reason: _reason, ...kept } = progress
  if (!humanNeeded || progress.status !== 'needs-human') throw illegal(progress, fact, 'there is no open question')
  const answer = { question: humanNeeded.reason, answer: fact.answer, at: fact.at }
  return { progress: { ...kept, status: 'paused', answer }, orders: [] }
}
