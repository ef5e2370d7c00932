import { X509Certificate } from 'node:crypto'
import { createServer, type Server } from 'node:https'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { TLSSocket } from 'node:tls'
import { WebSocketServer } from 'ws'
import { machineOf } from '../../channel/authority.ts'
import { JoinRequest, joinPath, type JoinAnswer } from '../../channel/join.ts'
import { linePath, webSocketLimits, webSocketTransport } from '../../channel/web-socket.ts'
import { RalphError } from '../../contract/errors.ts'
import { join, type AdmissionParts } from './admission.ts'
import type { Machines } from './machines.ts'

export type ListenerOptions = AdmissionParts & {
  readonly machines: Machines
  readonly host: string
  /** 0: any. */
  readonly port: number
}

export interface Listener {
  readonly port: number
  readonly close: () => Promise<void>
}

const mostJoinBytes = 20_000
/** Wrong tokens of one address in a minute; more are not even looked at. */
const mostFailures = 20
const reissueEveryMs = 7 * 86_400_000

/** The port that machines call: TLS 1.3 only; without a certificate of ours one can do nothing but show a join token. */
export async function listenForMachines(options: ListenerOptions): Promise<Listener> {
  const { authority, now } = options
  const secure = async () => {
    const { certificate, key } = await authority.forBackend(now())
    return { cert: certificate + authority.certificate, key, ca: authority.certificate, minVersion: 'TLSv1.3' as const }
  }
  const joining = joinOver(options)
  const server = createServer(
    // Who has no certificate can still ask to join, so it is the upgrade that insists on one.
    { ...(await secure()), requestCert: true, rejectUnauthorized: false, handshakeTimeout: 10_000 },
    (request, response) => void joining(request, response),
  )
  server.headersTimeout = 10_000
  server.requestTimeout = 20_000
  server.on('upgrade', upgrades(options))
  server.on('tlsClientError', () => {})
  const reissuing = setInterval(() => void secure().then((context) => server.setSecureContext(context)), reissueEveryMs)
  reissuing.unref()
  const port = await listen(server, options)
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

function listen(server: Server, { port, host }: ListenerOptions): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => resolve(portOf(server.address())))
  })
}

const portOf = (address: AddressInfo | string | null): number =>
  address !== null && typeof address === 'object' ? address.port : 0

function upgrades({ machines, log }: ListenerOptions) {
  const sockets = new WebSocketServer({ noServer: true, ...webSocketLimits })
  const refuse = (socket: Duplex, why: string) => {
    log('warn', 'a connection was refused', { why })
    socket.end('HTTP/1.1 401 Unauthorized\r\nConnection: close\r\nContent-Length: 0\r\n\r\n')
  }
  return (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    socket.on('error', () => socket.destroy())
    const found = identityOf(request, socket)
    if ('refused' in found) return refuse(socket, found.refused)
    sockets.handleUpgrade(request, socket, head, (webSocket) => {
      const transport = webSocketTransport(webSocket, found.socket)
      machines.attach(transport, found.machineId).catch((error: unknown) => {
        log('warn', 'a connection failed', {
          machineId: found.machineId,
          why: error instanceof Error ? error.message : '',
        })
        transport.close('it failed')
      })
    })
  }
}

type Identity = { readonly machineId: string; readonly socket: TLSSocket } | { readonly refused: string }

/** Who is at the other end, as the handshake has proved it. */
function identityOf({ url }: IncomingMessage, socket: Duplex): Identity {
  if (url !== linePath) return { refused: 'there is nothing at this path' }
  if (!(socket instanceof TLSSocket)) return { refused: 'it is not TLS' }
  if (!socket.authorized) return { refused: String(socket.authorizationError ?? 'no certificate') }
  const shown = socket.getPeerCertificate().raw
  const machineId = shown && machineOf(new X509Certificate(shown))
  return machineId ? { machineId, socket } : { refused: 'the certificate is of no machine' }
}

function joinOver(options: ListenerOptions) {
  const failures = new Map<string, number>()
  setInterval(() => failures.clear(), 60_000).unref()
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const from = request.socket.remoteAddress ?? ''
    const say = (status: number, answer: JoinAnswer) => {
      if ('refused' in answer) failures.set(from, (failures.get(from) ?? 0) + 1)
      response.writeHead(status, { 'content-type': 'application/json', connection: 'close' })
      response.end(JSON.stringify(answer))
    }
    if (request.url !== joinPath || request.method !== 'POST') return say(404, { refused: 'there is nothing here' })
    if ((failures.get(from) ?? 0) >= mostFailures) return say(429, { refused: 'too many attempts; wait a minute' })
    try {
      const body = JoinRequest.safeParse(JSON.parse(await readBody(request)))
      if (!body.success) return say(422, { refused: 'this is no request to join' })
      const answer = await join(body.data, options)
      return say('refused' in answer ? 403 : 'pending' in answer ? 202 : 200, answer)
    } catch (error) {
      options.log('warn', 'a join failed', { why: error instanceof Error ? error.message : '' })
      return say(400, { refused: error instanceof RalphError ? error.message : 'this is no request to join' })
    }
  }
}

async function readBody(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const part of request.setEncoding('utf8')) {
    text += String(part)
    if (text.length > mostJoinBytes) throw new RalphError('MESSAGE_TOO_LONG', 'the request is too long')
  }
  return text
}
