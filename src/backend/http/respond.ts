import type { z } from 'zod'
import { errorCodes, RalphError } from '../../contract/errors.ts'
import type { ProblemDetails } from '../../contract/fleet/problem.ts'
import { findDatabaseProblem, isDatabaseUnavailable } from '../database/database-unavailable.ts'

/** The only place that turns an error into a response. Unexpected errors are logged, not shown to the caller. */
export function toProblem(error: unknown, log: (error: unknown) => void): ProblemDetails {
  if (error instanceof BadRequest)
    return { ...createProblem('INVALID_REQUEST', error.message), errors: [...error.errors] }
  if (error instanceof RalphError && error.code !== 'INTERNAL')
    return createProblem(error.code, error.message, error.hint)
  log(error)
  if (isDatabaseUnavailable(error)) {
    const title = findDatabaseProblem(error)?.problem ?? 'cannot reach the database'
    return createProblem('DATABASE_UNAVAILABLE', title, 'retry soon; the log of the backend says more')
  }
  return createProblem('INTERNAL', 'internal error', 'see the log of the backend')
}

function createProblem(code: keyof typeof errorCodes, title: string, hint?: string): ProblemDetails {
  return { type: 'about:blank', title, status: errorCodes[code].status, code, ...(hint !== undefined && { hint }) }
}

export const jsonResponse = (value: unknown, headers: Readonly<Record<string, string>> = {}, status = 200): Response =>
  Response.json(value, { status, headers: { 'cache-control': 'no-store', ...headers } })

export function problemResponse(body: ProblemDetails): Response {
  const headers = { 'content-type': 'application/problem+json', 'cache-control': 'no-store' }
  const later = retryAfter[body.code]
  return new Response(JSON.stringify(body), {
    status: body.status,
    headers: { ...headers, ...(later !== undefined && { 'retry-after': later }) },
  })
}

/** Seconds after which a retry may succeed. An empty bucket allows one call again after a second. */
const retryAfter: Readonly<Record<string, string>> = {
  RATE_LIMITED: '1',
  DATABASE_UNAVAILABLE: '5',
  MACHINE_UNREACHABLE: '5',
}

type FieldError = { readonly path: string; readonly message: string }

class BadRequest extends Error {
  readonly errors: readonly FieldError[]

  constructor(errors: readonly FieldError[]) {
    super(errors.length === 1 ? `${errors[0]?.path}: ${errors[0]?.message}` : `${errors.length} fields are invalid`)
    this.errors = errors
  }
}

/** Parses input with a schema. `where` prefixes the field names in errors. */
export function parseInput<T extends z.ZodType>(schema: T, value: unknown, where: string): z.output<T> {
  const nul = findNul(value, [where])
  if (nul) throw new BadRequest([{ path: nul.join('.'), message: 'NUL characters are not allowed' }])
  const result = schema.safeParse(value)
  if (result.success) return result.data
  throw new BadRequest(
    result.error.issues.slice(0, 20).map(({ path, message }) => ({ path: [where, ...path].join('.'), message })),
  )
}

/** The path of the first string that contains a NUL character, which Postgres cannot store. */
function findNul(value: unknown, path: readonly string[]): readonly string[] | undefined {
  if (typeof value === 'string') return value.includes('\0') ? path : undefined
  if (typeof value !== 'object' || value === null) return undefined
  for (const [name, part] of Object.entries(value)) {
    const found = name.includes('\0') ? path : findNul(part, [...path, name])
    if (found) return found
  }
  return undefined
}
