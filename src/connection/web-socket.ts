import { TLSSocket } from 'node:tls'
import { WebSocket, type ClientOptions, type RawData } from 'ws'
import { maxFrameBytes } from '../contract/fleet/machine-messages.ts'
import { backendName, type Credentials } from './authority.ts'
import { explainDialError, RefusedConnection } from './dial-error.ts'
import { createInbound, type Transport } from './transport.ts'

export const linePath = '/line'

/** Keying material that only the two ends of this TLS connection can derive. */
const exportConnectionSecret = (socket: TLSSocket): Buffer =>
  socket.exportKeyingMaterial(32, 'EXPORTER-ralph-line', Buffer.alloc(0))

export const webSocketLimits = { maxPayload: maxFrameBytes, perMessageDeflate: false } as const

/** WebSocket close reasons are limited to 123 bytes. */
const maxReasonLength = 120
const closeGraceMs = 1000

/** Wraps an open WebSocket as a transport. */
export function createWebSocketTransport(socket: WebSocket, below: TLSSocket): Transport {
  const secret = exportConnectionSecret(below)
  const incoming = createInbound()
  socket.on('message', (data: RawData, isBinary: boolean) => {
    if (isBinary) return socket.close(1003, 'texts only')
    incoming.arrived(decodeText(data))
  })
  socket.on('close', (code: number, reason: Buffer) => incoming.closed(reason.toString() || `closed (${code})`))
  socket.on('error', (error: Error) => incoming.closed(error.message))
  return {
    send: (text) => {
      if (socket.readyState === WebSocket.OPEN) socket.send(text, () => {})
    },
    unsentBytes: () => socket.bufferedAmount,
    receivedBytes: () => below.bytesRead,
    nextText: incoming.nextText,
    onText: incoming.onText,
    onClose: incoming.onClose,
    close: (reason) => {
      socket.close(4000, Buffer.from(reason).subarray(0, maxReasonLength).toString().replaceAll('�', ''))
      setTimeout(() => socket.terminate(), closeGraceMs).unref()
    },
    secret,
  }
}

function decodeText(data: RawData): string {
  if (Array.isArray(data)) return Buffer.concat(data).toString()
  return Buffer.isBuffer(data) ? data.toString() : Buffer.from(data).toString()
}

export type BackendAddress = { readonly host: string; readonly port: number }

export type DialOptions = BackendAddress & {
  readonly credentials: Credentials
  /** Certificates of the trusted authorities, as PEM. */
  readonly authorities: string
  readonly timeoutMs?: number
}

/** Connects to a backend. Every failure rejects with MACHINE_UNREACHABLE. */
export function dialBackend(dial: DialOptions): Promise<Transport> {
  const { host, port, credentials, authorities, timeoutMs = 8000 } = dial
  const options: ClientOptions & { readonly servername: string } = {
    ...webSocketLimits,
    ca: authorities,
    cert: credentials.certificate,
    key: credentials.key,
    servername: backendName,
    minVersion: 'TLSv1.3',
    rejectUnauthorized: true,
    handshakeTimeout: timeoutMs,
  }
  const socket = new WebSocket(`wss://${host.includes(':') ? `[${host}]` : host}:${port}${linePath}`, options)
  return new Promise((resolve, reject) => {
    const failed = (error: Error) => reject(explainDialError(error, dial))
    socket.once('error', failed)
    socket.once('unexpected-response', (request, response) => {
      failed(new RefusedConnection(response))
      request.destroy()
    })
    // Create the transport now: the first frame may arrive in the same chunk as the end of the handshake.
    socket.once('upgrade', ({ socket: below }) => {
      if (!(below instanceof TLSSocket)) return failed(new Error('the connection is not TLS'))
      const transport = createWebSocketTransport(socket, below)
      socket.once('open', () => {
        socket.off('error', failed)
        resolve(transport)
      })
    })
  })
}
