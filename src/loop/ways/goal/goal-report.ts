import { Report } from '../../../contract/report.ts'
import { findReport, type ReportFormat, type ReportResult } from '../../core/read-report.ts'
import {
  createNullableString,
  createQuestionSchema,
  createStrictObject,
  describeString,
} from '../../core/report-schema.ts'

/** The report of a goal-driven sprint as a JSON Schema. */
export const reportSchema = createStrictObject({
  status: { type: 'string', enum: ['continue', 'goal-complete', 'needs-human'] },
  summary: describeString('what was done in this iteration, in one or two sentences'),
  completedStepIds: { type: 'array', items: { type: 'string' } },
  pendingSteps: {
    type: 'array',
    items: createStrictObject({ id: createNullableString('null for a new step'), prompt: describeString('its text') }),
  },
  goalCompleteSummary: createNullableString('only with goal-complete: what was achieved and how it was verified'),
  humanNeeded: createQuestionSchema('only with needs-human'),
})

export type ReadReport = ReportResult<Report>

/** Reads the report of a goal-driven sprint. */
export const readReport = (finalMessage: string, prompt: string, structured?: unknown): ReadReport =>
  findReport(goalForm, { text: finalMessage, structured }, prompt)

const createClaim = (summary: string): Report => ({
  status: 'goal-complete',
  summary,
  goalCompleteSummary: summary,
  completedStepIds: [],
  pendingSteps: [],
})

export const goalForm: ReportFormat<Report> = { schema: Report, older: createClaim }
