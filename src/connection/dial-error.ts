import { X509Certificate } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { errorMessage, RalphError } from '../contract/errors.ts'
import type { DialOptions } from './web-socket.ts'

/** The header of a refused connection: the error code of the certificate. */
export const refusalHeader = 'x-ralph-refused'

const joinAgain = 'join again: ralph machine token on the backend, then the printed command here'
const setClock = () => `compare the clocks: here it is ${new Date().toISOString()}`

/** Explains to the operator of a machine why it cannot connect: which certificate, the reason, and what to do. */
export function explainDialError(error: Error, { host, port, credentials }: DialOptions): RalphError {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  const at = `${host}:${port}`
  if (code === 'CERT_HAS_EXPIRED' || code === 'CERT_NOT_YET_VALID') {
    const state = code === 'CERT_HAS_EXPIRED' ? 'has expired' : 'is not valid yet'
    return unreachable(`the certificate of the backend at ${at} ${state}`, setClock(), error)
  }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return unreachable(
      `${at} is not the machines' port of a backend`,
      'correct the address; a proxy between must not terminate TLS',
      error,
    )
  if (/SELF_SIGNED|UNABLE_TO|SIGNATURE|UNTRUSTED|INVALID_CA/.test(code))
    return unreachable(`the certificate of ${at} is not from the backend that this machine joined`, joinAgain, error)
  if (!(error instanceof RefusedConnection)) return unreachable(readMessage(error), undefined, error)
  const { validFrom, validTo } = new X509Certificate(credentials.certificate)
  if (error.reason === 'CERT_HAS_EXPIRED')
    return unreachable(`the certificate of this machine expired on ${formatDay(validTo)}`, joinAgain, error)
  if (error.reason === 'CERT_NOT_YET_VALID') {
    const problem = `the certificate of this machine is valid only from ${new Date(validFrom).toISOString()}`
    return unreachable(problem, setClock(), error)
  }
  return unreachable(`the backend at ${at} refuses the certificate of this machine (${error.reason})`, joinAgain, error)
}

/** Node gives the error of a host with several addresses no message of its own. */
const readMessage = (error: Error): string =>
  error.message === '' && error instanceof AggregateError ? errorMessage(error.errors[0]) : error.message

const formatDay = (text: string): string => new Date(text).toISOString().slice(0, 10)

const unreachable = (message: string, hint: string | undefined, cause: Error): RalphError =>
  new RalphError('MACHINE_UNREACHABLE', message, { cause, ...(hint !== undefined && { hint }) })

/** The backend answered, but did not accept the connection. */
export class RefusedConnection extends Error {
  readonly reason: string

  constructor({ statusCode = 0, headers }: IncomingMessage) {
    super(`Unexpected server response: ${statusCode}`)
    const reason = headers[refusalHeader]
    this.reason = typeof reason === 'string' && /^[A-Z_]{1,60}$/.test(reason) ? reason : `status ${statusCode}`
  }
}
