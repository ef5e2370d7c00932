/**
 * The report as a JSON Schema, for agents that support structured output. Strict models want every property required and no
 * union at the root, so unused fields are null and every object is closed.
 */
export const reportForm = strict({
  status: { type: 'string', enum: ['continue', 'goal-complete', 'needs-human'] },
  summary: text('what was done in this iteration, in one or two sentences'),
  completedStepIds: { type: 'array', items: { type: 'string' } },
  pendingSteps: { type: 'array', items: strict({ id: orNull('null for a new step'), prompt: text('its text') }) },
  goalCompleteSummary: orNull('only with goal-complete: what was achieved and how it was verified'),
  humanNeeded: question('only with needs-human'),
})

/** The same for the report of a phase. */
export const phaseReportForm = strict({
  status: { type: 'string', enum: ['completed', 'failed', 'needs-human'] },
  summary: text('what was done, in one or two sentences'),
  error: orNull('only with failed: what went wrong'),
  humanNeeded: question('only with needs-human'),
})

export type JsonSchema = Readonly<Record<string, unknown>>

/** Removes the fields that are null only because the schema requires them. */
export function outOfForm(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const given = Object.entries(value).filter(([, field]) => field !== null)
  return Object.fromEntries(given.map(([name, field]) => [name, outOfForm(field)]))
}

function strict(properties: Readonly<Record<string, JsonSchema>>): JsonSchema {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false }
}

function text(description: string): JsonSchema {
  return { type: 'string', description }
}

function orNull(description: string): JsonSchema {
  return { type: ['string', 'null'], description }
}

function question(description: string): JsonSchema {
  const fields = strict({
    reason: text('the question in one sentence'),
    details: text('what a person must know'),
    options: { type: ['array', 'null'], items: { type: 'string' }, description: 'answers to choose from' },
    default: orNull('the one that you would choose'),
  })
  return { ...fields, type: ['object', 'null'], description }
}
