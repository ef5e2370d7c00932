import { unlimitedIterations, type LiveIteration } from '../contract/progress.ts'
import { formatTimestamp } from '../contract/time.ts'
import type { Fact } from './core/fact.ts'
import { andThen, createNote, emitEvent, type Decision, type Order } from './core/order.ts'
import { getCheckName, isBaselineDue, listDueChecks } from './core/request-checks.ts'
import { setHistory, type Sprint } from './core/sprint.ts'
import { isHookRunning, runHooks } from './iteration/hooks.ts'
import { getWay } from './ways/registry.ts'

type StartedFact = Extract<Fact, { type: 'started' }>

/** Starts a run: the first one, after a rest, or after a crash. Continues whatever was interrupted. */
export function onStarted(sprint: Sprint, fact: StartedFact): Decision {
  if (sprint.status === 'completed' || sprint.status === 'needs-human') {
    const rested = emitEvent({ type: 'sprint-rested', status: sprint.status, reason: sprint.reason })
    return { sprint, orders: sprint.status === 'completed' ? [...reissueHooks(sprint), rested] : [rested] }
  }
  const resumed = getWay(sprint).resume(beginRun(sprint, fact), fact.at, sprint.status)
  const startedEvent = emitEvent({ type: 'sprint-started', resumed: sprint.stats.startedAt !== null })
  const orders = [startedEvent, ...describeParked(resumed, fact.at), ...reissueOrders(resumed)]
  return andThen(orders, continueRun(resumed, fact.at))
}

/** Replaces the state of the last run, and drops why it ended. */
function beginRun(sprint: Sprint, { at, runLimits, detectedChecks, agents, choice, worktree }: StartedFact): Sprint {
  const { plan, parked, stats, run } = sprint
  const { limits, doneWhen = detectedChecks } = plan
  const { agents: before, ending } = run ?? {}
  const configured = limits.iterations === 'off' ? unlimitedIterations : limits.iterations
  return {
    ...setHistory(sprint, worktree ? { worktreeState: worktree } : {}),
    plan: doneWhen ? { ...plan, doneWhen: [...doneWhen] } : plan,
    run: {
      limits: runLimits,
      agents: agents ? [...agents] : before,
      choice,
      ending: ending?.status === 'limit-reached' ? undefined : ending,
    },
    status: parked ? 'parked' : 'in-progress',
    reason: undefined,
    stats: { ...stats, startedAt: stats.startedAt ?? at, maxIterations: runLimits?.iterations ?? configured },
  }
}

/** Explains why the sprint stays silent, possibly for hours. */
function describeParked({ parked }: Sprint, at: number): Order[] {
  if (!parked || parked.until <= at) return []
  return [createNote('info', `waits until ${formatTimestamp(parked.until)}: ${parked.reason}`)]
}

/** Runs the baseline, or continues iterations that were stopped between two hooks. */
function continueRun(sprint: Sprint, at: number): Decision {
  const { doneWhen = [] } = sprint.plan
  if (isBaselineDue(sprint))
    return { sprint, orders: [{ type: 'run-checks', iteration: 0, names: doneWhen.map(getCheckName) }] }
  return sprint.live
    .filter(({ stage, number }) => stage === 'hooks' && !isHookRunning(sprint, number))
    .reduce<Decision>((decision, live) => andThen(decision.orders, runHooks(decision.sprint, live, at)), {
      sprint,
      orders: [],
    })
}

/** Reissues the orders that were open when the last run ended. The runtime joins what is still running. */
const reissueOrders = (sprint: Sprint): Order[] => [
  ...sprint.live.flatMap((live) => reissueIteration(sprint, live)),
  ...reissueHooks(sprint),
]

const reissueHooks = ({ history: { hookTasks } }: Sprint): Order[] =>
  hookTasks
    .filter((task) => task.status === 'running')
    .map(({ iteration, hookId }) => ({ type: 'run-hook', iteration, hookId }))

function reissueIteration(sprint: Sprint, live: LiveIteration): Order[] {
  const { number: iteration, attempt } = live
  switch (live.stage) {
    case 'agent':
      return [{ type: 'run-attempt', iteration, attempt }]
    case 'waiting':
      return [reissueWait(sprint, live)]
    case 'checks':
      return [{ type: 'run-checks', iteration, names: listDueChecks(sprint, live) }]
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

function reissueWait(sprint: Sprint, live: LiveIteration): Order {
  const { parked } = sprint
  const { number: iteration } = live
  if (parked) return { type: 'wait', iteration, ...parked }
  return { type: 'wait', iteration, until: getWay(sprint).waitsUntil(sprint, live) ?? 0, reason: 'resumed' }
}
