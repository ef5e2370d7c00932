import { clipText } from '../../contract/text.ts'
import type { z } from 'zod'
import type { ErrorCode } from '../../contract/errors.ts'
import type { Path } from './parse.ts'
import { type FileKind, type ProblemKind, findRuling } from './problem-codes.ts'

/** One schema issue, with the actual value. */
export type SchemaFinding = { readonly issue: z.core.$ZodIssue; readonly path: Path; readonly actual: unknown }

/** Returns the code of a finding, and a message without schema vocabulary. */
export function describeFinding(
  file: FileKind,
  finding: SchemaFinding,
): { readonly code: ErrorCode; readonly message: string } {
  const problem = classifyFinding(finding)
  const { code, message } = findRuling(file, finding.path, problem)
  return { code, message: message ?? formatProblem(finding, problem) }
}

function classifyFinding({ issue, actual }: SchemaFinding): ProblemKind {
  if (actual === undefined) return 'missing'
  if (typeof actual === 'string' && actual.trim() === '') return 'empty'
  if (issue.code === 'invalid_value') return typeof actual === 'string' ? 'value' : 'type'
  return issue.code === 'invalid_type' || issue.code === 'invalid_union' ? 'type' : 'value'
}

export const fieldName = (path: Path): string =>
  path.reduce<string>((name, segment) => {
    if (typeof segment === 'number') return `${name}[${segment}]`
    return name === '' ? segment : `${name}.${segment}`
  }, '')

function formatProblem({ issue, path, actual }: SchemaFinding, problem: ProblemKind): string {
  const name = fieldName(path)
  if (problem === 'missing') return `${name} is missing`
  if (problem === 'empty') return `${name} must not be empty`
  return `${name} ${expectation(issue)}, not ${formatActual(actual)}`
}

const nouns = new Map([
  ['string', 'text'],
  ['number', 'a number'],
  ['int', 'a whole number'],
  ['boolean', 'true or false'],
  ['array', 'a list'],
  ['object', 'a map of fields'],
  ['record', 'a map'],
])

/** Our own messages say what is expected; those of zod start with a capital letter. */
const isNoun = (message: string): boolean => /^an? /.test(message)

function expectation(issue: z.core.$ZodIssue): string {
  if (isNoun(issue.message)) return `must be ${issue.message}`
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${nouns.get(issue.expected) ?? issue.expected}`
    case 'invalid_value':
      return `must be ${issue.values.map(String).join(' or ')}`
    case 'invalid_union':
      return `must be ${joinAlternatives(issue)}`
    case 'too_small':
      if (issue.origin === 'array') return 'must not be empty'
      return `must be ${issue.inclusive === false ? 'more than' : 'at least'} ${issue.minimum}`
    case 'too_big':
      if (issue.origin === 'string') return `must have at most ${issue.maximum} characters`
      return `must be at most ${issue.maximum}`
    case 'invalid_format':
      return issue.format === 'url' ? 'must be a URL' : `must be different (${issue.message})`
    case 'custom':
    case 'invalid_element':
    case 'invalid_key':
    case 'not_multiple_of':
    case 'unrecognized_keys':
      return `must be different (${issue.message})`
  }
}

function joinAlternatives(issue: z.core.$ZodIssueInvalidUnion): string {
  const firsts = issue.errors.flatMap(([first]) => (first === undefined ? [] : [first]))
  const words = firsts.map((first) => expectation(first).replace(/^must be /, ''))
  return words.length === 0 ? 'something else' : [...new Set(words)].join(' or ')
}

function formatActual(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object' && value !== null) return 'a map'
  return clipText(typeof value === 'string' ? `"${value}"` : String(value), 60)
}
