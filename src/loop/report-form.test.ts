import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { aReport } from '../../test/support/builders.ts'
import { PhaseReport, Report } from '../contract/report.ts'
import { type JsonSchema, outOfForm, phaseReportForm, reportForm } from './report-form.ts'

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
    ['of an iteration', reportForm, Report],
    ['of a phase', phaseReportForm, PhaseReport],
  ])('%s has the statuses and fields of a report', (_, form, schema) => {
    const fields = schema.options.flatMap((option) => Object.keys(option.shape))
    const statuses = schema.options.map((option) => option.shape.status.value)

    expect(new Set(fields)).toEqual(new Set(Object.keys(objectOf(form['properties']))))
    expect(objectOf(objectOf(form['properties'])['status'])['enum']).toEqual(statuses)
  })

  it.each([
    ['of an iteration', reportForm],
    ['of a phase', phaseReportForm],
  ])('%s is strict at every level', (_, form) => {
    for (const object of objectsIn(form)) {
      expect(object).toMatchObject({
        additionalProperties: false,
        required: Object.keys(objectOf(object['properties'])),
      })
    }
  })

  it('may have null where a report has no field', () => {
    expect(Report.parse(outOfForm(full))).toEqual({
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
        const report = aReport({ summary, completedStepIds })
        expect(outOfForm(report)).toEqual(report)
      }),
    )
  })
})

function objectsIn(schema: JsonSchema): JsonSchema[] {
  const inner = [...Object.values(objectOf(schema['properties'])), schema['items']].filter(isObject).flatMap(objectsIn)
  return 'properties' in schema ? [schema, ...inner] : inner
}

const isObject = (value: unknown): value is JsonSchema => typeof value === 'object' && value !== null
const objectOf = (value: unknown): JsonSchema => (isObject(value) ? value : {})
