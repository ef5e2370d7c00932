import { randomBytes } from 'node:crypto'
import { createServer, request as requestHttp, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { request as requestHttps } from 'node:https'

export type GatewayOptions = {
  /** The model server. The path of a request is appended to the path of this URL. */
  readonly upstream: URL
  /** What the agent sends in place of the key. */
  readonly placeholder: string
  readonly key: string
}

/** A new one per attempt. Only the gateway accepts it; the model server does not know it. */
export const createPlaceholder = (): string => `ralph-placeholder-${randomBytes(24).toString('hex')}`

/** Headers in which agent programs send the key of their model. */
const keyHeaders = ['x-api-key', 'authorization', 'x-goog-api-key', 'api-key']

/**
 * A proxy for programs in a cell: forwards requests to the model server with the real key in place of the placeholder. The agent
 * never sees the key and can use it only through this proxy, while its attempt runs.
 */
export const createKeyGateway = (options: GatewayOptions): Server =>
  createServer((incoming, response) => forward(options, incoming, response))

function forward(options: GatewayOptions, incoming: IncomingMessage, response: ServerResponse): void {
  const { upstream, placeholder, key } = options
  response.on('error', () => {})
  const carriers = keyHeaders.filter((name) => String(incoming.headers[name] ?? '').includes(placeholder))
  if (carriers.length === 0) {
    response.writeHead(401).end('ralph: this is not the key of this attempt\n')
    return
  }
  const path = incoming.url ?? '/'
  if (!path.startsWith('/') || /\/\.\.(?:\/|$)|%2e%2e/i.test(path)) {
    response.writeHead(400).end('ralph: not a path of the model\n')
    return
  }
  const replaced = Object.fromEntries(
    carriers.map((name) => [name, String(incoming.headers[name]).replaceAll(placeholder, () => key)]),
  )
  const { connection: _connection, ...kept } = incoming.headers
  const send = upstream.protocol === 'https:' ? requestHttps : requestHttp
  const call = send(`${upstream.origin}${upstream.pathname.replace(/\/$/, '')}${path}`, {
    method: incoming.method,
    headers: { ...kept, ...replaced, host: upstream.host },
  })
  call.on('response', (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers)
    answer.pipe(response)
    answer.on('error', () => response.destroy())
  })
  call.on('error', ({ message }) =>
    response.headersSent ? response.destroy() : response.writeHead(502).end(`ralph: ${message}\n`),
  )
  response.on('close', () => call.destroy())
  incoming.pipe(call)
}
