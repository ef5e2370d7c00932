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
 * Postgres error classes: connection exception, insufficient resources (disk, memory, connections), shutdown and
 * startup.
 */
const unavailableStates = /^(08...|53...|57P0[1-5])$/
/** Messages of pg errors without a code. */
const unavailableMessages =
  /^(connection terminated|timeout exceeded when trying to connect|client has encountered a connection error|cannot use a pool after)/i

/** Whether the database was unreachable or out of resources, so that the same call may succeed later. */
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
