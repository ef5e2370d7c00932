import type { HookTask, LiveIteration, Progress } from '../contract/progress.ts'
import type { Report } from '../contract/report.ts'
import { startChecks } from './checks.ts'
import { warnUnpriced, addCost } from './cost.ts'
import type { AttemptEnd, Fact } from './fact.ts'
import { startAttempt, createInterrupted } from './interrupted.ts'
import { nextAttempt, onFailed, onMalformed } from './failure.ts'
import { createIllegalFact, getLiveIteration, replaceLive } from './live-iteration.ts'
import { andThen, emitEvent, type Order, type Transition } from './order.ts'
import { restSprint, restOnRequest } from './rest.ts'
import { onPhaseReport } from './standard/phase-report.ts'
import { applySteps } from './steps.ts'

type EndedAttemptFact = Extract<Fact, { type: 'attempt-ended' }>
type AbortedEnd = Extract<AttemptEnd, { kind: 'aborted' }>

export function onAttemptEnded(progress: Progress, fact: EndedAttemptFact): Transition {
  const before = getLiveIteration(progress, fact.iteration, fact)
  if (before.attempt !== fact.attempt)
    throw createIllegalFact(progress, fact, `attempt ${before.attempt} is the current one`)
  if (before.stage !== 'agent') throw createIllegalFact(progress, fact, 'no attempt is running')
  if (fact.end.kind === (progress.mode === 'ralph' ? 'phase-report' : 'report'))
    throw createIllegalFact(progress, fact, 'it is the report of another mode')
  const { progress: counted, live } = addCost(progress, mergeChanged(before, fact), fact)
  return andThen(warnUnpriced(progress, counted), afterAttempt(counted, live, fact))
}

function afterAttempt(counted: Progress, live: LiveIteration, fact: EndedAttemptFact): Transition {
  switch (fact.end.kind) {
    case 'report':
      return onReport(counted, live, fact.end.report, fact.at)
    case 'phase-report':
      return onPhaseReport(clearPromptInputs(counted, live), live, fact.end.report, fact.at)
    case 'malformed':
      return onMalformed(counted, live, fact.end, fact)
    case 'failed':
      return onFailed(counted, live, fact.end, fact)
    case 'aborted':
      return onAborted(counted, live, fact.end, fact)
  }
}

/** An earlier attempt may have changed files even if the last one did not. */
const mergeChanged = (live: LiveIteration, { changed }: EndedAttemptFact): LiveIteration =>
  changed === undefined ? live : { ...live, changed: live.changed === true || changed }

/** Ended on request: by a stop, after which the next run continues here, or to deliver a message, which the next attempt gets at once. */
function onAborted(
  progress: Progress,
  live: LiveIteration,
  { session }: AbortedEnd,
  fact: EndedAttemptFact,
): Transition {
  const interrupted = session === undefined ? undefined : createInterrupted(session, live, fact.usage)
  const again: LiveIteration = { ...nextAttempt(live), ...(interrupted && { interrupted }) }
  if (progress.status === 'blocked') return restSprint(replaceLive(progress, again), 'blocked', progress.reason)
  if (!live.retelling || progress.status !== 'in-progress')
    return { progress: replaceLive(progress, again), orders: [] }
  const { retelling: _retelling, ...told } = again
  return {
    progress: replaceLive(progress, startAttempt(progress, told, fact.at)),
    orders: [{ type: 'run-attempt', iteration: again.number, attempt: again.attempt }],
  }
}

function onReport(progress: Progress, live: LiveIteration, report: Report, at: number): Transition {
  const change = applySteps(clearPromptInputs(progress, live), report, { at, iteration: live.number })
  const orders: Order[] = []
  const stepsChanged = change.added.length + change.completed.length > 0
  if (stepsChanged) {
    const { added, completed, pending } = change
    orders.push(emitEvent({ type: 'steps-changed', added: [...added], completed: [...completed], pending }))
  }
  if (change.rejected.length > 0) {
    orders.push(emitEvent({ type: 'report-rejected', iteration: live.number, reasons: [...change.rejected] }))
  }
  const reported: LiveIteration = {
    ...live,
    summary: report.summary,
    ...(stepsChanged && { stepsChanged }),
    ...(change.rejected.length > 0 && { rejected: [...change.rejected] }),
  }
  return andThen(orders, judgeReport(change.progress, reported, report, at))
}

/** Acts on the report's status. goal-complete is a claim: too early it is only noted, otherwise the checks decide. */
function judgeReport(progress: Progress, live: LiveIteration, report: Report, at: number): Transition {
  if (report.status === 'needs-human') {
    const asked = { ...progress, humanNeeded: { ...report.humanNeeded, askedAt: at } }
    return afterTurn(asked, { ...live, verdict: 'needs-human' }, at)
  }
  if (report.status === 'continue') return afterTurn(progress, { ...live, verdict: 'continue' }, at)
  const claimed = emitEvent({ type: 'claim-made', iteration: live.number, summary: report.goalCompleteSummary })
  const { minIterations } = progress.ralph
  if (live.number < minIterations) {
    const noted = { ...progress, ralph: { ...progress.ralph, goalCompleteAttemptedAt: live.number } }
    const reason = `min-iterations is ${minIterations}, this is iteration ${live.number}`
    const refused = emitEvent({ type: 'claim-refused', iteration: live.number, by: ['min-iterations'], reason })
    return andThen([claimed, refused], afterTurn(noted, { ...live, verdict: 'premature' }, at))
  }
  const claiming: LiveIteration = { ...live, goalCompleteSummary: report.goalCompleteSummary }
  return andThen([claimed], afterTurn(progress, claiming, at))
}

/** A stop after the turn leaves the checks and hooks of this iteration to the next run. */
function afterTurn(progress: Progress, live: LiveIteration, at: number): Transition {
  const { stopRequested } = progress
  if (stopRequested?.when !== 'turn' || progress.status !== 'in-progress') return startChecks(progress, live, at)
  const stopped = restOnRequest(progress, stopRequested.as)
  return andThen(stopped.orders, startChecks(stopped.progress, live, at))
}

/**
 * A valid report clears what the prompt contained: failures, red checks, hook output, messages. Anything that arrived after the
 * prompt was built stays for the next one.
 */
function clearPromptInputs(progress: Progress, { startedAt, promptedAt = startedAt }: LiveIteration): Progress {
  const { failure: _failure, refusedBy: _refusedBy, claimPrompt: _claim, ...rest } = progress
  const { feedback = [], answer: _answer, messages = [], ...kept } = rest
  const since = ({ completedAt }: HookTask) => completedAt !== undefined && completedAt > promptedAt
  const newFeedback = feedback.filter(({ hookId }) =>
    kept.hookTasks.some((task) => task.hookId === hookId && since(task)),
  )
  const unread = messages.filter(({ at }) => at > promptedAt)
  return {
    ...kept,
    ...(newFeedback.length > 0 && { feedback: newFeedback }),
    ...(unread.length > 0 && { messages: unread }),
  }
}
