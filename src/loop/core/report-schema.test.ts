import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { buildReport } from '../../../test/support/builders.ts'
import { PhaseReport, Report } from '../../contract/report.ts'
import { reportSchema } from '../ways/goal/goal-report.ts'
import { phaseReportSchema } from '../ways/phases/phase-report.ts'
import { type JsonSchema, dropNullFields } from './report-schema.ts'

const full = {
  status: 'needs-human',
  summary: 's',
  completedStepIds: ['step-0'],
  pendingSteps: [{ id: null, prompt: 'new' }],
  goalCompleteSummary: null,
  humanNeeded: { reason: 'Which?', details: 'd', options: null, default: null },
}

describe('the form of a report', () => {
  it.each([
    ['of an iteration', reportSchema, Report],
    ['of a phase', phaseReportSchema, PhaseReport],
  ])('%s has the statuses and fields of a report', (_, form, schema) => {
    const fields = schema.options.flatMap((option) => Object.keys(option.shape))
    const statuses = schema.options.map((option) => option.shape.status.value)

    expect(new Set(fields)).toEqual(new Set(Object.keys(toObject(form['properties']))))
    expect(toObject(toObject(form['properties'])['status'])['enum']).toEqual(statuses)
  })

  it.each([
    ['of an iteration', reportSchema],
    ['of a phase', phaseReportSchema],
  ])('%s is strict at every level', (_, form) => {
    for (const object of objectsIn(form)) {
      expect(object).toMatchObject({
        additionalProperties: false,
        required: Object.keys(toObject(object['properties'])),
      })
    }
  })

  it('may have null where a report has no field', () => {
    expect(Report.parse(dropNullFields(full))).toEqual({
      status: 'needs-human',
      summary: 's',
      completedStepIds: ['step-0'],
      pendingSteps: [{ id: null, prompt: 'new' }],
      humanNeeded: { reason: 'Which?', details: 'd' },
    })
  })

  it('changes nothing in other reports', () => {
    fc.assert(
      fc.property(fc.string(), fc.array(fc.string()), (summary, completedStepIds) => {
        const report = buildReport({ summary, completedStepIds })
        expect(dropNullFields(report)).toEqual(report)
      }),
    )
  })
})

function objectsIn(schema: JsonSchema): JsonSchema[] {
  const inner = [...Object.values(toObject(schema['properties'])), schema['items']].filter(isObject).flatMap(objectsIn)
  return 'properties' in schema ? [schema, ...inner] : inner
}

const isObject = (value: unknown): value is JsonSchema => typeof value === 'object' && value !== null
const toObject = (value: unknown): JsonSchema => (isObject(value) ? value : {})
