import type { Progress, SprintStatus } from '../contract/progress.ts'
import { tell, type Order, type Transition } from './order.ts'

/**
 * Ends the run for now: no new orders. Hooks that still run in the background are waited for. An active usage limit is kept, so
 * that the next run continues to wait for it.
 */
export function rest(progress: Progress, status: SprintStatus, reason?: string): Transition {
  const { reason: _before, stopRequested: _stop, ...kept } = progress
  const rested: Progress = { ...kept, status, ...(reason !== undefined && { reason }) }
  return { progress: rested, orders: [...notifying(rested), tell({ type: 'sprint-rested', status, reason })] }
}

/** Rests on request of the user. */
export const restAs = (progress: Progress, as: 'paused' | 'interrupted'): Transition =>
  rest(progress, as, `${as} on request`)

type Ending = NonNullable<Progress['ending']>

/** Precedence if several endings coincide: a question or a failure must not get lost. */
const rank: Partial<Record<SprintStatus, number>> = {
  'needs-human': 4,
  blocked: 3,
  'limit-reached': 2,
  'paused-at-breakpoint': 1,
}

/** Goal-driven sprints rest at once. With phases, running iterations finish first and nothing new starts. */
export function comeToRest(progress: Progress, ending: Ending): Transition {
  if (progress.mode === 'ralph') return rest(progress, ending.status, ending.reason)
  const before = progress.ending
  if (before && (rank[before.status] ?? 0) >= (rank[ending.status] ?? 0)) return { progress, orders: [] }
  return { progress: { ...progress, ending }, orders: [] }
}

/** With phases: iterations still run, but nothing new starts. */
export const isComingToRest = ({ ending, stopRequested }: Progress): boolean =>
  ending !== undefined || stopRequested !== undefined

/** Whether the sprint was stopped in the middle of an iteration, so that no more orders are issued. */
export const isStopped = ({ status, mode, stopRequested }: Progress): boolean =>
  status === 'interrupted' || status === 'paused' || (mode === 'standard' && stopRequested?.when === 'turn')

/** Notifies when the sprint ends or needs a person, not when the user stopped it. */
function notifying({ notify = [], status, reason, ralphExit, sprintId }: Progress): Order[] {
  if (notify.length === 0 || status === 'paused' || status === 'interrupted') return []
  const text = reason ?? ralphExit.finalSummary ?? ''
  return [{ type: 'notify', about: status, text: `${sprintId}: ${status}${text === '' ? '' : `: ${text}`}` }]
}
