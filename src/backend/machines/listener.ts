import { X509Certificate } from 'node:crypto'
import { createServer, type Server } from 'node:https'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { TLSSocket } from 'node:tls'
import { WebSocketServer } from 'ws'
import { readMachineId } from '../../connection/authority.ts'
import { JoinRequest, joinPath, type JoinResponse } from '../../connection/join.ts'
import { refusalHeader } from '../../connection/dial-error.ts'
import { linePath, webSocketLimits, createWebSocketTransport } from '../../connection/web-socket.ts'
import { RalphError, errorMessage } from '../../contract/errors.ts'
import { admitWithToken, type AdmissionParts } from './admission.ts'
import type { MachineLines } from './machine-lines.ts'
import { createRefusalLog } from './refusal-log.ts'

export type ListenerOptions = AdmissionParts & {
  readonly machines: MachineLines
  /** Reports why a connection failed that was neither admitted nor refused. */
  readonly logError: (error: unknown, doing: string) => void
  readonly host: string
  /** 0: any free port. */
  readonly port: number
  /** How often the port gets a new certificate. */
  readonly reissueMs?: number
}

export interface MachineListener {
  readonly port: number
  readonly close: () => Promise<void>
}

const maxJoinBytes = 20_000
/** Failed tokens per address and minute; further attempts are refused without a check. */
const maxFailures = 20
const reissueIntervalMs = 7 * 86_400_000

/**
 * The port for machines: TLS 1.3 only; a client without a certificate of our authority can only redeem a join token.
 */
export async function listenForMachines(options: ListenerOptions): Promise<MachineListener> {
  const { authority, now } = options
  const secure = async () => {
    const { certificate, key } = await authority.issueForBackend(now())
    return { cert: certificate + authority.certificate, key, ca: authority.certificate, minVersion: 'TLSv1.3' as const }
  }
  const joining = createJoinHandler(options)
  const server = createServer(
    // A client without a certificate may still ask to join, so the certificate is checked at the upgrade.
    { ...(await secure()), requestCert: true, rejectUnauthorized: false, handshakeTimeout: 10_000 },
    (request, response) => void joining(request, response),
  )
  server.headersTimeout = 10_000
  server.requestTimeout = 20_000
  server.on('upgrade', createUpgradeHandler(options))
  server.on('tlsClientError', () => {})
  const reissuing = setInterval(
    () => void secure().then((context) => server.setSecureContext(context)),
    options.reissueMs ?? reissueIntervalMs,
  )
  reissuing.unref()
  const port = await startListening(server, options)
  return {
    port,
    close: () =>
      new Promise((resolve) => {
        clearInterval(reissuing)
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function startListening(server: Server, { port, host }: ListenerOptions): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => resolve(listeningPort(server.address())))
  })
}

const listeningPort = (address: AddressInfo | string | null): number =>
  address !== null && typeof address === 'object' ? address.port : 0

function createUpgradeHandler({ machines, log, logError }: ListenerOptions) {
  const sockets = new WebSocketServer({ noServer: true, ...webSocketLimits })
  const refusals = createRefusalLog(log)
  const refuse = (socket: Duplex, from: string, why: string) => {
    refusals(from, why, `refused a connection of a machine from ${from}: ${refusalTexts[why] ?? why}`)
    const reason = /^[A-Z_]+$/.test(why) ? `${refusalHeader}: ${why}\r\n` : ''
    socket.end(`HTTP/1.1 401 Unauthorized\r\n${reason}Connection: close\r\nContent-Length: 0\r\n\r\n`)
  }
  return (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    socket.on('error', () => socket.destroy())
    const found = identifyPeer(request, socket)
    if ('refused' in found) return refuse(socket, request.socket.remoteAddress ?? '', found.refused)
    sockets.handleUpgrade(request, socket, head, (webSocket) => {
      const transport = createWebSocketTransport(webSocket, found.socket)
      machines.attach(transport, found.machineId).catch((error: unknown) => {
        logError(error, 'machine connection')
        transport.close('it failed')
      })
    })
  }
}

const refusalTexts: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'its certificate has expired, so the machine must join again: ralph machine token',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet: is the clock of this backend behind?',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate is from another authority',
}

type PeerIdentity = { readonly machineId: string; readonly socket: TLSSocket } | { readonly refused: string }

/** The machine at the other end, as proved by the TLS handshake. */
function identifyPeer({ url }: IncomingMessage, socket: Duplex): PeerIdentity {
  if (url !== linePath) return { refused: 'unknown path' }
  if (!(socket instanceof TLSSocket)) return { refused: 'not a TLS connection' }
  if (!socket.authorized) return { refused: String(socket.authorizationError ?? 'no certificate') }
  const shown = socket.getPeerCertificate().raw
  const machineId = shown && readMachineId(new X509Certificate(shown))
  return machineId ? { machineId, socket } : { refused: 'the certificate belongs to no machine' }
}

function createJoinHandler(options: ListenerOptions) {
  const failures = new Map<string, number>()
  setInterval(() => failures.clear(), 60_000).unref()
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const from = request.socket.remoteAddress ?? ''
    const say = (status: number, answer: JoinResponse) => {
      if ('refused' in answer) failures.set(from, (failures.get(from) ?? 0) + 1)
      response.writeHead(status, { 'content-type': 'application/json', connection: 'close' })
      response.end(JSON.stringify(answer))
    }
    if (request.url !== joinPath || request.method !== 'POST') return say(404, { refused: 'not found' })
    if ((failures.get(from) ?? 0) >= maxFailures) return say(429, { refused: 'too many attempts; wait a minute' })
    try {
      const body = JoinRequest.safeParse(JSON.parse(await readJoinBody(request)))
      if (!body.success) return say(422, { refused: 'this is not a join request' })
      const answer = await admitWithToken(body.data, from, options)
      return say('refused' in answer ? 403 : 'pending' in answer ? 202 : 200, answer)
    } catch (error) {
      options.log('warn', 'join failed', { why: errorMessage(error) })
      return say(400, { refused: error instanceof RalphError ? error.message : 'this is not a join request' })
    }
  }
}

async function readJoinBody(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const part of request.setEncoding('utf8')) {
    text += String(part)
    if (text.length > maxJoinBytes) throw new RalphError('MESSAGE_TOO_LONG', 'the request is too long')
  }
  return text
}
