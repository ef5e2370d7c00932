import type { LiveIteration } from '../../../contract/progress.ts'
import type { PhaseReport } from '../../../contract/report.ts'
import { emitEvent } from '../../core/order.ts'
import { openQuestion } from '../../core/question.ts'
import {
  createNullableString,
  createQuestionSchema,
  createStrictObject,
  describeString,
} from '../../core/report-schema.ts'
import type { Sprint } from '../../core/sprint.ts'
import type { IterationChange } from '../../core/way.ts'

/** The report of a phase as a JSON Schema. */
export const phaseReportSchema = createStrictObject({
  status: { type: 'string', enum: ['completed', 'failed', 'needs-human'] },
  summary: describeString('what was done, in one or two sentences'),
  error: createNullableString('only with failed: what went wrong'),
  humanNeeded: createQuestionSchema('only with needs-human'),
})

/** Acts on the report's status. Only `completed` can complete the work, and its gate may still refuse it. */
export function onPhaseReport(sprint: Sprint, before: LiveIteration, report: PhaseReport, at: number): IterationChange {
  const live: LiveIteration = { ...before, verdict: report.status, summary: report.summary }
  if (report.status === 'completed') return { sprint, live, orders: [] }
  if (report.status === 'failed') {
    const { error = report.summary } = report
    return { sprint, live: { ...live, error: { category: 'logic', text: error } }, orders: [] }
  }
  const questionAsked = emitEvent({ type: 'question-asked', iteration: live.number, ...report.humanNeeded })
  return { sprint: openQuestion(sprint, report.humanNeeded, at), live, orders: [questionAsked] }
}
