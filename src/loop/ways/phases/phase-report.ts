import type { LiveIteration, Progress } from '../../../contract/progress.ts'
import type { PhaseReport } from '../../../contract/report.ts'
import { startChecks } from '../../iteration/checks.ts'
import { andThen, emitEvent, type Transition } from '../../core/order.ts'
import { openQuestion } from '../../core/question.ts'

/** Acts on the report's status. Only `completed` can complete the work, and its gate may still refuse it. */
export function onPhaseReport(progress: Progress, before: LiveIteration, report: PhaseReport, at: number): Transition {
  const live: LiveIteration = { ...before, verdict: report.status, summary: report.summary }
  if (report.status === 'completed') return startChecks(progress, live, at)
  if (report.status === 'failed') {
    const { error = report.summary } = report
    return startChecks(progress, { ...live, error: { category: 'logic', text: error } }, at)
  }
  const asked = emitEvent({ type: 'question-asked', iteration: live.number, ...report.humanNeeded })
  return andThen([asked], startChecks(openQuestion(progress, report.humanNeeded, at), live, at))
}
