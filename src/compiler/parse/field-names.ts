import type { z } from 'zod'
import type { Path } from './parse.ts'

/** Returns the field names that are valid at `path`, as written in the schema. */
export function listFields(schema: z.ZodType, path: Path): string[] {
  let places: z.core.$ZodType[] = [schema]
  for (const segment of path) places = places.flatMap(unwrapSchema).flatMap((place) => getSchemaAt(place, segment))
  return places.flatMap(unwrapSchema).flatMap((place) => Object.keys(getShape(place)))
}

// oxlint-disable-next-line typescript/no-unsafe-type-assertion, no-underscore-dangle -- zod's documented way to inspect a schema
const definition = (schema: z.core.$ZodType) => (schema as z.core.$ZodTypes)._zod.def

/** Unwraps optional, default, nullable and union schemas. */
function unwrapSchema(schema: z.core.$ZodType): z.core.$ZodType[] {
  const def = definition(schema)
  if (def.type === 'pipe') return unwrapSchema(def.in)
  if (def.type === 'optional' || def.type === 'default' || def.type === 'nullable') return unwrapSchema(def.innerType)
  return def.type === 'union' ? def.options.flatMap(unwrapSchema) : [schema]
}

function getShape(schema: z.core.$ZodType): z.core.$ZodShape {
  const def = definition(schema)
  return def.type === 'object' ? def.shape : {}
}

function getSchemaAt(schema: z.core.$ZodType, segment: string | number): z.core.$ZodType[] {
  const def = definition(schema)
  if (def.type === 'array') return [def.element]
  if (def.type === 'record') return [def.valueType]
  const shape = getShape(schema)
  const field = Object.hasOwn(shape, segment) ? shape[segment] : undefined
  return field ? [field] : []
}
