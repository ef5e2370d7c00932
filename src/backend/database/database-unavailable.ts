import { errorMessage, RalphError } from '../../contract/errors.ts'

/** Node error codes of connections that were refused, lost or never made. */
const connectionErrorCodes = [
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
]
/**
 * Postgres error classes: connection exception, read-only (a standby after a failover), insufficient resources (disk,
 * memory, connections), shutdown and startup.
 */
const unavailableStates = /^(08...|25006|53...|57P0[1-5])$/
/** Messages of pg errors without a code. */
const unavailableMessages =
  /^(connection terminated|timeout exceeded when trying to connect|client has encountered a connection error|cannot use a pool after)/i

/** Whether the database was unreachable, read-only or out of resources, so that the same call may succeed later. */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined
  if (
    code !== undefined &&
    (unavailableStates.test(code) || (connectionErrorCodes.includes(code) && isConnectionError(error)))
  )
    return true
  return unavailableMessages.test(error.message) || isDatabaseUnavailable(error.cause) || isAnyUnavailable(error)
}

/** Distinguishes connection errors from file errors with the same code. */
const isConnectionError = (error: Error): boolean =>
  !('syscall' in error) || ['connect', 'read', 'write', 'getaddrinfo'].includes(String(error.syscall))

/** A host name with several addresses fails with an AggregateError. */
const isAnyUnavailable = (error: Error): boolean =>
  error instanceof AggregateError && error.errors.some(isDatabaseUnavailable)

const ownDatabase = 'make the user of DATABASE_URL the owner of its database: alter database … owner to …'

/** What operators need to know about the errors of a start, by SQLSTATE. The first match counts. */
const startErrors: readonly (readonly [state: RegExp, problem: string, hint: string])[] = [
  [
    /^25006$/,
    'the database is read-only',
    'DATABASE_URL must name the primary server, and default_transaction_read_only must be off',
  ],
  [/^(28|3D)/, 'the database server refuses the connection', 'correct the user, password and database in DATABASE_URL'],
  [/^42501$/, 'the database user lacks rights', ownDatabase],
  [/^53100$/, 'the disk of the database is full', 'free space on the server, then start again; nothing was changed'],
  [
    /^53/,
    'the database server is out of resources',
    'close other connections or raise max_connections, then start again',
  ],
]

/** Explains why a backend cannot start on this database; errors that have another cause stay as they are. */
export function explainStartError(error: unknown): unknown {
  if (error instanceof RalphError) return error
  const state = readState(error) ?? ''
  const [, problem, hint] = startErrors.find(([pattern]) => pattern.test(state)) ?? []
  if (problem === undefined && !isDatabaseUnavailable(error)) return error
  const message = `${problem ?? 'cannot reach the database'}: ${errorMessage(rootCause(error))}`
  return new RalphError('DATABASE_UNAVAILABLE', message, {
    cause: error,
    hint: hint ?? 'start the database, or correct DATABASE_URL',
  })
}

/** Drizzle wraps the errors of pg, and Node those of a host with several addresses. */
function rootCause(error: unknown): unknown {
  const cause: unknown = error instanceof AggregateError ? error.errors[0] : error instanceof Error && error.cause
  return cause instanceof Error ? rootCause(cause) : error
}

function readState(error: unknown): string | undefined {
  const cause = rootCause(error)
  return cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : undefined
}
