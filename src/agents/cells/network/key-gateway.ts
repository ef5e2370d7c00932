import { randomBytes } from 'node:crypto'
import { createServer, request as requestHttp, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { request as requestHttps } from 'node:https'

export type GatewayOptions = {
  /** Where requests go, with the path that theirs is appended to. */
  readonly upstream: URL
  /** What the agent sends in place of the key. */
  readonly placeholder: string
  readonly key: string
}

/** One per attempt; nothing outside the gateway takes it for a key. */
export const createPlaceholder = (): string => `ralph-placeholder-${randomBytes(24).toString('hex')}`

/** Headers in which agent programs send the key of their model. */
const keyHeaders = ['x-api-key', 'authorization', 'x-goog-api-key', 'api-key']

/**
 * A model server for programs in a cell: passes requests on to the one upstream, with the real key in place of the placeholder. The
 * agent never holds the key, so it can use it only through this server, as long as its attempt lasts.
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
