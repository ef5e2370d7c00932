import type { HookTask, LiveIteration, Progress } from '../contract/progress.ts'
import type { Usage } from '../contract/outcome.ts'
import type { Report } from '../contract/report.ts'
import { checksFor, accept } from './checks.ts'
import type { AttemptEnd, Fact } from './fact.ts'
import { runHooks } from './hooks.ts'
import { endIteration, rest } from './iteration.ts'
import { illegal, liveIteration, withLive } from './live.ts'
import { andThen, tell, type Order, type Transition } from './order.ts'
import { malformed, pauseMs, policyFor } from './policy.ts'
import { applySteps } from './steps.ts'

type AttemptEnded = Extract<Fact, { type: 'attempt-ended' }>
type Failed = Extract<AttemptEnd, { kind: 'failed' }>

export function onAttemptEnded(progress: Progress, fact: AttemptEnded): Transition {
  const before = liveIteration(progress, fact.iteration, fact)
  if (before.attempt !== fact.attempt) throw illegal(progress, fact, `attempt ${before.attempt} is the live one`)
  if (before.stage !== 'agent') throw illegal(progress, fact, 'no attempt is running')
  const { progress: counted, live } = withCost(progress, before, fact)
  switch (fact.end.kind) {
    case 'report':
      return onReport(counted, live, fact.end.report, fact.at)
    case 'malformed':
      return onMalformed(counted, live, fact.end.reason, fact)
    case 'failed':
      return onFailed(counted, live, fact.end, fact)
    case 'aborted':
      return { progress: withLive(counted, nextAttempt(live)), orders: [] }
  }
}

function onReport(progress: Progress, live: LiveIteration, report: Report, at: number): Transition {
  const change = applySteps(forget(progress, live), report, { at, iteration: live.number })
  const orders: Order[] = []
  if (change.added.length + change.completed.length > 0) {
    const pending = change.progress.dynamicSteps.filter((step) => step.status === 'pending').length
    orders.push(tell({ type: 'steps-changed', added: [...change.added], completed: [...change.completed], pending }))
  }
  if (change.rejected.length > 0) {
    orders.push(tell({ type: 'report-rejected', iteration: live.number, reasons: [...change.rejected] }))
  }
  const reported: LiveIteration = {
    ...live,
    summary: report.summary,
    ...(change.rejected.length > 0 && { rejected: [...change.rejected] }),
  }
  return andThen(orders, judge(change.progress, reported, report, at))
}

/** What the report's status leads to. goal-complete is a claim: too early it is noted, else the checks decide. */
function judge(progress: Progress, live: LiveIteration, report: Report, at: number): Transition {
  if (report.status === 'needs-human') {
    const asked = { ...progress, humanNeeded: { ...report.humanNeeded, askedAt: at } }
    return thenChecks(asked, { ...live, verdict: 'needs-human' }, at)
  }
  if (report.status === 'continue') return thenChecks(progress, { ...live, verdict: 'continue' }, at)
  const claimed = tell({ type: 'claim-made', iteration: live.number, summary: report.goalCompleteSummary })
  const { minIterations } = progress.ralph
  if (live.number < minIterations) {
    const noted = { ...progress, ralph: { ...progress.ralph, goalCompleteAttemptedAt: live.number } }
    const reason = `min-iterations is ${minIterations}, this is iteration ${live.number}`
    const refused = tell({ type: 'claim-refused', iteration: live.number, by: ['min-iterations'], reason })
    return andThen([claimed, refused], thenChecks(noted, { ...live, verdict: 'premature' }, at))
  }
  const claiming: LiveIteration = { ...live, goalCompleteSummary: report.goalCompleteSummary }
  return andThen([claimed], thenChecks(progress, claiming, at))
}

function thenChecks(progress: Progress, live: LiveIteration, at: number): Transition {
  const names = checksFor(progress, live)
  if (names.length > 0) {
    const checking = withLive(progress, { ...live, stage: 'checks' })
    const order: Order = { type: 'run-checks', iteration: live.number, names }
    return { progress: checking, orders: progress.status === 'interrupted' ? [] : [order] }
  }
  if (live.goalCompleteSummary !== undefined) return accept(progress, live, at, [])
  return runHooks(progress, live, at)
}

/** No valid report: the iteration counts, no hook runs, and the next one starts after a pause. */
function onMalformed(progress: Progress, live: LiveIteration, reason: string, fact: AttemptEnded): Transition {
  const count = (progress.failure?.class === 'protocol' ? progress.failure.count : 0) + 1
  const failed: Progress = { ...progress, failure: { class: 'protocol', reason, count } }
  const ended: LiveIteration = { ...live, verdict: 'malformed', summary: reason }
  const told = tell({
    type: 'attempt-failed',
    iteration: live.number,
    attempt: live.attempt,
    class: 'protocol',
    reason,
  })
  if (count < malformed.inARow) {
    const pause = { ms: pauseMs(malformed.firstMs, count, fact.random), reason: 'no valid report' }
    return andThen([told], endIteration(failed, ended, fact.at, pause))
  }
  const humanNeeded = {
    reason: `The agent gave no valid report ${count} times in a row`,
    details: `The last time: ${reason}. The transcript of iteration ${live.number} shows what it said.`,
    askedAt: fact.at,
  }
  return andThen([told], endIteration({ ...failed, humanNeeded }, ended, fact.at))
}

/** The attempt did not end well. Another attempt of the same iteration follows, now or after a rest. */
function onFailed(progress: Progress, live: LiveIteration, end: Failed, fact: AttemptEnded): Transition {
  const again = nextAttempt(live)
  const policy = policyFor(end.class)
  const told = (retryAt?: number) =>
    tell({
      type: 'attempt-failed',
      iteration: live.number,
      attempt: live.attempt,
      class: end.class,
      reason: end.reason,
      retryInMs: retryAt === undefined ? undefined : retryAt - fact.at,
    })
  if (progress.status === 'blocked') {
    return andThen([told()], rest(withLive(progress, again), 'blocked', progress.reason))
  }
  if (progress.status !== 'in-progress') return { progress: withLive(progress, again), orders: [told()] }
  if (policy.action === 'park') {
    const { resetsAt = fact.at + policy.probeMs } = end
    const until = resetsAt > fact.at ? resetsAt : fact.at + policy.soonestMs
    const parked: Progress = { ...progress, status: 'parked', parked: { reason: end.reason, until } }
    return wait(parked, again, { until, reason: end.reason }, told(until))
  }
  const count = (progress.failure?.class === end.class ? progress.failure.count : 0) + 1
  const failed: Progress = { ...progress, failure: { class: end.class, reason: end.reason, count } }
  if (policy.action === 'retry' && end.retryable && count < policy.tries) {
    const until = fact.at + pauseMs(policy.firstMs, count, fact.random)
    return wait(failed, again, { until, reason: end.reason }, told(until))
  }
  const waiting = withLive(failed, again)
  if (policy.action === 'ask') {
    const humanNeeded = { reason: end.reason, details: `The agent cannot work (${end.class}).`, askedAt: fact.at }
    const asked = tell({ type: 'question-asked', iteration: live.number, ...humanNeeded })
    return andThen([told(), asked], rest({ ...waiting, humanNeeded }, 'needs-human', end.reason))
  }
  const times = count > 1 ? `, ${count} times in a row` : ''
  return andThen([told()], rest(waiting, 'failed', `${end.class}: ${end.reason}${times}`))
}

type Wait = { readonly until: number; readonly reason: string }

function wait(progress: Progress, live: LiveIteration, { until, reason }: Wait, told: Order): Transition {
  const waiting = withLive(progress, live)
  if (progress.pauseRequested) return andThen([told], rest(waiting, 'paused', 'paused on request'))
  return { progress: waiting, orders: [told, { type: 'wait', iteration: live.number, until, reason }] }
}

const nextAttempt = (live: LiveIteration): LiveIteration => ({ ...live, stage: 'waiting', attempt: live.attempt + 1 })

/** Adds what the attempt cost. An attempt without a price makes the sum unknown, not zero. */
function withCost(progress: Progress, live: LiveIteration, { usage, costUsd }: AttemptEnded) {
  const plus = (sum: number | null) => (sum === null || costUsd === undefined ? null : sum + costUsd)
  const counted: LiveIteration = { ...live, usage: addUsage(live.usage, usage), costUsd: plus(live.costUsd) }
  const { stats } = progress
  const total = { ...stats, usage: addUsage(stats.usage, usage), costUsd: plus(stats.costUsd) }
  return { progress: withLive({ ...progress, stats: total }, counted), live: counted }
}

const addUsage = (a: Usage, b: Usage): Usage => ({
  inputTokens: a.inputTokens + b.inputTokens,
  outputTokens: a.outputTokens + b.outputTokens,
  cacheReadTokens: a.cacheReadTokens + b.cacheReadTokens,
  cacheWriteTokens: a.cacheWriteTokens + b.cacheWriteTokens,
})

/**
 * A valid report ends what the prompt had to tell: failures, red checks, hook output, the answer of a person. What a hook
 * said while this iteration was under way was not in its prompt; the next one tells it.
 */
function forget(progress: Progress, { startedAt }: LiveIteration): Progress {
  const { failure: _failure, refusedBy: _refusedBy, feedback = [], answer: _answer, ...kept } = progress
  const since = ({ completedAt }: HookTask) => completedAt !== undefined && completedAt > startedAt
  const untold = feedback.filter(({ hookId }) => kept.hookTasks.some((task) => task.hookId === hookId && since(task)))
  return { ...kept, ...(untold.length > 0 && { feedback: untold }) }
}
