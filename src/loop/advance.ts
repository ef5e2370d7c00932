import { unlimitedIterations, type LiveIteration, type Progress } from '../contract/progress.ts'
import { onAttemptEnded } from './attempt.ts'
import { checksFor, onChecksEnded } from './checks.ts'
import type { Fact } from './fact.ts'
import { onHookEnded } from './hooks.ts'
import { beginIteration, rest } from './iteration.ts'
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
    return { progress, orders: [tell({ type: 'sprint-rested', status: progress.status, reason: progress.reason })] }
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
  const open = reopen(running)
  if (running.live.length > 0) return { progress: running, orders: [told, ...open] }
  return andThen([told, ...open], beginIteration(running, at))
}

/** The orders that were open when the last run ended, again. Who carries them out finds what they have left behind. */
function reopen(progress: Progress): Order[] {
  const hooks = progress.hookTasks
    .filter((task) => task.status === 'running')
    .map(({ iteration, hookId }): Order => ({ type: 'run-hook', iteration, hookId }))
  return [...progress.live.flatMap((live) => reopenIteration(progress, live)), ...hooks]
}

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
  const { parked } = progress
  const paused = rest(progress, 'paused', 'paused on request')
  return andThen([{ type: 'abort', what: 'waits' }], {
    ...paused,
    progress: { ...paused.progress, ...(parked && { parked }) },
  })
}

/** Everything is ended now; the iteration under way gets another attempt when the sprint is resumed. */
function onInterrupted(progress: Progress): Transition {
  const { parked } = progress
  const stopped = rest(progress, 'interrupted', 'interrupted by a signal')
  return andThen([{ type: 'abort', what: 'all' }], {
    ...stopped,
    progress: { ...stopped.progress, ...(parked && { parked }) },
  })
}

function onAnswered(progress: Progress, fact: Extract<Fact, { type: 'answered' }>): Transition {
  const { humanNeeded, reason: _reason, ...kept } = progress
  if (!humanNeeded) throw illegal(progress, fact, 'there is no open question')
  const answer = { question: humanNeeded.reason, answer: fact.answer, at: fact.at }
  return { progress: { ...kept, status: 'paused', answer }, orders: [] }
}
