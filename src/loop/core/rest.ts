import type { Progress, SprintStatus } from '../../contract/progress.ts'
import { emitEvent, type Order, type Transition } from './order.ts'

/**
 * Ends the run for now: no new orders. Hooks that still run in the background are waited for. An active usage limit is kept, so
 * that the next run continues to wait for it.
 */
export function restSprint(progress: Progress, status: SprintStatus, reason?: string): Transition {
  const { reason: _before, stopRequested: _stop, ...kept } = progress
  const rested: Progress = { ...kept, status, ...(reason !== undefined && { reason }) }
  return {
    progress: rested,
    orders: [...createNotifyOrders(rested), emitEvent({ type: 'sprint-rested', status, reason })],
  }
}

/** Rests on request of the user. */
export const restOnRequest = (progress: Progress, as: 'paused' | 'interrupted'): Transition =>
  restSprint(progress, as, `${as} on request`)

type SprintEnding = NonNullable<Progress['ending']>

/** Precedence if several endings coincide: a question or a failure must not get lost. */
const endingRank: Partial<Record<SprintStatus, number>> = {
  'needs-human': 4,
  blocked: 3,
  'limit-reached': 2,
  'paused-at-breakpoint': 1,
}

/** Goal-driven sprints rest at once. With phases, running iterations finish first and nothing new starts. */
export function scheduleRest(progress: Progress, ending: SprintEnding): Transition {
  if (progress.mode === 'ralph') return restSprint(progress, ending.status, ending.reason)
  const before = progress.ending
  if (before && (endingRank[before.status] ?? 0) >= (endingRank[ending.status] ?? 0)) return { progress, orders: [] }
  return { progress: { ...progress, ending }, orders: [] }
}

/** With phases: iterations still run, but nothing new starts. */
export const isEnding = ({ ending, stopRequested }: Progress): boolean =>
  ending !== undefined || stopRequested !== undefined

/** Whether the sprint was stopped in the middle of an iteration, so that no more orders are issued. */
export const isStopped = ({ status, mode, stopRequested }: Progress): boolean =>
  status === 'interrupted' || status === 'paused' || (mode === 'standard' && stopRequested?.when === 'turn')

/** Notifies when the sprint ends or needs a person, not when the user stopped it. */
function createNotifyOrders({ notify = [], status, reason, ralphExit, sprintId }: Progress): Order[] {
  if (notify.length === 0 || status === 'paused' || status === 'interrupted') return []
  const text = reason ?? ralphExit.finalSummary ?? ''
  return [{ type: 'notify', about: status, text: `${sprintId}: ${status}${text === '' ? '' : `: ${text}`}` }]
}
