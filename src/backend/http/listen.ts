import { createServer as createPlainServer, type Server } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import type { Hono } from 'hono'
import { errorMessage, RalphError } from '../../contract/errors.ts'
import {
  assertUsableCertificate,
  certificateExpiry,
  findPeriodProblem,
  watchCertificate,
  type TlsFiles,
  type TlsSource,
} from './tls-certificate.ts'

export type ListenOptions = {
  readonly host: string
  /** 0: any free port. */
  readonly port: number
  readonly tls?: TlsSource | undefined
  /** A proxy or the port of a container ends TLS in front of it. */
  readonly behindProxy?: boolean | undefined
  /** Users can authenticate with more than a ticket shown on this machine. */
  readonly authenticates: boolean
  /** Logs a certificate that was renewed, or could not be. */
  readonly log?: ((level: 'info' | 'warn', text: string) => void) | undefined
  /** How often the files of the certificate are read again. */
  readonly rereadMs?: number | undefined
}

export interface HttpListener {
  readonly port: number
  readonly origin: string
  /** Stops accepting requests, waits briefly for open ones, then closes everything. */
  readonly close: () => Promise<void>
}

const closeGraceMs = 3000

/** Binds the app to a port. Accepts other machines only with TLS and real authentication. */
export async function listenHttp(app: Hono, options: ListenOptions): Promise<HttpListener> {
  const { host, port, tls } = options
  if (!isLoopback(host)) assertProtected(options)
  if (tls) assertUsableCertificate(tls)
  const answer = getRequestListener(app.fetch, { overrideGlobalObjects: false })
  const onRequest = (...args: Parameters<typeof answer>) => void answer(...args)
  const server = tls
    ? createSecureServer({ cert: tls.certificate, key: tls.key, minVersion: 'TLSv1.2' }, onRequest)
    : createPlainServer(onRequest)
  server.headersTimeout = 10_000
  server.requestTimeout = 30_000
  await waitForListening(server, host, port)
  if (tls) warnOfPeriod(tls, options)
  const watching = tls && watchCertificate(tls, certificateHandlers(server, options))
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a server on a port has one
  const bound = server.address() as AddressInfo
  const name = host.includes(':') ? `[${host}]` : host
  return {
    port: bound.port,
    origin: `${tls ? 'https' : 'http'}://${name}:${bound.port}`,
    close: () => {
      watching?.stop()
      return closeServer(server)
    },
  }
}

/** Says which protection is missing. */
function assertProtected({ host, tls, behindProxy = false, authenticates }: ListenOptions): void {
  const missing = [
    ...(tls || behindProxy ? [] : ['TLS (--tls-cert and --tls-key, or --behind-proxy if a proxy ends TLS)']),
    ...(authenticates ? [] : ['sign-in (--invitations, or RALPH_OIDC_ISSUER for an identity provider)']),
  ]
  if (missing.length === 0) return
  throw new RalphError('EXPOSED', `${host} is reachable from other machines; missing: ${missing.join(' and ')}`, {
    hint: 'add what is missing, or omit --host and use a tunnel',
  })
}

function warnOfPeriod(files: TlsFiles, { log = () => {} }: Pick<ListenOptions, 'log'>): void {
  const problem = findPeriodProblem(files, Date.now())
  if (problem !== undefined) log('warn', problem)
}

const certificateHandlers = (server: Server, { log = () => {}, rereadMs }: ListenOptions) => ({
  onRenewed: (files: TlsFiles) => {
    if ('setSecureContext' in server && typeof server.setSecureContext === 'function')
      server.setSecureContext({ cert: files.certificate, key: files.key, minVersion: 'TLSv1.2' })
    log('info', `serves a renewed certificate, valid until ${new Date(certificateExpiry(files)).toISOString()}`)
    warnOfPeriod(files, { log })
  },
  onRefused: (error: unknown) => log('warn', `${errorMessage(error)}; the previous certificate stays in use`),
  everyMs: rereadMs,
})

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host)

function waitForListening(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(portInUse(error, host, port)))
    server.listen(port, host, resolve)
  })
}

function portInUse(error: NodeJS.ErrnoException, host: string, port: number): Error {
  if (error.code !== 'EADDRINUSE' && error.code !== 'EACCES') return error
  const hint = 'choose another one with --port; 0 picks any free port'
  return new RalphError('PORT_TAKEN', `cannot listen on port ${port} of ${host}`, { hint, cause: error })
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const force = setTimeout(() => server.closeAllConnections(), closeGraceMs)
    server.close(() => {
      clearTimeout(force)
      resolve()
    })
    server.closeIdleConnections()
  })
}
