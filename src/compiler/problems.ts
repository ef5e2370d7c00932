import type { z } from 'zod'
import type { ErrorCode } from '../contract/errors.ts'
import type { Path } from './parse.ts'

export type FileKind = 'sprint' | 'workflow' | 'config'

/** What can be wrong with the value at one place of a file. */
export type Problem = 'missing' | 'type' | 'empty' | 'value'

type Row = readonly [FileKind | 'any', pattern: string, Problem | 'any', ErrorCode, message?: string]

/** The one table from "what is wrong where" to the codes of the seeds. The first row that fits counts. */
const rows: readonly Row[] = [
  ['sprint', '', 'any', 'INVALID_SPRINT', 'SPRINT.yaml must be a map of fields'],
  ['sprint', 'workflow', 'any', 'MISSING_WORKFLOW', 'SPRINT.yaml must name its workflow'],
  ['sprint', 'sprint-id', 'any', 'INVALID_SPRINT_ID'],
  ['sprint', 'goal', 'any', 'RALPH_MISSING_GOAL', 'Ralph mode requires goal field in SPRINT.yaml, as text'],
  ['sprint', 'per-iteration-hooks', 'any', 'INVALID_HOOKS', 'per-iteration-hooks must be a map or a list of hooks'],
  ['workflow', '', 'any', 'INVALID_WORKFLOW', 'A workflow must be a map of fields'],
  ['workflow', 'name', 'any', 'MISSING_WORKFLOW_NAME', 'A workflow must have a name'],
  ['workflow', 'mode', 'any', 'INVALID_WORKFLOW_MODE', 'mode must be "standard" or "ralph"'],
  ['workflow', 'per-iteration-hooks', 'any', 'INVALID_HOOKS', 'per-iteration-hooks must be a list of hooks'],
  ['sprint', 'per-iteration-hooks.*', 'any', 'RALPH_INVALID_HOOK_OVERRIDE', 'A hook override must be a map of fields'],
  ['workflow', 'per-iteration-hooks.*', 'any', 'INVALID_HOOK', 'A per-iteration hook must be a map of fields'],
  ['any', 'per-iteration-hooks.*.id', 'any', 'MISSING_HOOK_ID', 'Per-iteration hook must have an id'],
  ['any', 'per-iteration-hooks.*.parallel', 'any', 'INVALID_HOOK_PARALLEL', 'parallel must be true or false'],
  ['any', 'per-iteration-hooks.*.enabled', 'any', 'INVALID_HOOK_ENABLED', 'enabled must be true or false'],
  ['any', 'per-iteration-hooks.*.**', 'any', 'INVALID_HOOK'],
  ['any', 'model', 'any', 'INVALID_MODEL', 'model must be the name of a model'],
]

type Verdict = { readonly code: ErrorCode; readonly message: string }

export type Finding = { readonly issue: z.core.$ZodIssue; readonly path: Path; readonly actual: unknown }

export const problemOf = ({ issue, actual }: Finding): Problem => {
  if (actual === undefined) return 'missing'
  if (typeof actual === 'string' && actual.trim() === '') return 'empty'
  return issue.code === 'invalid_type' || issue.code === 'invalid_union' ? 'type' : 'value'
}

export function judge(kind: FileKind, finding: Finding): Verdict {
  const problem = problemOf(finding)
  const row = rows.find(
    ([file, pattern, what]) =>
      (file === 'any' || file === kind) && (what === 'any' || what === problem) && fits(pattern, finding.path),
  )
  return { code: row?.[3] ?? 'INVALID_FIELD', message: row?.[4] ?? describe(finding, problem) }
}

/** `*` stands for one segment, a last `**` for one or more. */
function fits(pattern: string, path: Path): boolean {
  const segments = pattern === '' ? [] : pattern.split('.')
  const open = segments.at(-1) === '**'
  if (open ? path.length < segments.length : path.length !== segments.length) return false
  return segments.every((segment, index) => segment.startsWith('*') || segment === path[index])
}

export const fieldName = (path: Path): string =>
  path.reduce<string>(
    (name, segment) =>
      typeof segment === 'number' ? `${name}[${segment}]` : name === '' ? segment : `${name}.${segment}`,
    '',
  )

function describe({ issue, path, actual }: Finding, problem: Problem): string {
  const name = fieldName(path)
  if (problem === 'missing') return `${name} is missing`
  if (problem === 'empty') return `${name} must not be empty`
  return `${name} ${expectation(issue)}, not ${shown(actual)}`
}

const nouns: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a map of fields',
  record: 'a map',
}

function expectation(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${nouns[issue.expected] ?? issue.expected}`
    case 'invalid_value':
      return `must be ${issue.values.map(String).join(' or ')}`
    case 'invalid_union':
      return `must be ${alternatives(issue)}`
    case 'too_small':
      return issue.origin === 'array'
        ? 'must not be empty'
        : `must be ${issue.inclusive ? 'at least' : 'more than'} ${issue.minimum}`
    case 'too_big':
      return issue.origin === 'string'
        ? `must have at most ${issue.maximum} characters`
        : `must be at most ${issue.maximum}`
    case 'invalid_format':
      return issue.format === 'url' ? 'must be a URL' : `is not valid: ${issue.message}`
    case 'custom':
    case 'invalid_element':
    case 'invalid_key':
    case 'not_multiple_of':
    case 'unrecognized_keys':
      return `is not valid: ${issue.message}`
  }
}

function alternatives(issue: z.core.$ZodIssueInvalidUnion): string {
  const firsts = issue.errors.map(([first]) => first).filter((first) => first !== undefined)
  const words = firsts.map((first) => expectation(first).replace(/^must be /, ''))
  return words.length === 0 ? 'something else' : [...new Set(words)].join(' or ')
}

function shown(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object' && value !== null) return 'a map'
  const text = typeof value === 'string' ? `"${value}"` : String(value)
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}
