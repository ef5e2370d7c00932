import type { LiveIteration } from '../../../contract/progress.ts'
import type { Report } from '../../../contract/report.ts'
import { emitEvent, type Order } from '../../core/order.ts'
import type { Sprint } from '../../core/sprint.ts'
import type { IterationChange } from '../../core/way.ts'
import { getGoal, setGoal } from './goal-state.ts'
import { applySteps } from './steps.ts'

/** Applies the steps of a report, then its status. */
export function judgeReport(sprint: Sprint, live: LiveIteration, report: Report, at: number): IterationChange {
  const change = applySteps(sprint, report, { at, iteration: live.number })
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
  const judged = judgeStatus(change.sprint, reported, report, at)
  return { ...judged, orders: [...orders, ...judged.orders] }
}

/** goal-complete is a claim: too early it is only noted, otherwise the checks decide. */
function judgeStatus(sprint: Sprint, live: LiveIteration, report: Report, at: number): IterationChange {
  if (report.status === 'needs-human') {
    const asking = { ...sprint, question: { ...report.humanNeeded, askedAt: at } }
    return { sprint: asking, live: { ...live, verdict: 'needs-human' }, orders: [] }
  }
  if (report.status === 'continue') return { sprint, live: { ...live, verdict: 'continue' }, orders: [] }
  const claimed = emitEvent({ type: 'claim-made', iteration: live.number, summary: report.goalCompleteSummary })
  const { ralph } = getGoal(sprint)
  if (live.number < ralph.minIterations) {
    const noted = setGoal(sprint, { ralph: { ...ralph, goalCompleteAttemptedAt: live.number } })
    const reason = `min-iterations is ${ralph.minIterations}, this is iteration ${live.number}`
    const refused = emitEvent({ type: 'claim-refused', iteration: live.number, by: ['min-iterations'], reason })
    return { sprint: noted, live: { ...live, verdict: 'premature' }, orders: [claimed, refused] }
  }
  return { sprint, live: { ...live, goalCompleteSummary: report.goalCompleteSummary }, orders: [claimed] }
}
