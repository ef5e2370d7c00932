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
/** Codes with which Node refuses the certificate of a server. */
const certificateCodes =
  /^(CERT_|SELF_SIGNED_|DEPTH_ZERO_|UNABLE_TO_(GET_ISSUER|VERIFY_LEAF)|INVALID_CA$|ERR_TLS_CERT_)/
/** A new session on a server with a full disk fails with this text, and with the state of a defect. */
const unwritableServer = /^could not write init file/
/** Messages of pg errors without a code. */
const unavailableMessages =
  /^(connection terminated|timeout exceeded when trying to connect|client has encountered a connection error|cannot use a pool after)/i

/** Whether the database was unreachable, read-only or out of resources, so that the same call may succeed later. */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  // Names its own cause: another server, such as the identity provider, may be the one that is away.
  if (error instanceof RalphError && error.code !== 'INTERNAL') return error.code === 'DATABASE_UNAVAILABLE'
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined
  if (
    code !== undefined &&
    (unavailableStates.test(code) ||
      certificateCodes.test(code) ||
      (connectionErrorCodes.includes(code) && isConnectionError(error)))
  )
    return true
  if (unavailableMessages.test(error.message) || unwritableServer.test(error.message)) return true
  return isDatabaseUnavailable(error.cause) || isAnyUnavailable(error)
}

/** Distinguishes connection errors from file errors with the same code. */
const isConnectionError = (error: Error): boolean =>
  !('syscall' in error) || ['connect', 'read', 'write', 'getaddrinfo'].includes(String(error.syscall))

/** A host name with several addresses fails with an AggregateError. */
const isAnyUnavailable = (error: Error): boolean =>
  error instanceof AggregateError && error.errors.some(isDatabaseUnavailable)

/** Texts of the engine, which passes on only the messages of errors. */
const unavailableText =
  /connection terminated|timeout exceeded when trying to connect|no space left|read-only transaction|the database system is/i
/** Files and pipes to programs fail with these codes too. */
const socketText = /connect ENOENT \S*\.s\.PGSQL\.|write EPIPE/
const networkCodes = connectionErrorCodes.filter((code) => code !== 'ENOENT' && code !== 'EPIPE')

export const isUnavailableText = (text: string): boolean =>
  unavailableText.test(text) || socketText.test(text) || networkCodes.some((code) => text.includes(code))

const renewCertificate = 'renew the certificate of the server, and compare the clocks'
const nameAuthority = 'name the authority in DATABASE_URL: ?sslmode=verify-full&sslrootcert=/etc/ralph/ca.pem'
const ownDatabase = 'make the user of DATABASE_URL the owner of its database: alter database … owner to …'

/** What operators need to know about an unusable database, by the code of Postgres or Node. The first match counts. */
const problems: readonly (readonly [state: RegExp, problem: string, hint: string])[] = [
  [
    /^25006$/,
    'the database is read-only',
    'DATABASE_URL must name the primary server, and default_transaction_read_only must be off',
  ],
  [/^(28|3D)/, 'the database server refuses the connection', 'correct the user, password and database in DATABASE_URL'],
  [/^42501$/, 'the database user lacks rights', ownDatabase],
  [/^53100$/, 'the disk of the database is full', 'free space on the server'],
  [/^53/, 'the database server is out of resources', 'close other connections or raise max_connections'],
  [/^CERT_(HAS_EXPIRED|NOT_YET_VALID)$/, 'the certificate of the database is not valid now', renewCertificate],
  [
    /^ERR_TLS_CERT_/,
    'the certificate of the database is for another name',
    'use a name of the certificate in DATABASE_URL',
  ],
  [certificateCodes, 'the certificate of the database is not trusted', nameAuthority],
]

type DatabaseProblem = { readonly problem: string; readonly hint: string }

/** What prevents the database from being used, without addresses and names; undefined for other errors. */
export function findDatabaseProblem(error: unknown): DatabaseProblem | undefined {
  const state = unwritableServer.test(errorMessage(rootCause(error))) ? '53100' : (readState(error) ?? '')
  const [, problem, hint] = problems.find(([pattern]) => pattern.test(state)) ?? []
  if (problem !== undefined && hint !== undefined) return { problem, hint }
  if (!isDatabaseUnavailable(error)) return undefined
  return { problem: 'cannot reach the database', hint: 'start the database, or correct DATABASE_URL' }
}

/** Also by the text, which is all that the engine passes on. */
const damageText = /could not read blocks? \d|invalid page in block|unexpected chunk|missing chunk/

const isDamage = (error: unknown): boolean =>
  /^XX00[12]$/.test(readState(error) ?? '') || damageText.test(errorMessage(rootCause(error)))

/** Explains why a backend cannot use this database; errors that have another cause stay as they are. */
export function explainDatabaseError(error: unknown): unknown {
  if (error instanceof RalphError) return error
  if (isDamage(error)) {
    return new RalphError('DATABASE_DAMAGED', `the database is damaged: ${errorMessage(rootCause(error))}`, {
      cause: error,
      hint: 'move it away and restore a backup: ralph backup restore FILE; the embedded database keeps its own in <data>/backups',
    })
  }
  const found = findDatabaseProblem(error)
  if (!found) return error
  const message = `${found.problem}: ${errorMessage(rootCause(error))}`
  return new RalphError('DATABASE_UNAVAILABLE', message, { cause: error, hint: found.hint })
}

const outageCodes: readonly string[] = ['DATABASE_UNAVAILABLE', 'DISK_FULL']

/** Explains why the database cannot be used at the moment; undefined for errors of another kind. */
export function explainOutage(error: unknown): RalphError | undefined {
  const explained = explainDatabaseError(error)
  return explained instanceof RalphError && outageCodes.includes(explained.code) ? explained : undefined
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
