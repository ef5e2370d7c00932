import type { z } from 'zod'
import type { Diagnostic, AddDiagnostic } from './diagnostics.ts'
import { listFields } from './field-names.ts'
import { getRawValue, type ParsedFile, type Path } from './parse.ts'
import type { FileKind } from './problem-codes.ts'
import { fieldName, type SchemaFinding, describeFinding } from './problems.ts'
import { didYouMean } from './suggest.ts'

/** Placeholder for a missing or invalid text: already reported, so later checks skip it. */
export const unknownText = '\u0000'

type DecodeOptions<S> = { readonly schema: S; readonly file: FileKind; readonly report: AddDiagnostic }

/** Maximum number of problems reported per file. */
const maxFindings = 100
const maxRounds = 10

/**
 * Decodes data into the shape of the contract. Unknown fields are reported, mostly as warnings, and dropped. Invalid values are reported
 * and replaced by something of the right type, so that later stages find their errors in the same run. Returns undefined only
 * if nothing usable is left, and always after it has reported an error.
 */
export function decodeFile<S extends z.ZodType>(
  parsed: ParsedFile,
  { schema, file, report }: DecodeOptions<S>,
): z.output<S> | undefined {
  const patches = new Map<string, number>()
  let findings = 0
  let data = parsed.value
  for (let round = 0; round < maxRounds; round++) {
    const result = schema.safeParse(data)
    if (result.success) return result.data
    if (round === 0) data = cloneData(data)
    for (const finding of result.error.issues.flatMap((issue) => flatten(issue, [], data))) {
      const news = isUnknownField(finding)
        ? dropUnknown(finding, { schema, parsed, file, data })
        : patchInvalid(finding, { parsed, file, data, patches })
      findings += news.length
      if (findings > maxFindings) return report(createTooManyProblems(parsed))
      for (const diagnostic of news) report(diagnostic)
    }
    if (patches.has(formatPathKey([]))) return undefined
  }
  return report(createTooManyProblems(parsed))
}

const createTooManyProblems = (parsed: ParsedFile): Diagnostic => ({
  severity: 'error',
  code: 'TOO_MANY_PROBLEMS',
  message: 'This file has more problems than are listed here',
  ...parsed.locate([]),
})

type UnknownField = SchemaFinding & { readonly issue: z.core.$ZodIssueUnrecognizedKeys }

const isUnknownField = (finding: SchemaFinding): finding is UnknownField => finding.issue.code === 'unrecognized_keys'

type DecodeContext = { readonly parsed: ParsedFile; readonly file: FileKind; readonly data: unknown }

/** Fields of the seeds that we refuse instead of ignoring. */
const refusedFields = new Map([['workflow:orchestration', 'let the agent plan its own steps with "mode: ralph"']])

/** A field of the seeds that its user has switched off asks for nothing. */
const isSwitchedOff = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'enabled' in value && value.enabled === false

function dropUnknown(
  { path, issue }: UnknownField,
  place: DecodeContext & { readonly schema: z.ZodType },
): Diagnostic[] {
  const known = listFields(place.schema, path).filter((name) => !issue.keys.includes(name))
  for (const key of issue.keys) setAtPath(place.data, [...path, key], undefined)
  return issue.keys.slice(0, maxFindings + 1).map((key) => {
    const full = [...path, key]
    const where = place.parsed.locate(full, 'key')
    const name = fieldName(full)
    const hint = refusedFields.get(`${place.file}:${name}`)
    if (hint !== undefined)
      return {
        severity: isSwitchedOff(getRawValue(place.parsed, full)) ? 'warning' : 'error',
        code: 'NOT_SUPPORTED',
        message: `${name} is not supported`,
        ...where,
        hint,
      }
    const message = `${name} is not a known field here`
    const suggestion = didYouMean(key, known)
    const severity = concernsWalls(full, suggestion.hint) ? 'error' : 'warning'
    return { severity, code: 'UNKNOWN_FIELD', message, ...where, ...suggestion }
  })
}

/** A typo there would run the sprint with fewer walls than its author wanted, so it is no warning. */
const concernsWalls = ([first]: Path, hint = ''): boolean =>
  first === 'cell' || first === 'network' || /"(?:cell|network|sandbox)"/.test(hint)

type PatchContext = DecodeContext & { readonly patches: Map<string, number> }

/** The first patch has the expected type, the second one removes the field. Reports only new problems. */
function patchInvalid(finding: SchemaFinding, { parsed, file, data, patches }: PatchContext): Diagnostic[] {
  const { path, issue, actual } = finding
  const key = formatPathKey(path)
  const known = path.some((_, index) => patches.has(formatPathKey(path.slice(0, index + 1))))
  if (isEmptyField(finding)) {
    setAtPath(data, path, undefined)
    return []
  }
  const times = (patches.get(key) ?? 0) + 1
  patches.set(key, times)
  const replaces = times === 1 || actual === undefined
  // A list cannot miss an entry in its middle: it goes as a whole.
  const removed = typeof path.at(-1) === 'number' ? path.slice(0, -1) : path
  if (replaces) setAtPath(data, path, likelyMode(path, data) ?? substitute(issue, actual))
  else setAtPath(data, removed, undefined)
  return known ? [] : [{ severity: 'error', ...describeFinding(file, finding), ...parsed.locate(path) }]
}

/** Maps whose keys are user-chosen names: there an empty value is a mistake, elsewhere it means not set. */
const mapsOfNames = new Set(['collections', 'per-iteration-hooks'])

const isEmptyField = ({ actual, path }: SchemaFinding): boolean =>
  actual === null && typeof path.at(-1) === 'string' && !(path.length === 2 && mapsOfNames.has(String(path[0])))

/** Guesses the mode of a workflow with an unknown mode, so that one typo stays one error. */
function likelyMode(path: Path, data: unknown): string | undefined {
  if (path.length !== 1 || path[0] !== 'mode') return undefined
  return getAtPath(data, ['phases']) === undefined ? 'ralph' : 'standard'
}

function substitute(issue: z.core.$ZodIssue, actual: unknown): unknown {
  if (issue.code === 'invalid_value') return issue.values[0]
  if (issue.code !== 'invalid_type') return typeof actual === 'number' ? 1 : unknownText
  const fillers = new Map<string, unknown>([
    ['boolean', false],
    ['number', 1],
    ['int', 1],
    ['array', []],
    ['object', {}],
    ['record', {}],
  ])
  return fillers.has(issue.expected) ? fillers.get(issue.expected) : unknownText
}

/** Reduces a failed union to the problems of its closest alternative. */
function flatten(issue: z.core.$ZodIssue, parent: Path, data: unknown): SchemaFinding[] {
  const path = [...parent, ...issue.path.map((segment) => (typeof segment === 'number' ? segment : String(segment)))]
  if (issue.code === 'invalid_union') {
    const partial = issue.errors.filter((branch) => !branch.some(isAboutTheWhole))
    const nearest = partial.toSorted((a, b) => countUnknownKeys(a) - countUnknownKeys(b) || a.length - b.length)[0]
    if (nearest) return nearest.flatMap((inner) => flatten(inner, path, data))
  }
  return [{ issue, path, actual: getAtPath(data, path) }]
}

const countUnknownKeys = (branch: readonly z.core.$ZodIssue[]): number =>
  branch.reduce((sum, issue) => sum + (issue.code === 'unrecognized_keys' ? issue.keys.length : 0), 0)

const isAboutTheWhole = (issue: z.core.$ZodIssue): boolean =>
  issue.path.length === 0 && (issue.code === 'invalid_type' || issue.code === 'invalid_value')

function getAtPath(data: unknown, path: Path): unknown {
  let current = data
  for (const segment of path) {
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, segment)) return undefined
    current = Reflect.get(current, segment)
  }
  return current
}

function setAtPath(data: unknown, path: Path, value: unknown): void {
  const parent = getAtPath(data, path.slice(0, -1))
  const last = path.at(-1)
  if (typeof parent !== 'object' || parent === null || last === undefined) return
  if (value === undefined && !Array.isArray(parent)) Reflect.deleteProperty(parent, last)
  else Reflect.set(parent, last, value)
}

function cloneData(data: unknown): unknown {
  if (Array.isArray(data)) return data.map(cloneData)
  if (typeof data !== 'object' || data === null) return data
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, cloneData(value)]))
}

const formatPathKey = (path: Path): string => JSON.stringify(path)
