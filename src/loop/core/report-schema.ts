/**
 * The report as a JSON Schema, for agents that support structured output. Strict models want every property required and no
 * union at the root, so unused fields are null and every object is closed.
 */
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

/** The same for the report of a phase. */
export const phaseReportSchema = createStrictObject({
  status: { type: 'string', enum: ['completed', 'failed', 'needs-human'] },
  summary: describeString('what was done, in one or two sentences'),
  error: createNullableString('only with failed: what went wrong'),
  humanNeeded: createQuestionSchema('only with needs-human'),
})

export type JsonSchema = Readonly<Record<string, unknown>>

/** Removes the fields that are null only because the schema requires them. */
export function dropNullFields(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const given = Object.entries(value).filter(([, field]) => field !== null)
  return Object.fromEntries(given.map(([name, field]) => [name, dropNullFields(field)]))
}

function createStrictObject(properties: Readonly<Record<string, JsonSchema>>): JsonSchema {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false }
}

function describeString(description: string): JsonSchema {
  return { type: 'string', description }
}

function createNullableString(description: string): JsonSchema {
  return { type: ['string', 'null'], description }
}

function createQuestionSchema(description: string): JsonSchema {
  const fields = createStrictObject({
    reason: describeString('the question in one sentence'),
    details: describeString('what a person must know'),
    options: { type: ['array', 'null'], items: { type: 'string' }, description: 'answers to choose from' },
    default: createNullableString('the one that you would choose'),
  })
  return { ...fields, type: ['object', 'null'], description }
}
