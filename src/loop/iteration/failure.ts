import type { LiveIteration } from '../../contract/progress.ts'
import { chooseAgent, addAgentLimit } from '../core/agents.ts'
import type { AttemptEnd, Fact } from '../core/fact.ts'
import { endWithoutHooks } from './hooks.ts'
import { getRemainingBudget, describeSpentLimit } from '../core/limits.ts'
import { nextAttempt, replaceLive } from '../core/live-iteration.ts'
import { andThen, emitEvent, type Order, type Decision } from '../core/order.ts'
import { parking, getRetryDelay, getPolicy, getEarliestStart } from '../core/policy.ts'
import { openQuestion } from '../core/question.ts'
import { scheduleRest, isEnding, restSprint, restOnRequest } from '../core/rest.ts'
import { setHistory, setRun, type Sprint } from '../core/sprint.ts'
import type { FailedEnd, ExhaustedRetriesEnd } from '../core/way.ts'
import { getWay } from '../ways/registry.ts'

type FailedAttemptFact = Extract<Fact, { type: 'attempt-ended' }>
type MalformedEnd = Extract<AttemptEnd, { kind: 'malformed' }>

/** Handles an invalid report: asks once more if the session can be resumed, otherwise the iteration counts without one. */
export function onMalformed(sprint: Sprint, live: LiveIteration, end: MalformedEnd, fact: FailedAttemptFact): Decision {
  const { reason, session } = end
  const noted = recordFailedStart(sprint, fact.at)
  if (session !== undefined && !live.repaired && canStartNow(noted, fact.at)) {
    return requestReportAgain(noted, { ...live, repair: { session, reason, used: fact.usage } }, fact.at)
  }
  const { failure: before } = sprint.run ?? {}
  const failure = { class: 'protocol', reason, count: (before?.class === 'protocol' ? before.count : 0) + 1 } as const
  const { at, random } = fact
  const givenUp = getWay(sprint).onRetriesExhausted(setRun(noted, { failure }), live, {
    cause: 'no-report',
    ...failure,
    at,
    random,
  })
  return andThen([createAttemptFailed(live, failure, at)], endGivenUp(givenUp, at))
}

const endGivenUp = (end: ExhaustedRetriesEnd, at: number): Decision =>
  end.ends === 'run' ? end.decision : endWithoutHooks(end.sprint, end.live, at, end.pauseUntil)

/** The sprint is running, has budget left, and has not failed too often. */
const canStartNow = (sprint: Sprint, at: number): boolean =>
  isRunning(sprint) && describeSpentLimit(sprint) === undefined && getEarliestStart(sprint, at) === at

/** With phases, one iteration may wait for a usage limit while others work. */
const isRunning = ({ status }: Sprint): boolean => status === 'in-progress' || status === 'parked'

/** Same iteration and session, one short question. Messages that arrived since then stay for the next full prompt. */
function requestReportAgain(sprint: Sprint, live: LiveIteration, at: number): Decision {
  const again: LiveIteration = { ...live, attempt: live.attempt + 1, repaired: true }
  const failedEvent = createAttemptFailed(live, { class: 'protocol', reason: live.repair?.reason ?? '' }, at, at)
  return {
    sprint: replaceLive(sprint, again),
    orders: [failedEvent, { type: 'run-attempt', iteration: live.number, attempt: again.attempt }],
  }
}

/** Handles a failed attempt: another attempt of the same iteration follows, now or after a rest. */
export function onFailed(sprint: Sprint, live: LiveIteration, end: FailedEnd, fact: FailedAttemptFact): Decision {
  const again = nextAttempt(live)
  if (sprint.status === 'blocked') {
    return andThen(
      [createAttemptFailed(live, end, fact.at)],
      restSprint(replaceLive(sprint, again), 'blocked', sprint.reason),
    )
  }
  if (!isRunning(sprint)) {
    return { sprint: replaceLive(sprint, again), orders: [createAttemptFailed(live, end, fact.at)] }
  }
  if (end.class === 'budget' && hasBudget(sprint, live)) return onBudget(sprint, live, end, fact)
  const policy = getPolicy(end.class)
  if (policy.action === 'park') return onLimit(sprint, live, end, fact)
  // Failures of iterations that run at the same time are not consecutive.
  const before = sprint.way.concurrent ? live.failures : sprint.run?.failure
  const failure = { class: end.class, reason: end.reason, count: (before?.class === end.class ? before.count : 0) + 1 }
  const failed = recordFailedStart(setRun(sprint, { failure }), fact.at)
  const { count } = failure
  const next = nextStart(failed, live, end, { count, ...fact })
  if (next) {
    const smaller = end.class === 'context' ? { ...again, smallPrompt: true } : again
    const counted = sprint.way.concurrent ? { ...smaller, failures: { class: end.class, count } } : smaller
    const failedEvent = createAttemptFailed(live, end, fact.at, next.until)
    return waitForRetry(next.sprint, counted, { until: next.until, reason: end.reason }, failedEvent)
  }
  const failedEvent = createAttemptFailed(live, end, fact.at)
  if (policy.action === 'ask' || (policy.action === 'retry' && policy.after === 'ask')) {
    const question = end.question ?? { reason: end.reason, details: `The agent cannot work (${end.class}).` }
    const questionAsked = emitEvent({ type: 'question-asked', iteration: live.number, ...question })
    const asking = openQuestion(replaceLive(failed, again), question, fact.at)
    return andThen([failedEvent, questionAsked], scheduleRest(asking, { status: 'needs-human', reason: end.reason }))
  }
  const { at, random } = fact
  const givenUp = getWay(sprint).onRetriesExhausted(failed, live, { cause: 'failed-attempt', ...failure, at, random })
  return andThen([failedEvent], endGivenUp(givenUp, at))
}

type RetryInput = { readonly count: number; readonly at: number; readonly random: number }

/** Earliest start of the next attempt, with the sprint that records it; undefined if there is none. */
function nextStart(sprint: Sprint, live: LiveIteration, end: FailedEnd, { count, at, random }: RetryInput) {
  const planned = getWay(sprint).retry(sprint, live, end, at)
  if (planned !== 'by-policy') return planned
  const policy = getPolicy(end.class)
  const mayTry = policy.action === 'retry' && (end.retryable || end.class === 'context') && count < policy.tries
  return mayTry
    ? { sprint, until: getEarliestStart(sprint, at + getRetryDelay(policy.firstMs, count, random)) }
    : undefined
}

/** A usage limit is not a failure: a fallback agent takes over if there is one, otherwise the sprint parks until the reset. */
function onLimit(sprint: Sprint, live: LiveIteration, end: FailedEnd, { at }: FailedAttemptFact): Decision {
  const again = end.notStarted ? { ...nextAttempt(live), attempt: live.attempt } : nextAttempt(live)
  const spent = describeSpentLimit(sprint)
  if (spent) {
    const waiting = replaceLive(sprint, again)
    return andThen(
      [createAttemptFailed(live, end, at)],
      scheduleRest(waiting, { status: 'limit-reached', reason: spent }),
    )
  }
  const { resetsAt = at + parking.probeMs } = end
  const reset = resetsAt > at ? resetsAt : at + parking.soonestMs
  const noted = end.notStarted ? sprint : recordFailedStart(sprint, at)
  const limited = addAgentLimit(noted, again.agent, reset, at)
  const next = chooseAgent(limited, at, getWay(limited).agents(limited, again.work))
  const isFree = next.agent !== undefined && next.until === undefined
  if (isFree && again.agent !== undefined && canStartNow(limited, at)) {
    const text = `${again.agent} has reached its usage limit; ${next.agent} takes over`
    const orders: Order[] = [
      createAttemptFailed(live, end, at, at),
      emitEvent({ type: 'note', level: 'warning', text }),
      { type: 'run-attempt', iteration: again.number, attempt: again.attempt },
    ]
    return { sprint: replaceLive(limited, { ...again, agent: next.agent, stage: 'agent', promptedAt: at }), orders }
  }
  const until = getEarliestStart(limited, isFree ? at : (next.until ?? reset))
  const reassigned: LiveIteration = next.agent === undefined ? again : { ...again, agent: next.agent }
  const parked: Sprint = { ...limited, status: 'parked', parked: { reason: end.reason, until } }
  return waitForRetry(parked, reassigned, { until, reason: end.reason }, createAttemptFailed(live, end, at, until))
}

/** Whether a limit of ours applies; agent programs can have their own. */
const hasBudget = (sprint: Sprint, live: LiveIteration): boolean =>
  Object.keys(getRemainingBudget(sprint, live)).length > 0

/** The attempt exceeded a limit in USD or tokens: of the sprint, or only of this iteration. */
function onBudget(sprint: Sprint, live: LiveIteration, end: FailedEnd, { at }: FailedAttemptFact): Decision {
  const failedEvent = createAttemptFailed(live, end, at)
  const limit = describeSpentLimit(sprint)
  if (limit) {
    const waiting = replaceLive(sprint, nextAttempt(live))
    return andThen([failedEvent], scheduleRest(waiting, { status: 'limit-reached', reason: limit }))
  }
  const noted = recordFailedStart(sprint, at)
  const ended: LiveIteration = { ...live, verdict: 'failed', summary: end.reason }
  return andThen([failedEvent], endWithoutHooks(noted, ended, at, getEarliestStart(noted, at)))
}

type RetryWait = { readonly until: number; readonly reason: string }

function waitForRetry(sprint: Sprint, live: LiveIteration, { until, reason }: RetryWait, failedEvent: Order): Decision {
  const waiting = replaceLive(sprint, live)
  if (isEnding(sprint)) return { sprint: waiting, orders: [failedEvent] }
  const { stopRequested } = sprint.run ?? {}
  if (stopRequested) return andThen([failedEvent], restOnRequest(waiting, stopRequested.as))
  return { sprint: waiting, orders: [failedEvent, { type: 'wait', iteration: live.number, until, reason }] }
}

const hourMs = 3_600_000

/** Records a failed attempt; keeps as many of the last hour as the limit needs. */
function recordFailedStart(sprint: Sprint, at: number): Sprint {
  const recent = [...(sprint.history.failedStarts ?? []), at].filter((time) => time > at - hourMs)
  return setHistory(sprint, { failedStarts: recent.slice(-sprint.plan.limits.failedStartsPerHour) })
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
