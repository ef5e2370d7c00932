import { lookup } from 'node:dns/promises'
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import { connect, isIP, type Server, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { Duplex } from 'node:stream'
import { errorMessage } from '../../../contract/errors.ts'
import { isInternalAddress } from '../../../platform/net/internal-addresses.ts'
import { decide, isAddress, plainHost, type Rule } from './allow-list.ts'
import { readHello } from './hello.ts'

export type ProxyOptions = {
  readonly rules: readonly Rule[]
  /** The user's own HTTP proxy: what is allowed goes through it. */
  readonly upstream?: URL | undefined
  readonly onVisit: (visit: Visit) => void
  /** How long a host, or the user's proxy, may take to answer. */
  readonly dialTimeoutMs?: number | undefined
  /** For tests. */
  readonly resolve?: ((host: string) => Promise<readonly string[]>) | undefined
}

export type Visit = {
  readonly host: string
  readonly port: number
  readonly allowed: boolean
  readonly reason?: string
}

/** Why a connection was refused, in words for the program that wanted it. */
class Refusal extends Error {}

/**
 * An HTTP proxy for programs in a cell: `CONNECT` and plain HTTP to hosts of an allow-list. It looks into no encrypted
 * conversation. A name is resolved once, the address is checked, and that address is called.
 */
export function createProxy(options: ProxyOptions): Server {
  const server = createServer((incoming, response) => void forward(options, incoming, response))
  server.on('connect', (incoming: IncomingMessage, client: Duplex, head: Buffer) => {
    client.on('error', () => client.destroy())
    void tunnel(options, { incoming, client, head })
  })
  // Each takes a descriptor of Ralph's own process.
  server.maxConnections = connectionLimit
  server.on('clientError', (_error, socket) => socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n'))
  return server
}

const connectionLimit = 256

type Tunnel = { readonly incoming: IncomingMessage; readonly client: Duplex; readonly head: Buffer }

async function tunnel(options: ProxyOptions, { incoming, client, head }: Tunnel): Promise<void> {
  const [, host, port] = /^([^@\s]+):(\d{1,5})$/.exec(incoming.url ?? '') ?? []
  if (host === undefined) {
    client.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n')
    return
  }
  try {
    const { rule, dial } = await admit(options, host, Number(port))
    const remote = await dial()
    remote.on('error', () => client.destroy())
    client.on('close', () => remote.destroy())
    remote.on('close', () => client.destroy())
    client.write('HTTP/1.1 200 Connection established\r\n\r\n')
    const first = await firstBytes(client, head)
    if (!isMeant(first, plainHost(host), rule)) {
      client.destroy()
      return
    }
    remote.write(first)
    client.pipe(remote).pipe(client)
  } catch (error) {
    const text = reason(error)
    client.end(
      `HTTP/1.1 ${error instanceof Refusal ? 403 : 502} ${text}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`,
    )
  }
}

/** A tunnel to one name must not carry a conversation with another, and without encryption only what the user configured. */
function isMeant(first: Buffer, host: string, rule: Rule): boolean {
  const hello = readHello(first)
  if (hello.kind !== 'tls') return rule.private
  return hello.name === undefined ? isAddress(host) || rule.private : plainHost(hello.name) === host
}

/** Enough of them to see what they begin. */
async function firstBytes(client: Duplex, head: Buffer): Promise<Buffer> {
  let bytes = head
  while (readHello(bytes).kind === 'incomplete') {
    const more = await new Promise<Buffer | undefined>((done) => {
      client.once('data', (chunk: Buffer) => {
        client.pause()
        done(chunk)
      })
      client.once('close', () => done(undefined))
      client.once('end', () => done(undefined))
      client.resume()
    })
    if (more === undefined) return bytes
    bytes = Buffer.concat([bytes, more])
  }
  return bytes
}

async function forward(options: ProxyOptions, incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  const { url = '' } = incoming
  response.on('error', () => {})
  if (!/^http:\/\//i.test(url) || !URL.canParse(url)) {
    response.writeHead(400, 'Not a request for a proxy').end()
    return
  }
  const target = new URL(url)
  try {
    const { dial } = await admit(options, target.hostname, Number(target.port || 80))
    // Nothing arrives before something is sent, and a socket that is paused would never answer.
    const socket = (await dial()).resume()
    const call = request({
      method: incoming.method,
      path: `${target.pathname}${target.search}`,
      // The name that was checked, whatever the program wrote.
      headers: { ...withoutHops(incoming.headers), host: target.host, connection: 'close' },
      createConnection: () => socket,
    })
    call.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.statusMessage, withoutHops(answer.headers))
      answer.pipe(response)
    })
    call.on('error', (error) =>
      response.headersSent ? response.destroy() : response.writeHead(502, reason(error)).end(),
    )
    response.on('close', () => call.destroy())
    incoming.pipe(call)
  } catch (error) {
    response.writeHead(error instanceof Refusal ? 403 : 502, reason(error)).end(`ralph: ${reason(error)}\n`)
  }
}

const hops = ['proxy-authorization', 'proxy-connection', 'connection', 'keep-alive', 'te', 'trailer', 'upgrade']

const withoutHops = (headers: IncomingMessage['headers']): IncomingMessage['headers'] =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !hops.includes(name)))

type Admission = { readonly rule: Rule; readonly dial: () => Promise<Socket> }

/** Rejects with a Refusal if the host is not allowed. */
async function admit(options: ProxyOptions, host: string, port: number): Promise<Admission> {
  const decision = decide(options.rules, host, port)
  const visit = { host: plainHost(host), port }
  if (!decision.allowed) {
    options.onVisit({ ...visit, allowed: false, reason: decision.reason })
    throw new Refusal(`${visit.host}:${port} refused: ${decision.reason}`)
  }
  const { rule } = decision
  const timeoutMs = options.dialTimeoutMs ?? defaultTimeoutMs
  if (options.upstream && !isAddress(visit.host)) {
    const { upstream } = options
    options.onVisit({ ...visit, allowed: true })
    return { rule, dial: () => dialThrough(upstream, { host: visit.host, port, timeoutMs }) }
  }
  const addresses = await (options.resolve ?? resolveHost)(visit.host)
  const inside = addresses.find((address) => isInternalAddress(address))
  if (inside !== undefined && !rule.private) {
    options.onVisit({ ...visit, allowed: false, reason: 'a private address' })
    throw new Refusal(`${visit.host}:${port} refused: it resolves to a private address`)
  }
  options.onVisit({ ...visit, allowed: true })
  return { rule, dial: () => dialFirst(addresses, port, timeoutMs) }
}

async function resolveHost(host: string): Promise<readonly string[]> {
  if (isIP(host) !== 0) return [host]
  return (await lookup(host, { all: true })).map(({ address }) => address)
}

async function dialFirst(addresses: readonly string[], port: number, timeoutMs: number): Promise<Socket> {
  let last: unknown = new Error('it has no address')
  for (const host of addresses) {
    try {
      return await connected(connect({ host, port, allowHalfOpen: true }), 'connect', timeoutMs)
    } catch (error) {
      last = error
    }
  }
  throw last
}

type Destination = { readonly host: string; readonly port: number; readonly timeoutMs: number }

/** A tunnel through the user's own proxy. */
async function dialThrough(upstream: URL, { host, port, timeoutMs }: Destination): Promise<Socket> {
  const isTls = upstream.protocol === 'https:'
  const at = { host: plainHost(upstream.hostname), port: Number(upstream.port || (isTls ? 443 : 80)) }
  const socket = isTls
    ? await connected(connectTls({ ...at, servername: at.host }), 'secureConnect', timeoutMs)
    : await connected(connect(at), 'connect', timeoutMs)
  const login = `${decodeURIComponent(upstream.username)}:${decodeURIComponent(upstream.password)}`
  const authorization =
    upstream.username === '' ? '' : `Proxy-Authorization: Basic ${Buffer.from(login).toString('base64')}\r\n`
  socket.write(`CONNECT ${host}:${port} HTTP/1.1\r\nHost: ${host}:${port}\r\n${authorization}\r\n`)
  // Without it, an agent would wait as long as a silent proxy keeps the connection.
  const late = setTimeout(() => socket.destroy(), timeoutMs)
  const status = await readStatus(socket).finally(() => clearTimeout(late))
  if (status === 200) return socket
  socket.destroy()
  throw new Error(`the proxy ${upstream.host} answers ${status}`)
}

function readStatus(socket: Socket): Promise<number> {
  return new Promise((resolve, reject) => {
    let text = ''
    const onData = (chunk: Buffer) => {
      text += chunk.toString('latin1')
      const end = text.indexOf('\r\n\r\n')
      if (end === -1) return
      socket.off('data', onData)
      socket.pause()
      if (text.length > end + 4) socket.unshift(Buffer.from(text.slice(end + 4), 'latin1'))
      resolve(Number(/^HTTP\/1\.\d (\d{3})/.exec(text)?.[1] ?? 502))
    }
    socket.on('data', onData)
    socket.once('close', () => reject(new Error('the proxy of this machine does not answer')))
  })
}

const defaultTimeoutMs = 15_000

function connected<S extends Socket>(socket: S, event: string, timeoutMs: number): Promise<S> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => socket.destroy(new Error('no answer')), timeoutMs)
    socket.once(event, () => {
      clearTimeout(late)
      resolve(socket)
    })
    socket.once('error', (error) => {
      clearTimeout(late)
      reject(error)
    })
  })
}

/** One line that can stand in a status line. */
const reason = (error: unknown): string =>
  errorMessage(error)
    .replaceAll(/[^\x20-\x7e]/g, '?')
    .slice(0, 200)
