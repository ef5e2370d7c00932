import type { Progress, SprintStatus } from '../contract/progress.ts'
import { tell, type Order, type Transition } from './order.ts'

/**
 * The sprint stops here for now: nothing new is ordered. What still runs (hooks in the background) is waited for. A usage
 * limit that is not over is kept: the next run goes on waiting for it.
 */
export function rest(progress: Progress, status: SprintStatus, reason?: string): Transition {
  const { reason: _before, stopRequested: _stop, ...kept } = progress
  const rested: Progress = { ...kept, status, ...(reason !== undefined && { reason }) }
  return { progress: rested, orders: [...notifying(rested), tell({ type: 'sprint-rested', status, reason })] }
}

/** On request, not by itself. */
export const restAs = (progress: Progress, as: 'paused' | 'interrupted'): Transition =>
  rest(progress, as, `${as} on request`)

type Ending = NonNullable<Progress['ending']>

/** What counts when several things would end a run at the same time: a question is not to be lost, nor a failure. */
const rank: Partial<Record<SprintStatus, number>> = {
  'needs-human': 4,
  blocked: 3,
  'limit-reached': 2,
  'paused-at-breakpoint': 1,
}

/** Goal-driven sprints rest at once. With phases, others may be at work: they are finished first, and nothing new begins. */
export function comeToRest(progress: Progress, ending: Ending): Transition {
  if (progress.mode === 'ralph') return rest(progress, ending.status, ending.reason)
  const before = progress.ending
  if (before && (rank[before.status] ?? 0) >= (rank[ending.status] ?? 0)) return { progress, orders: [] }
  return { progress: { ...progress, ending }, orders: [] }
}

/** With phases: others are still at work, but nothing new begins. */
export const isComingToRest = ({ ending, stopRequested }: Progress): boolean =>
  ending !== undefined || stopRequested !== undefined

/** Nothing more is ordered in a sprint that was stopped in the middle of an iteration. */
export const isStopped = ({ status, mode, stopRequested }: Progress): boolean =>
  status === 'interrupted' || status === 'paused' || (mode === 'standard' && stopRequested?.when === 'turn')

/** People want to know when it ends or needs them, not when they have stopped it themselves. */
function notifying({ notify = [], status, reason, ralphExit, sprintId }: Progress): Order[] {
  if (notify.length === 0 || status === 'paused' || status === 'interrupted') return []
  const text = reason ?? ralphExit.finalSummary ?? ''
  return [{ type: 'notify', about: status, text: `${sprintId}: ${status}${text === '' ? '' : `: ${text}`}` }]
}
