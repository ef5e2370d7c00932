import type { LiveIteration } from '../../contract/progress.ts'
import type { Check } from '../../contract/check.ts'
import { replaceLive } from './live-iteration.ts'
import type { Decision, Order } from './order.ts'
import { isStopped } from './rest.ts'
import type { Sprint } from './sprint.ts'

export const getCheckName = (check: Check): string => check.name ?? check.run

/** Checks that are due now: all after a claim, otherwise those with `each-iteration`. */
export const listDueChecks = ({ plan: { doneWhen = [] } }: Sprint, live: LiveIteration): string[] =>
  doneWhen.filter((check) => check.eachIteration || live.goalCompleteSummary !== undefined).map(getCheckName)

/** The checks must run once before any change that Ralph is responsible for; another program may have counted iterations. */
export const isBaselineDue = ({ plan: { doneWhen = [] }, history, live }: Sprint): boolean =>
  live.length === 0 && doneWhen.length > 0 && !history.baseline && history.iterations.length === 0

/** Orders the checks that are due; undefined if none are. */
export function requestChecks(sprint: Sprint, live: LiveIteration): Decision | undefined {
  const names = listDueChecks(sprint, live)
  if (names.length === 0) return undefined
  return moveToStage(sprint, { ...live, stage: 'checks' }, { type: 'run-checks', iteration: live.number, names })
}

/** Orders the review of a claim by a second agent; undefined if none is configured. */
export function requestReview(sprint: Sprint, live: LiveIteration): Decision | undefined {
  if (!sprint.plan.review) return undefined
  return moveToStage(sprint, { ...live, stage: 'review' }, { type: 'run-review', iteration: live.number })
}

/** In a stopped sprint, the next run issues the order. */
export const moveToStage = (sprint: Sprint, live: LiveIteration, order: Order): Decision => ({
  sprint: replaceLive(sprint, live),
  orders: isStopped(sprint) ? [] : [order],
})
