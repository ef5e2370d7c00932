import type { SprintStatus } from '../../contract/progress.ts'
import { emitEvent, type Decision, type Order } from './order.ts'
import { setRun, type RunState, type Sprint } from './sprint.ts'

/**
 * Ends the run for now: no new orders. Hooks that still run in the background are waited for. An active usage limit is kept, so
 * that the next run continues to wait for it.
 */
export function restSprint(sprint: Sprint, status: SprintStatus, reason?: string): Decision {
  const rested: Sprint = { ...setRun(sprint, { stopRequested: undefined }), status, reason }
  return {
    sprint: rested,
    orders: [...createNotifyOrders(rested), emitEvent({ type: 'sprint-rested', status, reason })],
  }
}

/** Rests on request of the user. */
export const restOnRequest = (sprint: Sprint, as: 'paused' | 'interrupted'): Decision =>
  restSprint(sprint, as, `${as} on request`)

type SprintEnding = NonNullable<RunState['ending']>

/** Precedence if several endings coincide: a question or a failure must not get lost. */
const endingRank: Partial<Record<SprintStatus, number>> = {
  'needs-human': 4,
  blocked: 3,
  'limit-reached': 2,
  'paused-at-breakpoint': 1,
}

/** Rests at once; if several iterations may run, they finish first and nothing new starts. */
export function scheduleRest(sprint: Sprint, ending: SprintEnding): Decision {
  if (!sprint.way.concurrent) return restSprint(sprint, ending.status, ending.reason)
  const before = sprint.run?.ending
  if (before && (endingRank[before.status] ?? 0) >= (endingRank[ending.status] ?? 0)) return { sprint, orders: [] }
  return { sprint: setRun(sprint, { ending }), orders: [] }
}

/** Iterations still run, but nothing new starts, not even another attempt. */
export const isEnding = ({ way, run }: Sprint): boolean =>
  way.concurrent && (run?.ending !== undefined || run?.stopRequested !== undefined)

/** Whether the sprint was stopped in the middle of an iteration, so that no more orders are issued. */
export const isStopped = ({ status, way, run }: Sprint): boolean =>
  status === 'interrupted' || status === 'paused' || (way.concurrent && run?.stopRequested?.when === 'turn')

/** Notifies when the sprint ends or needs a person, not when the user stopped it. */
function createNotifyOrders({ id, plan: { notify = [] }, status, reason, history }: Sprint): Order[] {
  if (notify.length === 0 || status === 'paused' || status === 'interrupted') return []
  const text = reason ?? history.ralphExit.finalSummary ?? ''
  return [{ type: 'notify', about: status, text: `${id}: ${status}${text === '' ? '' : `: ${text}`}` }]
}
