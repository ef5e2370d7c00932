import type { LiveIteration, Progress } from '../../contract/progress.ts'
import { chooseAgent, addAgentLimit } from '../core/agents.ts'
import type { AttemptEnd, Fact } from '../core/fact.ts'
import { endWithoutHooks } from './hooks.ts'
import { getRemainingBudget, describeSpentLimit } from '../core/limits.ts'
import { replaceLive } from '../core/live-iteration.ts'
import { andThen, emitEvent, type Order, type Transition } from '../core/order.ts'
import { malformed, parking, getRetryDelay, getPolicy, getEarliestStart } from '../core/policy.ts'
import { openQuestion } from '../core/question.ts'
import { scheduleRest, isEnding, restSprint, restOnRequest } from '../core/rest.ts'
import { listPhaseAgents } from '../ways/phases/agent-choice.ts'
import { getErrorCategory, planAttempt } from '../ways/phases/retry.ts'

type FailedAttemptFact = Extract<Fact, { type: 'attempt-ended' }>
type FailedEnd = Extract<AttemptEnd, { kind: 'failed' }>
type MalformedEnd = Extract<AttemptEnd, { kind: 'malformed' }>

/** Handles an invalid report: asks once more if the session can be resumed, otherwise the iteration counts without one. */
export function onMalformed(
  progress: Progress,
  live: LiveIteration,
  end: MalformedEnd,
  fact: FailedAttemptFact,
): Transition {
  const { reason, session } = end
  const noted = recordFailedStart(progress, fact.at)
  if (session !== undefined && !live.repaired && canStartNow(noted, fact.at)) {
    return requestReportAgain(noted, { ...live, repair: { session, reason, used: fact.usage } }, fact.at)
  }
  const count = (progress.failure?.class === 'protocol' ? progress.failure.count : 0) + 1
  const failed: Progress = { ...noted, failure: { class: 'protocol', reason, count } }
  const ended: LiveIteration = { ...live, verdict: 'malformed', summary: reason }
  const failedEvent = createAttemptFailed(live, { class: 'protocol', reason }, fact.at)
  if (progress.mode === 'standard') {
    const failedWork: LiveIteration = { ...ended, error: { category: 'validation', text: reason } }
    return andThen([failedEvent], endWithoutHooks(failed, failedWork, fact.at))
  }
  if (count < malformed.inARow) {
    const until = getEarliestStart(failed, fact.at + getRetryDelay(malformed.firstMs, count, fact.random))
    return andThen([failedEvent], endWithoutHooks(failed, ended, fact.at, until))
  }
  const humanNeeded = {
    reason: `The agent gave no valid report ${count} times in a row`,
    details: `The last time: ${reason}. The transcript of iteration ${live.number} shows what it said.`,
    askedAt: fact.at,
  }
  return andThen([failedEvent], endWithoutHooks({ ...failed, humanNeeded }, ended, fact.at))
}

/** The sprint is running, has budget left, and has not failed too often. */
const canStartNow = (progress: Progress, at: number): boolean =>
  isRunning(progress) && describeSpentLimit(progress) === undefined && getEarliestStart(progress, at) === at

/** With phases, one iteration may wait for a usage limit while others work. */
const isRunning = ({ status }: Progress): boolean => status === 'in-progress' || status === 'parked'

/** Same iteration and session, one short question. Messages that arrived since then stay for the next full prompt. */
function requestReportAgain(progress: Progress, live: LiveIteration, at: number): Transition {
  const again: LiveIteration = { ...live, attempt: live.attempt + 1, repaired: true }
  const failedEvent = createAttemptFailed(live, { class: 'protocol', reason: live.repair?.reason ?? '' }, at, at)
  return {
    progress: replaceLive(progress, again),
    orders: [failedEvent, { type: 'run-attempt', iteration: live.number, attempt: again.attempt }],
  }
}

/** Handles a failed attempt: another attempt of the same iteration follows, now or after a rest. */
export function onFailed(progress: Progress, live: LiveIteration, end: FailedEnd, fact: FailedAttemptFact): Transition {
  const again = nextAttempt(live)
  if (progress.status === 'blocked') {
    return andThen(
      [createAttemptFailed(live, end, fact.at)],
      restSprint(replaceLive(progress, again), 'blocked', progress.reason),
    )
  }
  if (!isRunning(progress)) {
    return { progress: replaceLive(progress, again), orders: [createAttemptFailed(live, end, fact.at)] }
  }
  if (end.class === 'budget' && hasBudget(progress, live)) return onBudget(progress, live, end, fact)
  const policy = getPolicy(end.class)
  if (policy.action === 'park') return onLimit(progress, live, end, fact)
  const before = progress.mode === 'standard' ? live.failures : progress.failure
  const count = (before?.class === end.class ? before.count : 0) + 1
  const failed = recordFailedStart({ ...progress, failure: { class: end.class, reason: end.reason, count } }, fact.at)
  const next = nextStart(failed, live, end, { count, ...fact })
  if (next) {
    const smaller = end.class === 'context' ? { ...again, smallPrompt: true } : again
    const counted = progress.mode === 'standard' ? { ...smaller, failures: { class: end.class, count } } : smaller
    const failedEvent = createAttemptFailed(live, end, fact.at, next.until)
    return waitForRetry(next.progress, counted, { until: next.until, reason: end.reason }, failedEvent)
  }
  const told = createAttemptFailed(live, end, fact.at)
  if (policy.action === 'ask' || (policy.action === 'retry' && policy.after === 'ask')) {
    const question = end.question ?? { reason: end.reason, details: `The agent cannot work (${end.class}).` }
    const asked = emitEvent({ type: 'question-asked', iteration: live.number, ...question })
    const asking = openQuestion(replaceLive(failed, again), question, fact.at)
    return andThen([told, asked], scheduleRest(asking, { status: 'needs-human', reason: end.reason }))
  }
  const times = count > 1 ? `, ${count} times in a row` : ''
  if (progress.mode === 'standard') {
    const error = { category: getErrorCategory(end.class), text: `${end.reason}${times}` }
    const ended: LiveIteration = { ...live, verdict: 'failed', summary: end.reason, error }
    return andThen([told], endWithoutHooks(failed, ended, fact.at))
  }
  return andThen([told], restSprint(replaceLive(failed, again), 'failed', `${end.class}: ${end.reason}${times}`))
}

type RetryInput = { readonly count: number; readonly at: number; readonly random: number }

/** Earliest start of the next attempt, with the progress that records it; undefined if there is none. */
function nextStart(progress: Progress, live: LiveIteration, end: FailedEnd, { count, at, random }: RetryInput) {
  const planned = live.work ? planAttempt(progress, live.work, end, at) : 'by-policy'
  if (planned !== 'by-policy') return planned
  const policy = getPolicy(end.class)
  const mayTry = policy.action === 'retry' && (end.retryable || end.class === 'context') && count < policy.tries
  return mayTry
    ? { progress, until: getEarliestStart(progress, at + getRetryDelay(policy.firstMs, count, random)) }
    : undefined
}

/** A usage limit is not a failure: a fallback agent takes over if there is one, otherwise the sprint parks until the reset. */
function onLimit(progress: Progress, live: LiveIteration, end: FailedEnd, { at }: FailedAttemptFact): Transition {
  const again = end.notStarted ? { ...nextAttempt(live), attempt: live.attempt } : nextAttempt(live)
  const spent = describeSpentLimit(progress)
  if (spent) {
    const waiting = replaceLive(progress, again)
    return andThen(
      [createAttemptFailed(live, end, at)],
      scheduleRest(waiting, { status: 'limit-reached', reason: spent }),
    )
  }
  const { resetsAt = at + parking.probeMs } = end
  const reset = resetsAt > at ? resetsAt : at + parking.soonestMs
  const noted = end.notStarted ? progress : recordFailedStart(progress, at)
  const limited = addAgentLimit(noted, again.agent, reset, at)
  const next = chooseAgent(limited, at, listPhaseAgents(limited, again.work))
  const isFree = next.agent !== undefined && next.until === undefined
  if (isFree && again.agent !== undefined && canStartNow(limited, at)) {
    const text = `${again.agent} has reached its usage limit; ${next.agent} takes over`
    const orders: Order[] = [
      createAttemptFailed(live, end, at, at),
      emitEvent({ type: 'note', level: 'warning', text }),
      { type: 'run-attempt', iteration: again.number, attempt: again.attempt },
    ]
    return { progress: replaceLive(limited, { ...again, agent: next.agent, stage: 'agent', promptedAt: at }), orders }
  }
  const until = getEarliestStart(limited, isFree ? at : (next.until ?? reset))
  const reassigned: LiveIteration = next.agent === undefined ? again : { ...again, agent: next.agent }
  const parked: Progress = { ...limited, status: 'parked', parked: { reason: end.reason, until } }
  return waitForRetry(parked, reassigned, { until, reason: end.reason }, createAttemptFailed(live, end, at, until))
}

/** Whether a limit of ours applies; agent programs can have their own. */
const hasBudget = (progress: Progress, live: LiveIteration): boolean =>
  Object.keys(getRemainingBudget(progress, live)).length > 0

/** The attempt exceeded a limit in USD or tokens: of the sprint, or only of this iteration. */
function onBudget(progress: Progress, live: LiveIteration, end: FailedEnd, { at }: FailedAttemptFact): Transition {
  const failedEvent = createAttemptFailed(live, end, at)
  const limit = describeSpentLimit(progress)
  if (limit) {
    const waiting = replaceLive(progress, nextAttempt(live))
    return andThen([failedEvent], scheduleRest(waiting, { status: 'limit-reached', reason: limit }))
  }
  const noted = recordFailedStart(progress, at)
  const ended: LiveIteration = { ...live, verdict: 'failed', summary: end.reason }
  return andThen([failedEvent], endWithoutHooks(noted, ended, at, getEarliestStart(noted, at)))
}

type RetryWait = { readonly until: number; readonly reason: string }

function waitForRetry(
  progress: Progress,
  live: LiveIteration,
  { until, reason }: RetryWait,
  failedEvent: Order,
): Transition {
  const waiting = replaceLive(progress, live)
  if (progress.mode === 'standard' && isEnding(progress)) return { progress: waiting, orders: [failedEvent] }
  if (progress.stopRequested) return andThen([failedEvent], restOnRequest(waiting, progress.stopRequested.as))
  return { progress: waiting, orders: [failedEvent, { type: 'wait', iteration: live.number, until, reason }] }
}

export function nextAttempt(live: LiveIteration): LiveIteration {
  const { repair: _repair, interrupted: _interrupted, ...kept } = live
  return { ...kept, stage: 'waiting', attempt: live.attempt + 1 }
}

const hourMs = 3_600_000

/** Records a failed attempt; keeps as many of the last hour as the limit needs. */
function recordFailedStart(progress: Progress, at: number): Progress {
  const recent = [...(progress.failedStarts ?? []), at].filter((time) => time > at - hourMs)
  return { ...progress, failedStarts: recent.slice(-progress.limits.failedStartsPerHour) }
}

const createAttemptFailed = (
  live: LiveIteration,
  why: Pick<FailedEnd, 'class' | 'reason'>,
  at: number,
  retryAt?: number,
): Order =>
  emitEvent({
    type: 'attempt-failed',
    iteration: live.number,
    attempt: live.attempt,
    class: why.class,
    reason: why.reason,
    retryInMs: retryAt === undefined ? undefined : retryAt - at,
  })
