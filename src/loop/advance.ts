import { historyLimits, type Progress } from '../contract/progress.ts'
import type { Fact } from './core/fact.ts'
import { startAttempt } from './core/interrupted.ts'
import { describeSpentLimit } from './core/limits.ts'
import { createIllegalFact, getLiveIteration, replaceLive } from './core/live-iteration.ts'
import { andThen, createNote, type Decision, type Order } from './core/order.ts'
import { resolveAnswer } from './core/question.ts'
import { scheduleRest, isEnding, restOnRequest } from './core/rest.ts'
import { isUnderWay } from '../contract/sprint-summary.ts'
import { setHistory, setInbox, setRun, setStats, type Sprint } from './core/sprint.ts'
import { emitUserSaid, onMessageWithdrawn, onUserMessage } from './core/user-messages.ts'
import type { StepEdit } from './core/way.ts'
import { onAttemptEnded } from './iteration/attempt.ts'
import { onChecksEnded, onReviewEnded } from './iteration/checks.ts'
import { onGateEnded } from './iteration/gate.ts'
import { onCheckpointMade, onHookEnded, onHookSpawned } from './iteration/hooks.ts'
import { acceptByAnswer } from './iteration/proof.ts'
import { fromProgress, toProgress } from './progress-codec.ts'
import { recompileSprint } from './recompile.ts'
import { onStarted } from './start-run.ts'
import { getWay } from './ways/registry.ts'
import { onWorktreeCleaned, cleanUpWorktree } from './worktree.ts'

export type Transition = {
  readonly progress: Progress
  readonly orders: readonly Order[]
  /** What a changed SPRINT.yaml has changed; only for the fact `recompiled`. */
  readonly changes?: readonly string[]
}

/** The loop in one function: takes the current state and a fact, returns the next state and the orders to execute. */
export function advance(progress: Progress, fact: Fact): Transition {
  const sprint = fromProgress(progress)
  const decided = decide(countActiveTime(sprint, fact), fact)
  const next = startsWork(fact) ? andThen(decided.orders, getWay(sprint).next(decided.sprint, fact.at)) : decided
  const orders = [...next.orders, ...cleanUpWorktree(sprint, next.sprint, fact)]
  const { changes } = decided
  return { progress: toProgress({ ...next.sprint, rev: sprint.rev + 1 }), orders, ...(changes && { changes }) }
}

type Advance = Decision & Pick<Transition, 'changes'>

/** These facts can arrive while no run is active, so they start nothing. */
const startsWork = ({ type }: Fact): boolean =>
  !['recompiled', 'baseline-retaken', 'answered', 'told', 'message-withdrawn', 'notified'].includes(type)

/** Time since the last fact counts as work if something was running. Time between runs does not. */
function countActiveTime(before: Sprint, { type, at, clockJumpMs = 0 }: Fact): Sprint {
  const sprint = clockJumpMs === 0 ? before : moveTimes(before, clockJumpMs)
  const { status, live, stats } = sprint
  const atWork = status === 'in-progress' && (live.length === 0 || live.some(({ stage }) => stage !== 'waiting'))
  const passed = atWork && type !== 'started' ? at - (stats.updatedAt ?? at) : 0
  return setStats(sprint, { activeMs: stats.activeMs + (passed > 0 ? passed : 0), updatedAt: at })
}

/** After the clock has jumped, what runs has run as long as before. */
function moveTimes(sprint: Sprint, byMs: number): Sprint {
  const { updatedAt } = sprint.stats
  const live = sprint.live.map((iteration) => ({ ...iteration, startedAt: iteration.startedAt + byMs }))
  return { ...(updatedAt === undefined ? sprint : setStats(sprint, { updatedAt: updatedAt + byMs })), live }
}

function decide(sprint: Sprint, fact: Fact): Advance {
  switch (fact.type) {
    case 'started':
      return onStarted(sprint, fact)
    case 'attempt-ended':
      return onAttemptEnded(sprint, fact)
    case 'wait-ended':
      return onWaitEnded(sprint, fact)
    case 'checks-ended':
      return onChecksEnded(sprint, fact)
    case 'gate-ended':
      return onGateEnded(sprint, fact)
    case 'hook-spawned':
      return onHookSpawned(sprint, fact)
    case 'hook-ended':
      return onHookEnded(sprint, fact)
    case 'review-ended':
      return onReviewEnded(sprint, fact)
    case 'checkpoint-made':
      return onCheckpointMade(sprint, fact)
    case 'stop-requested':
      return onStopRequested(sprint, fact)
    case 'stop-withdrawn':
      return { sprint: setRun(sprint, { stopRequested: undefined }), orders: [] }
    case 'worktree-cleaned':
      return onWorktreeCleaned(sprint, fact)
    case 'notified':
      return onNotified(sprint, fact)
    case 'recompiled':
      return { ...recompileSprint(sprint, fromProgress(fact.compiled), fact.at), orders: [] }
    case 'baseline-retaken':
      return { sprint: setHistory(sprint, { proofBaseline: fact.proofBaseline }), orders: [] }
    case 'answered':
      return onAnswered(sprint, fact)
    case 'told':
      return onUserMessage(sprint, fact)
    case 'message-withdrawn':
      return onMessageWithdrawn(sprint, fact)
    case 'edited':
      return onEdited(sprint, fact)
  }
}

function onWaitEnded(sprint: Sprint, fact: Extract<Fact, { type: 'wait-ended' }>): Decision {
  const live = getLiveIteration(sprint, fact.iteration, fact)
  if (live.stage !== 'waiting') throw createIllegalFact(sprint, fact, 'it is not waiting')
  if (sprint.status !== 'in-progress' && sprint.status !== 'parked') return { sprint, orders: [] }
  if (isEnding(sprint)) return { sprint, orders: [] }
  const awake = { ...sprint, parked: undefined }
  const limit = describeSpentLimit(sprint)
  if (limit) return scheduleRest(awake, { status: 'limit-reached', reason: limit })
  const { number: iteration, attempt } = live
  return {
    sprint: replaceLive({ ...awake, status: 'in-progress' }, startAttempt(sprint, live, fact.at)),
    orders: [{ type: 'run-attempt', iteration, attempt }],
  }
}

/**
 * `iteration` and `turn`: running work continues until then, and an iteration that waits for its next attempt stays as it is.
 * `now`: everything ends, and the iteration gets another attempt in the next run. A sprint that already rests (only its hooks
 * still run) keeps its status: a reached goal stays reached, an open question stays open.
 */
function onStopRequested(sprint: Sprint, fact: Extract<Fact, { type: 'stop-requested' }>): Decision {
  const decided = decideStop(sprint, fact)
  const how = fact.as === 'paused' ? 'pause' : 'stop'
  const words = { iteration: 'after this iteration', turn: 'after this turn', now: 'now' }
  if (!isUnderWay(sprint.status)) return decided
  return andThen(emitUserSaid(sprint, { how, text: words[fact.when], by: fact.by }), decided)
}

function decideStop(sprint: Sprint, { as, when }: Extract<Fact, { type: 'stop-requested' }>): Decision {
  const { status, live } = sprint
  const busy = live.some(({ stage }) => stage !== 'waiting') || (live.length === 0 && !sprint.history.baseline)
  const running = status === 'in-progress' || status === 'parked'
  if (when === 'now') {
    const abort: Order = { type: 'abort', what: 'all' }
    if (!running && !(status === 'blocked' && busy)) return { sprint, orders: [abort] }
    return andThen([abort], restOnRequest(sprint, as))
  }
  if (!running) return { sprint, orders: [] }
  // An iteration that has stopped after its turn would not resume for a later request to stop after the iteration.
  const sooner = sprint.run?.stopRequested?.when === 'turn' ? 'turn' : when
  if (busy) return { sprint: setRun(sprint, { stopRequested: { as, when: sooner } }), orders: [] }
  return andThen([{ type: 'abort', what: 'waits' }], restOnRequest(sprint, as))
}

type EditedFact = Extract<Fact, { type: 'edited' }>

/** Applies an edit that a user or an agent made to PROGRESS.yaml while the sprint runs. */
function onEdited(sprint: Sprint, fact: EditedFact): Decision {
  const { at } = fact
  const { edited, edits, refused } = applyEdits(sprint, fact)
  const orders = [
    ...edits.map((edit) => `applied from PROGRESS.yaml: ${edit.kind}`).map((text) => createNote('info', text)),
    ...refused.map((reason) => createNote('warning', `not applied from PROGRESS.yaml: ${reason}`)),
  ]
  const counted = markStepsChanged(sprint, edited)
  if (!edits.some(({ kind }) => kind === 'pause')) return { sprint: counted, orders }
  return andThen(orders, onStopRequested(counted, { type: 'stop-requested', at, as: 'paused', when: 'iteration' }))
}

/** Edited steps are progress of the iterations that run, like reported ones. */
const markStepsChanged = (before: Sprint, edited: Sprint): Sprint =>
  edited.way === before.way ? edited : { ...edited, live: edited.live.map((live) => ({ ...live, stepsChanged: true })) }

/** Edits of steps are for the way of the sprint; `pause` is handled as a stop request. */
function applyEdits(sprint: Sprint, { at, edits, refused }: EditedFact) {
  const { editStep } = getWay(sprint)
  const moment = { at, iteration: sprint.stats.currentIteration }
  const allowed = editStep ? edits : edits.filter((edit) => !isStepEdit(edit))
  const edited = allowed.reduce<Sprint>((result, edit) => {
    if (edit.kind === 'needs-human')
      return { ...result, question: { reason: edit.reason, details: edit.details, askedAt: at } }
    return editStep && isStepEdit(edit) ? editStep(result, edit, moment) : result
  }, sprint)
  const reason = 'dynamic-steps are for goal-driven sprints; change SPRINT.yaml or the workflow'
  return { edited, edits: allowed, refused: allowed.length < edits.length ? [...refused, reason] : refused }
}

const isStepEdit = (edit: EditedFact['edits'][number]): edit is StepEdit =>
  edit.kind !== 'pause' && edit.kind !== 'needs-human'

function onNotified(sprint: Sprint, { results }: Extract<Fact, { type: 'notified' }>): Decision {
  const notifications = [...(sprint.history.notifications ?? []), ...results].slice(-historyLimits.notifications)
  const failed = results.filter(({ sent }) => !sent)
  const orders = failed.map(({ to, error = '' }) => createNote('warning', `could not notify ${to}: ${error}`))
  return { sprint: setHistory(sprint, { notifications }), orders }
}

function onAnswered(sprint: Sprint, fact: Extract<Fact, { type: 'answered' }>): Decision {
  const { question } = sprint
  if (!question || sprint.status !== 'needs-human') throw createIllegalFact(sprint, fact, 'there is no open question')
  const chosen = resolveAnswer(question, fact.answer)
  const events = emitUserSaid(sprint, { how: 'answer', text: chosen, by: fact.by })
  const accepted = acceptByAnswer(sprint, chosen, fact.at)
  if (accepted) return { sprint: accepted, orders: events }
  const { reason, details, options } = question
  const answer = { question: reason, details, ...(options && { options }), answer: chosen, at: fact.at }
  const { claimQuestion: _claim, ...history } = sprint.history
  return {
    sprint: {
      ...setInbox({ ...sprint, history }, { answer }),
      status: 'paused',
      question: undefined,
      reason: undefined,
    },
    orders: events,
  }
}
