import type { HookTask, LiveIteration, Progress } from '../contract/progress.ts'
import type { Report } from '../contract/report.ts'
import { thenChecks } from './checks.ts'
import { unpricedNote, withCost } from './cost.ts'
import type { AttemptEnd, Fact } from './fact.ts'
import { beginAttempt, interruptedIn } from './interrupted.ts'
import { nextAttempt, onFailed, onMalformed } from './failure.ts'
import { illegal, liveIteration, withLive } from './live.ts'
import { andThen, tell, type Order, type Transition } from './order.ts'
import { rest, restAs } from './rest.ts'
import { onPhaseReport } from './standard/phase-report.ts'
import { applySteps } from './steps.ts'

type AttemptEnded = Extract<Fact, { type: 'attempt-ended' }>
type Aborted = Extract<AttemptEnd, { kind: 'aborted' }>

export function onAttemptEnded(progress: Progress, fact: AttemptEnded): Transition {
  const before = liveIteration(progress, fact.iteration, fact)
  if (before.attempt !== fact.attempt) throw illegal(progress, fact, `attempt ${before.attempt} is the current one`)
  if (before.stage !== 'agent') throw illegal(progress, fact, 'no attempt is running')
  if (fact.end.kind === (progress.mode === 'ralph' ? 'phase-report' : 'report'))
    throw illegal(progress, fact, 'it is the report of another mode')
  const { progress: counted, live } = withCost(progress, withChange(before, fact), fact)
  return andThen(unpricedNote(progress, counted), afterAttempt(counted, live, fact))
}

function afterAttempt(counted: Progress, live: LiveIteration, fact: AttemptEnded): Transition {
  switch (fact.end.kind) {
    case 'report':
      return onReport(counted, live, fact.end.report, fact.at)
    case 'phase-report':
      return onPhaseReport(forget(counted, live), live, fact.end.report, fact.at)
    case 'malformed':
      return onMalformed(counted, live, fact.end, fact)
    case 'failed':
      return onFailed(counted, live, fact.end, fact)
    case 'aborted':
      return onAborted(counted, live, fact.end, fact)
  }
}

/** An earlier attempt may have changed files even if the last one did not. */
const withChange = (live: LiveIteration, { changed }: AttemptEnded): LiveIteration =>
  changed === undefined ? live : { ...live, changed: live.changed === true || changed }

/** Ended on request: by a stop, after which the next run continues here, or to deliver a message, which the next attempt gets at once. */
function onAborted(progress: Progress, live: LiveIteration, { session }: Aborted, fact: AttemptEnded): Transition {
  const interrupted = session === undefined ? undefined : interruptedIn(session, live, fact.usage)
  const again: LiveIteration = { ...nextAttempt(live), ...(interrupted && { interrupted }) }
  if (progress.status === 'blocked') return rest(withLive(progress, again), 'blocked', progress.reason)
  if (!live.retelling || progress.status !== 'in-progress') return { progress: withLive(progress, again), orders: [] }
  const { retelling: _retelling, ...told } = again
  return {
    progress: withLive(progress, beginAttempt(progress, told, fact.at)),
    orders: [{ type: 'run-attempt', iteration: again.number, attempt: again.attempt }],
  }
}

function onReport(progress: Progress, live: LiveIteration, report: Report, at: number): Transition {
  const change = applySteps(forget(progress, live), report, { at, iteration: live.number })
  const orders: Order[] = []
  const stepsChanged = change.added.length + change.completed.length > 0
  if (stepsChanged) {
    const { added, completed, pending } = change
    orders.push(tell({ type: 'steps-changed', added: [...added], completed: [...completed], pending }))
  }
  if (change.rejected.length > 0) {
    orders.push(tell({ type: 'report-rejected', iteration: live.number, reasons: [...change.rejected] }))
  }
  const reported: LiveIteration = {
    ...live,
    summary: report.summary,
    ...(stepsChanged && { stepsChanged }),
    ...(change.rejected.length > 0 && { rejected: [...change.rejected] }),
  }
  return andThen(orders, judge(change.progress, reported, report, at))
}

/** Acts on the report's status. goal-complete is a claim: too early it is only noted, otherwise the checks decide. */
function judge(progress: Progress, live: LiveIteration, report: Report, at: number): Transition {
  if (report.status === 'needs-human') {
    const asked = { ...progress, humanNeeded: { ...report.humanNeeded, askedAt: at } }
    return afterTurn(asked, { ...live, verdict: 'needs-human' }, at)
  }
  if (report.status === 'continue') return afterTurn(progress, { ...live, verdict: 'continue' }, at)
  const claimed = tell({ type: 'claim-made', iteration: live.number, summary: report.goalCompleteSummary })
  const { minIterations } = progress.ralph
  if (live.number < minIterations) {
    const noted = { ...progress, ralph: { ...progress.ralph, goalCompleteAttemptedAt: live.number } }
    const reason = `min-iterations is ${minIterations}, this is iteration ${live.number}`
    const refused = tell({ type: 'claim-refused', iteration: live.number, by: ['min-iterations'], reason })
    return andThen([claimed, refused], afterTurn(noted, { ...live, verdict: 'premature' }, at))
  }
  const claiming: LiveIteration = { ...live, goalCompleteSummary: report.goalCompleteSummary }
  return andThen([claimed], afterTurn(progress, claiming, at))
}

/** A stop after the turn leaves the checks and hooks of this iteration to the next run. */
function afterTurn(progress: Progress, live: LiveIteration, at: number): Transition {
  const { stopRequested } = progress
  if (stopRequested?.when !== 'turn' || progress.status !== 'in-progress') return thenChecks(progress, live, at)
  const stopped = restAs(progress, stopRequested.as)
  return andThen(stopped.orders, thenChecks(stopped.progress, live, at))
}

/**
 * A valid report clears what the prompt contained: failures, red checks, hook output, messages. Anything that arrived after the
 * prompt was built stays for the next one.
 */
function forget(progress: Progress, { startedAt, promptedAt = startedAt }: LiveIteration): Progress {
  const { failure: _failure, refusedBy: _refusedBy, feedback = [], answer: _answer, messages = [], ...kept } = progress
  const since = ({ completedAt }: HookTask) => completedAt !== undefined && completedAt > promptedAt
  const untold = feedback.filter(({ hookId }) => kept.hookTasks.some((task) => task.hookId === hookId && since(task)))
  const unread = messages.filter(({ at }) => at > promptedAt)
  return { ...kept, ...(untold.length > 0 && { feedback: untold }), ...(unread.length > 0 && { messages: unread }) }
}
