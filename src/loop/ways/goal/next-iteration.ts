import type { LiveIteration } from '../../../contract/progress.ts'
import { chooseAgent } from '../../core/agents.ts'
import { describeReachedLimit } from '../../core/limits.ts'
import { openIteration } from '../../core/open-iteration.ts'
import { andThen, emitEvent, type Decision, type Order } from '../../core/order.ts'
import { isBaselineDue } from '../../core/request-checks.ts'
import { restSprint, restOnRequest } from '../../core/rest.ts'
import { setStats, type Sprint } from '../../core/sprint.ts'
import type { Pause } from '../../core/way.ts'
import { getGoal, setGoal } from './goal-state.ts'
import type { ModeChoice } from './iteration-mode.ts'

type NextIteration = {
  readonly chooseMode: (sprint: Sprint) => ModeChoice
  /** Delay of its first attempt. */
  readonly pause?: Pause | undefined
}

/** Starts the next iteration if none runs, unless the checks must run first or a limit is reached. */
export function startIteration(sprint: Sprint, at: number, { chooseMode, pause }: NextIteration): Decision {
  const { status, live, run } = sprint
  const mayStart = (status === 'in-progress' || status === 'parked') && live.length === 0 && !run?.stopRequested
  if (!mayStart || isBaselineDue(sprint)) return { sprint, orders: [] }
  const limit = describeReachedLimit(sprint)
  if (limit) return restSprint(sprint, 'limit-reached', limit)
  const { mode, step, idleCount } = chooseMode(sprint)
  const { agent } = chooseAgent(sprint, at)
  const opened = openIteration(
    setGoal(sprint, { ralph: { ...getGoal(sprint).ralph, idleCount } }),
    {
      mode,
      ...(step && { step: step.id, stepPrompt: step.prompt }),
      ...(agent !== undefined && { agent }),
      ...(pause && { wait: { until: at + pause.ms, reason: pause.reason } }),
    },
    at,
  )
  return andThen(createSwitchNote(sprint, agent), opened)
}

/** Reports every change of the agent, including back to the first choice. */
function createSwitchNote({ history: { iterations } }: Sprint, agent: string | undefined): Order[] {
  const before = iterations.at(-1)?.agent
  if (agent === undefined || before === undefined || before === agent) return []
  return [emitEvent({ type: 'note', level: 'info', text: `${agent} takes over from ${before}` })]
}

/** Rests if the goal is reached, a person is needed or the user asked to stop; otherwise starts the next iteration. */
export function afterIteration(ended: Sprint, live: LiveIteration, at: number, next: NextIteration): Decision {
  const sprint = countIdleIterations(ended, live)
  if (live.verdict === 'accepted') return restSprint(setStats(sprint, { completedAt: at }), 'completed')
  if (sprint.question) {
    const { askedAt: _at, ...question } = sprint.question
    const questionAsked = emitEvent({ type: 'question-asked', iteration: live.number, ...question })
    return andThen([questionAsked], restSprint(sprint, 'needs-human', question.reason))
  }
  if (sprint.status === 'blocked') return restSprint(sprint, 'blocked', sprint.reason)
  if (sprint.status !== 'in-progress') return { sprint, orders: [] }
  const { stopRequested } = sprint.run ?? {}
  if (stopRequested) return restOnRequest(sprint, stopRequested.as)
  if (hasReflected(sprint) && !describeReachedLimit(sprint)) return askAfterNoProgress(sprint, live, at)
  return startIteration(sprint, at, next)
}

function countIdleIterations(sprint: Sprint, live: LiveIteration): Sprint {
  return setStats(sprint, { withoutProgress: hasChanged(sprint, live) ? 0 : sprint.stats.withoutProgress + 1 })
}

/** Whether files, steps or checks changed. If the state of the files is unknown, assume that they did. */
function hasChanged({ plan: { limits }, history }: Sprint, live: LiveIteration): boolean {
  const { iterations, baseline = [] } = history
  if (limits.noProgress === 'off' || live.changed !== false || live.stepsChanged === true) return true
  if (!live.checks) return false
  const before = iterations.findLast(({ checks, number }) => checks && number !== live.number)?.checks ?? baseline
  return live.checks.some(({ name, passed }) => before.find((check) => check.name === name)?.passed !== passed)
}

/** The extra reflecting iteration, which knew why, changed nothing either. */
const hasReflected = ({ plan: { limits }, stats }: Sprint): boolean =>
  limits.noProgress !== 'off' && stats.withoutProgress > limits.noProgress

function askAfterNoProgress(sprint: Sprint, { number, summary = '' }: LiveIteration, at: number): Decision {
  const reason = `No progress in ${sprint.stats.withoutProgress} iterations: no file, step or check has changed`
  const details = `The last thing the agent said: ${summary}`
  const questionAsked = emitEvent({ type: 'question-asked', iteration: number, reason, details })
  const again = { ...setStats(sprint, { withoutProgress: 0 }), question: { reason, details, askedAt: at } }
  return andThen([questionAsked], restSprint(again, 'needs-human', reason))
}
