import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { onTestFinished } from 'vitest'
import { findFreePort } from './free-port.ts'

export type FrontProxy = {
  readonly origin: string
  /** The port of the backend behind it. */
  readonly backendPort: number
  /** Without a network: ends all connections, refuses new ones. */
  offline: boolean
  /** Withholds what streams send, like a proxy that buffers; `cut` ends that. */
  buffering: boolean
  /** The version that the backend seems to have. */
  version: string | undefined
  /** Ends all connections, as an upgrade of the backend does. */
  readonly cut: () => void
}

/** A proxy between browsers and a real backend, which a test can break. */
export async function createFrontProxy(): Promise<FrontProxy> {
  const backendPort = await findFreePort()
  const server = createServer((incoming, response) => {
    if (proxy.offline) return void incoming.socket.destroy()
    const { method, url: path, headers } = incoming
    const outgoing = request({ host: '127.0.0.1', port: backendPort, method, path, headers }, (answer) =>
      forward(incoming, answer, response),
    )
    outgoing.on('error', () => response.destroy())
    response.on('close', () => outgoing.destroy())
    incoming.pipe(outgoing)
  })
  const forward = (incoming: IncomingMessage, answer: IncomingMessage, response: ServerResponse): void => {
    const isStream = answer.headers['content-type']?.startsWith('text/event-stream') === true
    if (incoming.url === '/api/me' && proxy.version !== undefined) return void rewriteVersion(answer, response)
    response.writeHead(answer.statusCode ?? 502, answer.headers)
    response.flushHeaders()
    answer.on('data', (part: Buffer) => void ((isStream && proxy.buffering) || response.write(part)))
    answer.on('end', () => response.end())
    answer.on('error', () => response.destroy())
  }
  const rewriteVersion = async (answer: IncomingMessage, response: ServerResponse): Promise<void> => {
    const parts: Buffer[] = []
    for await (const part of answer) parts.push(Buffer.from(part))
    const text = Buffer.concat(parts)
      .toString()
      .replace(/"version":"[^"]*"/, `"version":"${proxy.version}"`)
    response.writeHead(answer.statusCode ?? 502, { 'content-type': 'application/json' }).end(text)
  }
  const port = await findFreePort()
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const proxy: FrontProxy = {
    origin: `http://localhost:${port}`,
    backendPort,
    offline: false,
    buffering: false,
    version: undefined,
    cut: () => server.closeAllConnections(),
  }
  return proxy
}
