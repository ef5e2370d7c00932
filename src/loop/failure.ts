import type { LiveIteration, Progress } from '../contract/progress.ts'
import { chooseAgent, withAgentLimit } from './agents.ts'
import type { AttemptEnd, Fact } from './fact.ts'
import { endIteration, rest, restAs } from './iteration.ts'
import { spentLimit } from './limits.ts'
import { withLive } from './live.ts'
import { andThen, tell, type Order, type Transition } from './order.ts'
import { malformed, parking, pauseMs, policyFor, soonestStart } from './policy.ts'

type AttemptEnded = Extract<Fact, { type: 'attempt-ended' }>
type Failed = Extract<AttemptEnd, { kind: 'failed' }>
type Malformed = Extract<AttemptEnd, { kind: 'malformed' }>

/** No valid report. It is asked for once more where the session can be gone on with; else the iteration counts without one. */
export function onMalformed(progress: Progress, live: LiveIteration, end: Malformed, fact: AttemptEnded): Transition {
  const { reason, session } = end
  if (session !== undefined && !live.repaired && progress.status === 'in-progress') {
    return askAgain(progress, { ...live, repair: { session, reason } }, fact)
  }
  const count = (progress.failure?.class === 'protocol' ? progress.failure.count : 0) + 1
  const failed: Progress = noteFailedStart({ ...progress, failure: { class: 'protocol', reason, count } }, fact.at)
  const ended: LiveIteration = { ...live, verdict: 'malformed', summary: reason }
  const told = failedAttempt(live, { class: 'protocol', reason }, fact.at)
  if (count < malformed.inARow) {
    const until = soonestStart(failed, fact.at + pauseMs(malformed.firstMs, count, fact.random))
    return andThen([told], endIteration(failed, ended, fact.at, { ms: until - fact.at, reason: 'no valid report' }))
  }
  const humanNeeded = {
    reason: `The agent gave no valid report ${count} times in a row`,
    details: `The last time: ${reason}. The transcript of iteration ${live.number} shows what it said.`,
    askedAt: fact.at,
  }
  return andThen([told], endIteration({ ...failed, humanNeeded }, ended, fact.at))
}

/** The same iteration, the same session, one short question. */
function askAgain(progress: Progress, live: LiveIteration, { at }: AttemptEnded): Transition {
  const again: LiveIteration = { ...live, attempt: live.attempt + 1, repaired: true, promptedAt: at }
  const told = failedAttempt(live, { class: 'protocol', reason: live.repair?.reason ?? '' }, at, at)
  return {
    progress: withLive(progress, again),
    orders: [told, { type: 'run-attempt', iteration: live.number, attempt: again.attempt }],
  }
}

/** The attempt did not end well. Another attempt of the same iteration follows, now or after a rest. */
export function onFailed(progress: Progress, live: LiveIteration, end: Failed, fact: AttemptEnded): Transition {
  const again = nextAttempt(live)
  if (progress.status === 'blocked') {
    return andThen([failedAttempt(live, end, fact.at)], rest(withLive(progress, again), 'blocked', progress.reason))
  }
  if (progress.status !== 'in-progress') {
    return { progress: withLive(progress, again), orders: [failedAttempt(live, end, fact.at)] }
  }
  if (end.class === 'budget' && isOurs(progress)) return onBudget(progress, live, end, fact)
  const policy = policyFor(end.class)
  if (policy.action === 'park') return onLimit(progress, again, end, fact)
  const count = (progress.failure?.class === end.class ? progress.failure.count : 0) + 1
  const failed = noteFailedStart({ ...progress, failure: { class: end.class, reason: end.reason, count } }, fact.at)
  if (policy.action === 'retry' && (end.retryable || end.class === 'context') && count < policy.tries) {
    const until = soonestStart(failed, fact.at + pauseMs(policy.firstMs, count, fact.random))
    const smaller = end.class === 'context' ? { ...again, smallPrompt: true } : again
    return wait(failed, smaller, { until, reason: end.reason }, failedAttempt(live, end, fact.at, until))
  }
  const waiting = withLive(failed, again)
  const told = failedAttempt(live, end, fact.at)
  if (policy.action === 'ask' || (policy.action === 'retry' && policy.after === 'ask')) {
    const humanNeeded = { reason: end.reason, details: `The agent cannot work (${end.class}).`, askedAt: fact.at }
    const asked = tell({ type: 'question-asked', iteration: live.number, ...humanNeeded })
    return andThen([told, asked], rest({ ...waiting, humanNeeded }, 'needs-human', end.reason))
  }
  const times = count > 1 ? `, ${count} times in a row` : ''
  return andThen([told], rest(waiting, 'failed', `${end.class}: ${end.reason}${times}`))
}

/** A usage limit is nobody's failure: another agent takes over if there is one, else the sprint is parked until it is over. */
function onLimit(progress: Progress, again: LiveIteration, end: Failed, { at }: AttemptEnded): Transition {
  const { resetsAt = at + parking.probeMs } = end
  const until = resetsAt > at ? resetsAt : at + parking.soonestMs
  const limited = withAgentLimit(progress, again.agent, until, at)
  const next = chooseAgent(limited, at)
  const before: LiveIteration = { ...again, attempt: again.attempt - 1 }
  if (next.agent !== undefined && next.until === undefined && again.agent !== undefined) {
    const text = `${again.agent} has reached its usage limit; ${next.agent} goes on`
    const orders: Order[] = [
      failedAttempt(before, end, at, at),
      tell({ type: 'note', level: 'warning', text }),
      { type: 'run-attempt', iteration: again.number, attempt: again.attempt },
    ]
    return { progress: withLive(limited, { ...again, agent: next.agent, stage: 'agent', promptedAt: at }), orders }
  }
  const first = next.until ?? until
  const taken: LiveIteration = next.agent === undefined ? again : { ...again, agent: next.agent }
  const parked: Progress = { ...limited, status: 'parked', parked: { reason: end.reason, until: first } }
  return wait(parked, taken, { until: first, reason: end.reason }, failedAttempt(before, end, at, first))
}

/** A budget of the sprint or of its iterations; an agent program can have one of its own. */
const isOurs = (progress: Progress): boolean =>
  spentLimit(progress) !== undefined ||
  progress.limits.iterationUsd !== 'off' ||
  progress.limits.iterationTokens !== 'off'

/** The attempt was ended because of money or tokens: of the whole sprint, or only of this iteration. */
function onBudget(progress: Progress, live: LiveIteration, end: Failed, { at }: AttemptEnded): Transition {
  const told = failedAttempt(live, end, at)
  const limit = spentLimit(progress)
  if (limit) return andThen([told], rest(withLive(progress, nextAttempt(live)), 'limit-reached', limit))
  return andThen([told], endIteration(progress, { ...live, verdict: 'failed', summary: end.reason }, at))
}

type Wait = { readonly until: number; readonly reason: string }

function wait(progress: Progress, live: LiveIteration, { until, reason }: Wait, told: Order): Transition {
  const waiting = withLive(progress, live)
  if (progress.stopRequested) return andThen([told], restAs(waiting, progress.stopRequested.as))
  return { progress: waiting, orders: [told, { type: 'wait', iteration: live.number, until, reason }] }
}

export function nextAttempt(live: LiveIteration): LiveIteration {
  const { repair: _repair, ...kept } = live
  return { ...kept, stage: 'waiting', attempt: live.attempt + 1 }
}

const hourMs = 3_600_000

/** Failed attempts of the last hour, as many as can matter. */
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
