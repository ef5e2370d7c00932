import { z } from 'zod'
import type { Diagnostic } from './diagnostics.ts'
import type { Parsed, Path } from './parse.ts'
import { fieldName, type FileKind, type Finding, judge } from './problems.ts'
import { didYouMean } from './suggest.ts'

export type Decoded<T> = {
  /** Absent when nothing of the file could be used. With errors it is what remains after the broken parts are patched. */
  readonly value?: T
  readonly diagnostics: readonly Diagnostic[]
}

/** More findings than this in one file are not told one by one. */
const maxFindings = 100
const maxRounds = 8

/**
 * From data to the shape of the contract. Unknown fields are warned of and dropped. What is wrong is reported and patched
 * (removed, or filled with a placeholder when it is required), so that later stages find their errors in the same run.
 */
export function decode<S extends z.ZodType>(schema: S, parsed: Parsed, kind: FileKind): Decoded<z.output<S>> {
  const diagnostics: Diagnostic[] = []
  const reported = new Set<string>()
  let data = parsed.value
  for (let round = 0; round < maxRounds; round++) {
    const result = z.safeDecode(schema, data as z.input<S>)
    if (result.success) return { value: result.data, diagnostics }
    if (round === 0) data = copy(data)
    const findings = result.error.issues.flatMap((issue) => flatten(issue, [], data))
    for (const finding of findings) {
      if (finding.issue.code === 'unrecognized_keys') {
        diagnostics.push(...unknownFields(schema, parsed, finding.path, finding.issue.keys))
        for (const key of finding.issue.keys) patch(data, [...finding.path, key], undefined)
        continue
      }
      const silent = isEmptyField(finding) || isReported(finding.path, reported)
      if (!silent) diagnostics.push(report(finding, parsed, kind))
      if (!isEmptyField(finding)) reported.add(keyFor(finding.path))
      if (finding.path.length === 0) return { diagnostics }
      patch(data, finding.path, finding.actual === undefined ? placeholder(finding.issue) : undefined)
    }
    if (diagnostics.length > maxFindings) return { diagnostics: diagnostics.slice(0, maxFindings) }
  }
  return { diagnostics }
}

/** `goal:` with nothing behind it is a field that is not given. */
const isEmptyField = ({ actual, path }: Finding): boolean => actual === null && typeof path.at(-1) === 'string'

function report(finding: Finding, parsed: Parsed, kind: FileKind): Diagnostic {
  return { severity: 'error', ...judge(kind, finding), ...parsed.locate(finding.path) }
}

function unknownFields(schema: z.ZodType, parsed: Parsed, path: Path, keys: readonly string[]): Diagnostic[] {
  const known = fieldsAt(schema, path)
  return keys.slice(0, maxFindings).map((key) => ({
    severity: 'warning',
    code: 'UNKNOWN_FIELD',
    message: `${fieldName([...path, key])} is not a field that does anything here`,
    ...parsed.locate([...path, key], 'key'),
    ...didYouMean(key, known),
  }))
}

/** A union that fits in no way is judged by the alternative that comes nearest. */
function flatten(issue: z.core.$ZodIssue, parent: Path, data: unknown): Finding[] {
  const path = [...parent, ...issue.path.map((segment) => (typeof segment === 'number' ? segment : String(segment)))]
  if (issue.code === 'invalid_union') {
    const inside = issue.errors.filter((branch) => !branch.some(isAboutTheWhole))
    const nearest = inside.toSorted((a, b) => a.length - b.length)[0]
    if (nearest) return nearest.flatMap((inner) => flatten(inner, path, data))
  }
  return [{ issue, path, actual: valueAt(data, path) }]
}

const isAboutTheWhole = (issue: z.core.$ZodIssue): boolean =>
  issue.path.length === 0 && (issue.code === 'invalid_type' || issue.code === 'invalid_value')

function valueAt(data: unknown, path: Path): unknown {
  let current = data
  for (const segment of path) {
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, segment)) return undefined
    current = Reflect.get(current, segment)
  }
  return current
}

function patch(data: unknown, path: Path, value: unknown): void {
  const parent = valueAt(data, path.slice(0, -1))
  const last = path.at(-1)
  if (typeof parent !== 'object' || parent === null || last === undefined) return
  if (value === undefined && !Array.isArray(parent)) Reflect.deleteProperty(parent, last)
  else Reflect.set(parent, last, value)
}

function placeholder(issue: z.core.$ZodIssue): unknown {
  if (issue.code !== 'invalid_type') return placeholderText
  const fillers: Readonly<Record<string, unknown>> = {
    boolean: false,
    array: [],
    object: {},
    record: {},
    number: 1,
    int: 1,
  }
  return fillers[issue.expected] ?? placeholderText
}

const placeholderText = 'x'

function copy(data: unknown): unknown {
  if (Array.isArray(data)) return data.map(copy)
  if (typeof data !== 'object' || data === null) return data
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, copy(value)]))
}

const keyFor = (path: Path): string => JSON.stringify(path)

/** Whether this place, or something around it, has been told of already. */
const isReported = (path: Path, reported: ReadonlySet<string>): boolean =>
  path.some((_, index) => reported.has(keyFor(path.slice(0, index + 1))))

/** The names of the fields that are valid at `path`, from the JSON Schema of the same definition. */
function fieldsAt(schema: z.ZodType, path: Path): string[] {
  let places: unknown[] = [z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })]
  for (const segment of path) places = places.flatMap((place) => inside(place, segment))
  return places.flatMap(branches).flatMap((place) => Object.keys(objectAt(place, 'properties') ?? {}))
}

function inside(place: unknown, segment: string | number): unknown[] {
  return branches(place).flatMap((branch) => {
    if (typeof segment === 'number') return [objectAt(branch, 'items') ?? {}]
    const property = objectAt(objectAt(branch, 'properties'), segment)
    return [property ?? objectAt(branch, 'additionalProperties') ?? {}]
  })
}

function branches(place: unknown): unknown[] {
  const alternatives = objectAt(place, 'anyOf')
  return Array.isArray(alternatives) ? alternatives : [place]
}

function objectAt(value: unknown, key: string): object | undefined {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
  const found: unknown = Reflect.get(value, key)
  return typeof found === 'object' && found !== null ? found : undefined
}
