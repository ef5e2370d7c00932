/**
 * Parts of a report as a JSON Schema, for agents that support structured output. Strict models want every property required and
 * no union at the root, so unused fields are null and every object is closed.
 */
export type JsonSchema = Readonly<Record<string, unknown>>

/** Removes the fields that are null only because the schema requires them. */
export function dropNullFields(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const fields = Object.entries(value).filter(([, field]) => field !== null)
  return Object.fromEntries(fields.map(([name, field]) => [name, dropNullFields(field)]))
}

export function createStrictObject(properties: Readonly<Record<string, JsonSchema>>): JsonSchema {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false }
}

export function describeString(description: string): JsonSchema {
  return { type: 'string', description }
}

export function createNullableString(description: string): JsonSchema {
  return { type: ['string', 'null'], description }
}

export function createQuestionSchema(description: string): JsonSchema {
  const fields = createStrictObject({
    reason: describeString('the question in one sentence'),
    details: describeString('what a person must know'),
    options: { type: ['array', 'null'], items: { type: 'string' }, description: 'answers to choose from' },
    default: createNullableString('the one that you would choose'),
  })
  return { ...fields, type: ['object', 'null'], description }
}
