/** Connections: refused, lost, not there. The names are those of Node. */
const lost = ['ECONNREFUSED', 'ECONNRESET', 'ENOENT', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND']
/** Postgres: connection exceptions, no room (disk, memory, connections), somebody ends or starts it. */
const states = /^(08...|53...|57P0[1-5])$/
/** Errors of pg that have no code. */
const said =
  /^(connection terminated|timeout exceeded when trying to connect|client has encountered a connection error|cannot use a pool after)/i

/** Whether it failed because the database is not there or has no room now: the same call may go well later. */
export function isDatabaseGone(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined
  if (code !== undefined && (states.test(code) || (lost.includes(code) && isOfConnection(error)))) return true
  return said.test(error.message) || isDatabaseGone(error.cause) || isAnyGone(error)
}

/** Files have some of the same codes. */
const isOfConnection = (error: Error): boolean =>
  !('syscall' in error) || ['connect', 'read', 'write', 'getaddrinfo'].includes(String(error.syscall))

/** A name with several addresses fails with all of their errors. */
const isAnyGone = (error: Error): boolean => error instanceof AggregateError && error.errors.some(isDatabaseGone)
