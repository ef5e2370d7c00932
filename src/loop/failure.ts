import type { LiveIteration, Progress } from '../contract/progress.ts'
import { chooseAgent, withAgentLimit } from './agents.ts'
import type { AttemptEnd, Fact } from './fact.ts'
import { closeWithoutHooks } from './hooks.ts'
import { budgetOf, spentLimit } from './limits.ts'
import { withLive } from './live.ts'
import { andThen, tell, type Order, type Transition } from './order.ts'
import { malformed, parking, pauseMs, policyFor, soonestStart } from './policy.ts'
import { withQuestion } from './question.ts'
import { comeToRest, isComingToRest, rest, restAs } from './rest.ts'
import { agentsFor } from './standard/choice.ts'
import { categoryOf, planAttempt } from './standard/retry.ts'

type AttemptEnded = Extract<Fact, { type: 'attempt-ended' }>
type Failed = Extract<AttemptEnd, { kind: 'failed' }>
type Malformed = Extract<AttemptEnd, { kind: 'malformed' }>

/** Handles an invalid report: asks once more if the session can be resumed, otherwise the iteration counts without one. */
export function onMalformed(progress: Progress, live: LiveIteration, end: Malformed, fact: AttemptEnded): Transition {
  const { reason, session } = end
  const noted = noteFailedStart(progress, fact.at)
  if (session !== undefined && !live.repaired && mayStartNow(noted, fact.at)) {
    return askAgain(noted, { ...live, repair: { session, reason, used: fact.usage } }, fact.at)
  }
  const count = (progress.failure?.class === 'protocol' ? progress.failure.count : 0) + 1
  const failed: Progress = { ...noted, failure: { class: 'protocol', reason, count } }
  const ended: LiveIteration = { ...live, verdict: 'malformed', summary: reason }
  const told = failedAttempt(live, { class: 'protocol', reason }, fact.at)
  if (progress.mode === 'standard') {
    const failedWork: LiveIteration = { ...ended, error: { category: 'validation', text: reason } }
    return andThen([told], closeWithoutHooks(failed, failedWork, fact.at))
  }
  if (count < malformed.inARow) {
    const until = soonestStart(failed, fact.at + pauseMs(malformed.firstMs, count, fact.random))
    return andThen([told], closeWithoutHooks(failed, ended, fact.at, until))
  }
  const humanNeeded = {
    reason: `The agent gave no valid report ${count} times in a row`,
    details: `The last time: ${reason}. The transcript of iteration ${live.number} shows what it said.`,
    askedAt: fact.at,
  }
  return andThen([told], closeWithoutHooks({ ...failed, humanNeeded }, ended, fact.at))
}

/** The sprint is running, has budget left, and has not failed too often. */
const mayStartNow = (progress: Progress, at: number): boolean =>
  isRunning(progress) && spentLimit(progress) === undefined && soonestStart(progress, at) === at

/** With phases, one iteration may wait for a usage limit while others work. */
const isRunning = ({ status }: Progress): boolean => status === 'in-progress' || status === 'parked'

/** Same iteration and session, one short question. Messages that arrived since then stay for the next full prompt. */
function askAgain(progress: Progress, live: LiveIteration, at: number): Transition {
  const again: LiveIteration = { ...live, attempt: live.attempt + 1, repaired: true }
  const told = failedAttempt(live, { class: 'protocol', reason: live.repair?.reason ?? '' }, at, at)
  return {
    progress: withLive(progress, again),
    orders: [told, { type: 'run-attempt', iteration: live.number, attempt: again.attempt }],
  }
}

/** Handles a failed attempt: another attempt of the same iteration follows, now or after a rest. */
export function onFailed(progress: Progress, live: LiveIteration, end: Failed, fact: AttemptEnded): Transition {
  const again = nextAttempt(live)
  if (progress.status === 'blocked') {
    return andThen([failedAttempt(live, end, fact.at)], rest(withLive(progress, again), 'blocked', progress.reason))
  }
  if (!isRunning(progress)) {
    return { progress: withLive(progress, again), orders: [failedAttempt(live, end, fact.at)] }
  }
  if (end.class === 'budget' && hasBudget(progress, live)) return onBudget(progress, live, end, fact)
  const policy = policyFor(end.class)
  if (policy.action === 'park') return onLimit(progress, live, end, fact)
  const before = progress.mode === 'standard' ? live.failures : progress.failure
  const count = (before?.class === end.class ? before.count : 0) + 1
  const failed = noteFailedStart({ ...progress, failure: { class: end.class, reason: end.reason, count } }, fact.at)
  const next = nextStart(failed, live, end, { count, ...fact })
  if (next) {
    const smaller = end.class === 'context' ? { ...again, smallPrompt: true } : again
    const counted = progress.mode === 'standard' ? { ...smaller, failures: { class: end.class, count } } : smaller
    const told = failedAttempt(live, end, fact.at, next.until)
    return wait(next.progress, counted, { until: next.until, reason: end.reason }, told)
  }
  const told = failedAttempt(live, end, fact.at)
  if (policy.action === 'ask' || (policy.action === 'retry' && policy.after === 'ask')) {
    const question = end.question ?? { reason: end.reason, details: `The agent cannot work (${end.class}).` }
    const asked = tell({ type: 'question-asked', iteration: live.number, ...question })
    const asking = withQuestion(withLive(failed, again), question, fact.at)
    return andThen([told, asked], comeToRest(asking, { status: 'needs-human', reason: end.reason }))
  }
  const times = count > 1 ? `, ${count} times in a row` : ''
  if (progress.mode === 'standard') {
    const error = { category: categoryOf(end.class), text: `${end.reason}${times}` }
    const ended: LiveIteration = { ...live, verdict: 'failed', summary: end.reason, error }
    return andThen([told], closeWithoutHooks(failed, ended, fact.at))
  }
  return andThen([told], rest(withLive(failed, again), 'failed', `${end.class}: ${end.reason}${times}`))
}

type Try = { readonly count: number; readonly at: number; readonly random: number }

/** Earliest start of the next attempt, with the progress that records it; undefined if there is none. */
function nextStart(progress: Progress, live: LiveIteration, end: Failed, { count, at, random }: Try) {
  const planned = live.work ? planAttempt(progress, live.work, end, at) : 'by-policy'
  if (planned !== 'by-policy') return planned
  const policy = policyFor(end.class)
  const mayTry = policy.action === 'retry' && (end.retryable || end.class === 'context') && count < policy.tries
  return mayTry ? { progress, until: soonestStart(progress, at + pauseMs(policy.firstMs, count, random)) } : undefined
}

/** A usage limit is not a failure: a fallback agent takes over if there is one, otherwise the sprint parks until the reset. */
function onLimit(progress: Progress, live: LiveIteration, end: Failed, { at }: AttemptEnded): Transition {
  const again = end.notStarted ? { ...nextAttempt(live), attempt: live.attempt } : nextAttempt(live)
  const spent = spentLimit(progress)
  if (spent) {
    const waiting = withLive(progress, again)
    return andThen([failedAttempt(live, end, at)], comeToRest(waiting, { status: 'limit-reached', reason: spent }))
  }
  const { resetsAt = at + parking.probeMs } = end
  const reset = resetsAt > at ? resetsAt : at + parking.soonestMs
  const noted = end.notStarted ? progress : noteFailedStart(progress, at)
  const limited = withAgentLimit(noted, again.agent, reset, at)
  const next = chooseAgent(limited, at, agentsFor(limited, again.work))
  const isFree = next.agent !== undefined && next.until === undefined
  if (isFree && again.agent !== undefined && mayStartNow(limited, at)) {
    const text = `${again.agent} has reached its usage limit; ${next.agent} takes over`
    const orders: Order[] = [
      failedAttempt(live, end, at, at),
      tell({ type: 'note', level: 'warning', text }),
      { type: 'run-attempt', iteration: again.number, attempt: again.attempt },
    ]
    return { progress: withLive(limited, { ...again, agent: next.agent, stage: 'agent', promptedAt: at }), orders }
  }
  const until = soonestStart(limited, isFree ? at : (next.until ?? reset))
  const taken: LiveIteration = next.agent === undefined ? again : { ...again, agent: next.agent }
  const parked: Progress = { ...limited, status: 'parked', parked: { reason: end.reason, until } }
  return wait(parked, taken, { until, reason: end.reason }, failedAttempt(live, end, at, until))
}

/** Whether a limit of ours applies; agent programs can have their own. */
const hasBudget = (progress: Progress, live: LiveIteration): boolean => Object.keys(budgetOf(progress, live)).length > 0

/** The attempt exceeded a limit in USD or tokens: of the sprint, or only of this iteration. */
function onBudget(progress: Progress, live: LiveIteration, end: Failed, { at }: AttemptEnded): Transition {
  const told = failedAttempt(live, end, at)
  const limit = spentLimit(progress)
  if (limit) {
    const waiting = withLive(progress, nextAttempt(live))
    return andThen([told], comeToRest(waiting, { status: 'limit-reached', reason: limit }))
  }
  const noted = noteFailedStart(progress, at)
  const ended: LiveIteration = { ...live, verdict: 'failed', summary: end.reason }
  return andThen([told], closeWithoutHooks(noted, ended, at, soonestStart(noted, at)))
}

type Wait = { readonly until: number; readonly reason: string }

function wait(progress: Progress, live: LiveIteration, { until, reason }: Wait, told: Order): Transition {
  const waiting = withLive(progress, live)
  if (progress.mode === 'standard' && isComingToRest(progress)) return { progress: waiting, orders: [told] }
  if (progress.stopRequested) return andThen([told], restAs(waiting, progress.stopRequested.as))
  return { progress: waiting, orders: [told, { type: 'wait', iteration: live.number, until, reason }] }
}

export function nextAttempt(live: LiveIteration): LiveIteration {
  const { repair: _repair, interrupted: _interrupted, ...kept } = live
  return { ...kept, stage: 'waiting', attempt: live.attempt + 1 }
}

const hourMs = 3_600_000

/** Records a failed attempt; keeps as many of the last hour as the limit needs. */
function noteFailedStart(progress: Progress, at: number): Progress {
  const recent = [...(progress.failedStarts ?? []), at].filter((time) => time > at - hourMs)
  return { ...progress, failedStarts: recent.slice(-progress.limits.failedStartsPerHour) }
}

const failedAttempt = (
  live: LiveIteration,
  why: Pick<Failed, 'class' | 'reason'>,
  at: number,
  retryAt?: number,
): Order =>
  tell({
    type: 'attempt-failed',
    iteration: live.number,
    attempt: live.attempt,
    class: why.class,
    reason: why.reason,
    retryInMs: retryAt === undefined ? undefined : retryAt - at,
  })
