import type { HookTask, LiveIteration } from '../../contract/progress.ts'
import { warnUnpriced, addCost } from '../core/cost.ts'
import type { AttemptEnd, Fact } from '../core/fact.ts'
import { startAttempt, createInterrupted } from '../core/interrupted.ts'
import { createIllegalFact, getLiveIteration, nextAttempt, replaceLive } from '../core/live-iteration.ts'
import { andThen, type Decision } from '../core/order.ts'
import { restSprint, restOnRequest } from '../core/rest.ts'
import { setRun, type Sprint } from '../core/sprint.ts'
import { getWay } from '../ways/registry.ts'
import { startChecks } from './checks.ts'
import { onFailed, onMalformed } from './failure.ts'
import { mergeHosts, recordWalls } from './walls.ts'

type EndedAttemptFact = Extract<Fact, { type: 'attempt-ended' }>
type AbortedEnd = Extract<AttemptEnd, { kind: 'aborted' }>

export function onAttemptEnded(sprint: Sprint, fact: EndedAttemptFact): Decision {
  const before = getLiveIteration(sprint, fact.iteration, fact)
  if (before.attempt !== fact.attempt)
    throw createIllegalFact(sprint, fact, `attempt ${before.attempt} is the current one`)
  if (before.stage !== 'agent') throw createIllegalFact(sprint, fact, 'no attempt is running')
  const walled = recordWalls(sprint, 'agents', fact.walls)
  const { sprint: counted, live } = addCost(walled, mergeHosts(mergeChanged(before, fact), fact.walls), fact)
  return andThen(warnUnpriced(sprint, counted), afterAttempt(counted, live, fact))
}

function afterAttempt(counted: Sprint, live: LiveIteration, fact: EndedAttemptFact): Decision {
  switch (fact.end.kind) {
    case 'malformed':
      return onMalformed(counted, live, fact.end, fact)
    case 'failed':
      return onFailed(counted, live, fact.end, fact)
    case 'aborted':
      return onAborted(counted, live, fact.end, fact)
    case 'report':
    case 'phase-report':
      return onReport(counted, live, fact)
  }
}

/** An earlier attempt may have changed files even if the last one did not. */
const mergeChanged = (live: LiveIteration, { changed }: EndedAttemptFact): LiveIteration =>
  changed === undefined ? live : { ...live, changed: live.changed === true || changed }

/** Ended on request: by a stop, after which the next run continues here, or to deliver a message, which the next attempt gets at once. */
function onAborted(sprint: Sprint, live: LiveIteration, { session }: AbortedEnd, fact: EndedAttemptFact): Decision {
  const interrupted = session === undefined ? undefined : createInterrupted(session, live, fact.usage)
  const again: LiveIteration = { ...nextAttempt(live), ...(interrupted && { interrupted }) }
  if (sprint.status === 'blocked') return restSprint(replaceLive(sprint, again), 'blocked', sprint.reason)
  if (!live.retelling || sprint.status !== 'in-progress') return { sprint: replaceLive(sprint, again), orders: [] }
  const { retelling: _retelling, ...restarted } = again
  return {
    sprint: replaceLive(sprint, startAttempt(sprint, restarted, fact.at)),
    orders: [{ type: 'run-attempt', iteration: again.number, attempt: again.attempt }],
  }
}

function onReport(sprint: Sprint, live: LiveIteration, fact: EndedAttemptFact): Decision {
  const reported = getWay(sprint).onReport(clearInbox(sprint, live), live, fact.end, fact.at)
  if (!reported) throw createIllegalFact(sprint, fact, 'it is the report of another mode')
  return andThen(reported.orders, afterTurn(reported.sprint, reported.live, fact.at))
}

/** A stop after the turn leaves the checks and hooks of this iteration to the next run. */
function afterTurn(sprint: Sprint, live: LiveIteration, at: number): Decision {
  const { stopRequested } = sprint.run ?? {}
  const rests = !sprint.way.concurrent && stopRequested?.when === 'turn' && sprint.status === 'in-progress'
  if (!rests) return startChecks(sprint, live, at)
  const stopped = restOnRequest(sprint, stopRequested.as)
  return andThen(stopped.orders, startChecks(stopped.sprint, live, at))
}

/**
 * A valid report clears what the prompt contained: failures, red checks, hook output, messages. Anything that arrived after the
 * prompt was built stays for the next one.
 */
function clearInbox(sprint: Sprint, { startedAt, promptedAt = startedAt }: LiveIteration): Sprint {
  const { feedback = [], messages = [] } = sprint.inbox
  const since = ({ completedAt }: HookTask) => completedAt !== undefined && completedAt > promptedAt
  const newFeedback = feedback.filter(({ hookId }) =>
    sprint.history.hookTasks.some((task) => task.hookId === hookId && since(task)),
  )
  const unread = messages.filter(({ at }) => at > promptedAt)
  return {
    ...setRun(sprint, { failure: undefined }),
    inbox: {
      ...(newFeedback.length > 0 && { feedback: newFeedback }),
      ...(unread.length > 0 && { messages: unread }),
    },
  }
}
