import { formatTimestamp } from '../contract/time.ts'
import { historyLimits, unlimitedIterations, type LiveIteration, type Progress } from '../contract/progress.ts'
import { onAttemptEnded } from './attempt.ts'
import { getCheckName, listDueChecks, onChecksEnded, onReviewEnded } from './checks.ts'
import { chooseAgent } from './agents.ts'
import { applyEdits } from './edits.ts'
import type { Fact } from './fact.ts'
import { isHookRunning, onCheckpointMade, onHookEnded, runHooks } from './hooks.ts'
import { startAttempt } from './interrupted.ts'
import { startIteration } from './iteration.ts'
import { describeSpentLimit } from './limits.ts'
import { createIllegalFact, getLiveIteration, replaceLive } from './live-iteration.ts'
import { andThen, emitEvent, type Order, type Transition } from './order.ts'
import { acceptByAnswer } from './proof.ts'
import { recompile } from './recompile.ts'
import { scheduleRest, isEnding, restOnRequest } from './rest.ts'
import { onGateEnded } from './standard/gate.ts'
import { isBaselineDue, proceed } from './standard/start-work.ts'
import { reopenFailed, resumeInterrupted } from './standard/reopen-failed.ts'
import { getWork } from './standard/work.ts'
import { onWorktreeCleaned, cleanUpWorktree } from './worktree.ts'

/** The loop in one function: takes the current state and a fact, returns the next state and the orders to execute. */
export function advance(progress: Progress, fact: Fact): Transition {
  const decided = decideTransition(countActiveTime(progress, fact), fact)
  const next =
    progress.mode === 'standard' && startsWork(fact)
      ? andThen(decided.orders, proceed(decided.progress, fact.at))
      : decided
  const orders = [...next.orders, ...cleanUpWorktree(progress, next.progress, fact)]
  return { progress: { ...next.progress, rev: progress.rev + 1 }, orders }
}

/** These facts can arrive while no run is active, so they start nothing. */
const startsWork = ({ type }: Fact): boolean => !['recompiled', 'answered', 'told', 'notified'].includes(type)

/** Time since the last fact counts as work if something was running. Time between runs does not. */
function countActiveTime(progress: Progress, { type, at }: Fact): Progress {
  const { status, live, stats } = progress
  const atWork = status === 'in-progress' && (live.length === 0 || live.some(({ stage }) => stage !== 'waiting'))
  const passed = atWork && type !== 'started' ? at - (stats.updatedAt ?? at) : 0
  return { ...progress, stats: { ...stats, activeMs: stats.activeMs + (passed > 0 ? passed : 0), updatedAt: at } }
}

function decideTransition(progress: Progress, fact: Fact): Transition {
  switch (fact.type) {
    case 'started':
      return onStarted(progress, fact)
    case 'attempt-ended':
      return onAttemptEnded(progress, fact)
    case 'wait-ended':
      return onWaitEnded(progress, fact)
    case 'checks-ended':
      return onChecksEnded(progress, fact)
    case 'gate-ended':
      return onGateEnded(progress, fact)
    case 'hook-ended':
      return onHookEnded(progress, fact)
    case 'review-ended':
      return onReviewEnded(progress, fact)
    case 'checkpoint-made':
      return onCheckpointMade(progress, fact)
    case 'stop-requested':
      return onStopRequested(progress, fact)
    case 'worktree-cleaned':
      return onWorktreeCleaned(progress, fact)
    case 'notified':
      return onNotified(progress, fact)
    case 'recompiled':
      return { progress: recompile(progress, fact.compiled, fact.at).progress, orders: [] }
    case 'answered':
      return onAnswered(progress, fact)
    case 'told':
      return onUserMessage(progress, fact)
    case 'edited':
      return onEdited(progress, fact)
  }
}

/** Starts a run: the first one, after a rest, or after a crash. Continues whatever was interrupted. */
function onStarted(progress: Progress, fact: Extract<Fact, { type: 'started' }>): Transition {
  if (progress.status === 'completed' || progress.status === 'needs-human') {
    const rested = emitEvent({ type: 'sprint-rested', status: progress.status, reason: progress.reason })
    return { progress, orders: progress.status === 'completed' ? [...reissueHooks(progress), rested] : [rested] }
  }
  const cleared = clearRunState(progress)
  const { at, runLimits, detectedChecks, agents, choice, worktree } = fact
  const { limits, parked, stats, doneWhen = detectedChecks } = progress
  const configured = limits.iterations === 'off' ? unlimitedIterations : limits.iterations
  const running: Progress = {
    ...cleared,
    status: parked ? 'parked' : 'in-progress',
    ...(doneWhen && { doneWhen: [...doneWhen] }),
    ...(runLimits && { runLimits }),
    ...(agents && { runAgents: [...agents] }),
    ...(choice && { runChoice: choice }),
    ...(worktree && { worktreeState: worktree }),
    stats: { ...stats, startedAt: stats.startedAt ?? at, maxIterations: runLimits?.iterations ?? configured },
  }
  const startedEvent = emitEvent({ type: 'sprint-started', resumed: stats.startedAt !== null })
  const chosen = resumeInterrupted(reassignWaiting(running, at), at)
  return andThen([startedEvent, ...describeParked(chosen, at), ...reissueOrders(chosen)], continueRun(chosen, at))
}

/** Drops the fields that belonged to the last run, and why it ended. */
function clearRunState(progress: Progress): Progress {
  const { reason: _reason, failure: _failure, stopRequested: _stop, runLimits: _limits, ...kept } = progress
  const { runChoice: _choice, error: _error, failedPhase: _failed, blockedAt: _at, ending, ...fresh } = kept
  const { breakpointPhaseId: _breakpoint, ...ready } = fresh
  return reopenFailed({ ...ready, ...(ending && ending.status !== 'limit-reached' && { ending }) })
}

/** Moves waiting iterations to an agent of this run that is free, so that they need not wait. */
function reassignWaiting(progress: Progress, at: number): Progress {
  const { agent, until } = chooseAgent(progress, at)
  const waiting = progress.live.filter(({ stage, agent: before }) => stage === 'waiting' && before !== undefined)
  if (progress.mode !== 'ralph' || agent === undefined || until !== undefined || waiting.length === 0) return progress
  const { parked: _parked, ...kept } = progress
  return waiting.reduce<Progress>((result, live) => replaceLive(result, { ...live, agent }), {
    ...kept,
    status: 'in-progress',
  })
}

/** Explains why the sprint stays silent, possibly for hours. */
function describeParked({ parked }: Progress, at: number): Order[] {
  if (!parked || parked.until <= at) return []
  return [createNote('info', `waits until ${formatTimestamp(parked.until)}: ${parked.reason}`)]
}

/** Runs the baseline, starts the next iteration, or continues one that was stopped between two hooks. */
function continueRun(progress: Progress, at: number): Transition {
  const { doneWhen = [], live: lives, mode } = progress
  if (isBaselineDue(progress)) {
    return { progress, orders: [{ type: 'run-checks', iteration: 0, names: doneWhen.map(getCheckName) }] }
  }
  if (lives.length === 0 && mode === 'ralph') return startIteration(progress, at)
  return progress.live
    .filter(({ stage, number }) => stage === 'hooks' && !isHookRunning(progress, number))
    .reduce<Transition>((transition, live) => andThen(transition.orders, runHooks(transition.progress, live, at)), {
      progress,
      orders: [],
    })
}

/** Reissues the orders that were open when the last run ended. The runtime joins what is still running. */
const reissueOrders = (progress: Progress): Order[] => [
  ...progress.live.flatMap((live) => reissueIteration(progress, live)),
  ...reissueHooks(progress),
]

const reissueHooks = ({ hookTasks }: Progress): Order[] =>
  hookTasks
    .filter((task) => task.status === 'running')
    .map(({ iteration, hookId }) => ({ type: 'run-hook', iteration, hookId }))

function reissueIteration(progress: Progress, live: LiveIteration): Order[] {
  const { number: iteration, attempt } = live
  switch (live.stage) {
    case 'agent':
      return [{ type: 'run-attempt', iteration, attempt }]
    case 'waiting':
      return [reissueWait(progress, live)]
    case 'checks':
      return [{ type: 'run-checks', iteration, names: listDueChecks(progress, live) }]
    case 'gate':
      return [{ type: 'run-gate', iteration }]
    case 'review':
      return [{ type: 'run-review', iteration }]
    case 'checkpoint':
      return [{ type: 'make-checkpoint', iteration }]
    case 'hooks':
      return []
  }
}

function reissueWait(progress: Progress, { number: iteration, work }: LiveIteration): Order {
  const { parked } = progress
  if (parked) return { type: 'wait', iteration, ...parked }
  const until = (work && getWork(progress, work).nextRetryAt) ?? 0
  return { type: 'wait', iteration, until, reason: 'resumed' }
}

function onWaitEnded(progress: Progress, fact: Extract<Fact, { type: 'wait-ended' }>): Transition {
  const live = getLiveIteration(progress, fact.iteration, fact)
  if (live.stage !== 'waiting') throw createIllegalFact(progress, fact, 'it is not waiting')
  if (progress.status !== 'in-progress' && progress.status !== 'parked') return { progress, orders: [] }
  if (progress.mode === 'standard' && isEnding(progress)) return { progress, orders: [] }
  const { parked: _parked, ...kept } = progress
  const limit = describeSpentLimit(progress)
  if (limit) return scheduleRest(kept, { status: 'limit-reached', reason: limit })
  const { number: iteration, attempt } = live
  return {
    progress: replaceLive({ ...kept, status: 'in-progress' }, startAttempt(progress, live, fact.at)),
    orders: [{ type: 'run-attempt', iteration, attempt }],
  }
}

/**
 * `iteration` and `turn`: running work continues until then, and an iteration that waits for its next attempt stays as it is.
 * `now`: everything ends, and the iteration gets another attempt in the next run. A sprint that already rests (only its hooks
 * still run) keeps its status: a reached goal stays reached, an open question stays open.
 */
function onStopRequested(progress: Progress, { as, when }: Extract<Fact, { type: 'stop-requested' }>): Transition {
  const { status, live } = progress
  const busy = live.some(({ stage }) => stage !== 'waiting') || (live.length === 0 && !progress.baseline)
  const running = status === 'in-progress' || status === 'parked'
  if (when === 'now') {
    const abort: Order = { type: 'abort', what: 'all' }
    if (!running && !(status === 'blocked' && busy)) return { progress, orders: [abort] }
    return andThen([abort], restOnRequest(progress, as))
  }
  if (!running) return { progress, orders: [] }
  // An iteration that has stopped after its turn would not resume for a later request to stop after the iteration.
  const sooner = progress.stopRequested?.when === 'turn' ? 'turn' : when
  if (busy) return { progress: { ...progress, stopRequested: { as, when: sooner } }, orders: [] }
  return andThen([{ type: 'abort', what: 'waits' }], restOnRequest(progress, as))
}

/** Adds a message to the next prompt; with `now`, ends the attempt and starts a new one with the message. */
function onUserMessage(progress: Progress, { at, text, now }: Extract<Fact, { type: 'told' }>): Transition {
  const updated: Progress = { ...progress, messages: [...(progress.messages ?? []), { text, at }] }
  const working = updated.live.filter(({ stage }) => stage === 'agent')
  if (!now || working.length === 0 || updated.status !== 'in-progress') return { progress: updated, orders: [] }
  const restarted = working.reduce((result, live) => replaceLive(result, { ...live, retelling: true }), updated)
  return { progress: restarted, orders: [{ type: 'abort', what: 'attempts' }] }
}

/** Applies an edit that a user or an agent made to PROGRESS.yaml while the sprint runs. */
function onEdited(progress: Progress, { at, ...fact }: Extract<Fact, { type: 'edited' }>): Transition {
  const { edits, refused } = progress.mode === 'standard' ? rejectStepEdits(fact) : fact
  const edited = applyEdits(progress, edits, { at, iteration: progress.stats.currentIteration })
  const orders = [
    ...edits.map((edit) => `applied from PROGRESS.yaml: ${edit.kind}`).map((text) => createNote('info', text)),
    ...refused.map((reason) => createNote('warning', `not applied from PROGRESS.yaml: ${reason}`)),
  ]
  if (!edits.some(({ kind }) => kind === 'pause')) return { progress: edited, orders }
  return andThen(orders, onStopRequested(edited, { type: 'stop-requested', at, as: 'paused', when: 'iteration' }))
}

type EditedFact = Pick<Extract<Fact, { type: 'edited' }>, 'edits' | 'refused'>

/** A sprint with phases never works on dynamic steps. */
const rejectStepEdits = ({ edits, refused }: EditedFact): EditedFact => ({
  edits: edits.filter(({ kind }) => kind === 'pause' || kind === 'needs-human'),
  refused: [
    ...refused,
    ...(edits.some(({ kind }) => kind.startsWith('step'))
      ? ['dynamic-steps are for goal-driven sprints; change SPRINT.yaml or the workflow']
      : []),
  ],
})

const createNote = (level: 'info' | 'warning', text: string): Order => emitEvent({ type: 'note', level, text })

function onNotified(progress: Progress, { results }: Extract<Fact, { type: 'notified' }>): Transition {
  const notifications = [...(progress.notifications ?? []), ...results].slice(-historyLimits.notifications)
  const failed = results.filter(({ sent }) => !sent)
  const orders = failed.map(({ to, error = '' }) => createNote('warning', `could not notify ${to}: ${error}`))
  return { progress: { ...progress, notifications }, orders }
}

function onAnswered(progress: Progress, fact: Extract<Fact, { type: 'answered' }>): Transition {
  const { humanNeeded, reason: _reason, claimQuestion: _claim, ...kept } = progress
  if (!humanNeeded || progress.status !== 'needs-human')
    throw createIllegalFact(progress, fact, 'there is no open question')
  const accepted = acceptByAnswer(progress, fact.answer, fact.at)
  if (accepted) return { progress: accepted, orders: [] }
  const answer = { question: humanNeeded.reason, answer: fact.answer, at: fact.at }
  return { progress: { ...kept, status: 'paused', answer }, orders: [] }
}
