import { once } from 'node:events'
import { createServer, request } from 'node:http'
import { connect, createServer as createTcp, type Server } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { text } from 'node:stream/consumers'
import { expect, it, onTestFinished } from 'vitest'
import { parseRule } from './allow-list.ts'
import { readHello } from './hello.ts'
import { createProxy, type Visit } from './proxy.ts'

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const address = server.address()
  return typeof address === 'object' && address ? address.port : 0
}

async function startProxy(upstream?: URL) {
  const origin = createServer((incoming, response) => response.end(`${incoming.method} ${incoming.headers.host}`))
  const port = await listen(origin)
  const rules = [parseRule(`private.test:${port}`, true), parseRule(`public.test:${port}`, false)]
  const visits: Visit[] = []
  const resolve = async () => ['127.0.0.1']
  const proxy = await listen(createProxy({ rules, upstream, resolve, onVisit: (visit) => visits.push(visit) }))
  return { origin: port, proxy, visits }
}

/** Status and body of a plain request through a proxy. */
async function get(
  proxy: number,
  url: string,
  headers: Record<string, string> = {},
): Promise<[number | undefined, string]> {
  const call = request({ port: proxy, host: '127.0.0.1', path: url, headers, agent: false, timeout: 5000 }).end()
  call.on('timeout', () => call.destroy(new Error('no answer')))
  const [answer] = await once(call, 'response')
  return [answer.statusCode, await text(answer)]
}

/** What a proxy answers to these bytes. */
async function say(proxy: number, bytes: string): Promise<string> {
  const socket = connect(proxy, '127.0.0.1')
  socket.write(bytes)
  setTimeout(() => socket.end(), 300)
  return text(socket)
}

it('passes plain requests on to hosts of the list, under the name that it has checked', async () => {
  const { origin, proxy } = await startProxy()
  expect(await get(proxy, `http://private.test:${origin}/x`, { host: 'other.test' })).toEqual([
    200,
    `GET private.test:${origin}`,
  ])
})

it('refuses other hosts, and says so to the program and to the user', async () => {
  const { origin, proxy, visits } = await startProxy()
  const [status, body] = await get(proxy, `http://evil.test:${origin}/`)
  expect([status, body]).toEqual([403, `ralph: evil.test:${origin} refused: not in the allow-list\n`])
  expect(visits).toEqual([{ host: 'evil.test', port: origin, allowed: false, reason: 'not in the allow-list' }])
})

it('refuses a public name that leads to a private address', async () => {
  const { origin, proxy } = await startProxy()
  expect(await get(proxy, `http://public.test:${origin}/`)).toEqual([403, expect.stringContaining('private address')])
  expect(await say(proxy, `CONNECT public.test:${origin} HTTP/1.1\r\n\r\n`)).toMatch(
    /^HTTP\/1\.1 403 .*private address/,
  )
})

it.each([
  ['user@host', 'CONNECT evil.test:443@private.test:1 HTTP/1.1\r\n\r\n', /^HTTP\/1\.1 400/],
  ['no port', 'CONNECT private.test HTTP/1.1\r\n\r\n', /^HTTP\/1\.1 400/],
  [
    'two lengths',
    'POST http://private.test/ HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    /^HTTP\/1\.1 400/,
  ],
  ['no proxy request', 'GET / HTTP/1.1\r\nHost: a\r\n\r\n', /^HTTP\/1\.1 400/],
])('answers %s with an error', async (_, bytes, expected) => {
  const { proxy } = await startProxy()
  expect(await say(proxy, bytes)).toMatch(expected)
})

it('tunnels to a private host of the list', async () => {
  const { origin, proxy } = await startProxy()
  const answer = await say(proxy, `CONNECT private.test:${origin} HTTP/1.1\r\n\r\nGET / HTTP/1.0\r\nHost: h\r\n\r\n`)
  expect(answer).toContain('200 Connection established')
  expect(answer).toContain('GET h')
})

it('closes a tunnel whose TLS client asks for another name than the one that was allowed', async () => {
  const received: string[] = []
  const port = await listen(
    createTcp((socket) => socket.on('data', (bytes) => received.push(bytes.toString('latin1'))).on('error', () => {})),
  )
  const rules = [parseRule(`private.test:${port}`, true)]
  const proxy = await listen(createProxy({ rules, resolve: async () => ['127.0.0.1'], onVisit: () => {} }))
  for (const servername of ['evil.test', 'private.test']) {
    const socket = connect(proxy, '127.0.0.1')
    socket.write(`CONNECT private.test:${port} HTTP/1.1\r\n\r\n`)
    await once(socket, 'data')
    const secure = connectTls({ socket, servername }).on('error', () => {})
    await new Promise((done) => setTimeout(done, 300))
    secure.destroy()
  }
  expect(received.join('')).toContain('private.test')
  expect(received.join('')).not.toContain('evil.test')
})

it('uses the proxy of the user, with its password', async () => {
  const seen: string[] = []
  const { origin } = await startProxy()
  const corporate = createServer().on('connect', (incoming, client) => {
    seen.push(`${incoming.url} ${incoming.headers['proxy-authorization']}`)
    const remote = connect(origin, '127.0.0.1')
    client.write('HTTP/1.1 200 OK\r\n\r\n')
    client.pipe(remote).pipe(client)
  })
  const upstream = new URL(`http://me:pass@127.0.0.1:${await listen(corporate)}`)
  const rules = [parseRule('far.test:81', false)]
  const proxy = await listen(createProxy({ rules, upstream, onVisit: () => {} }))
  expect(await get(proxy, 'http://far.test:81/')).toEqual([200, 'GET far.test:81'])
  expect(seen).toEqual([`far.test:81 Basic ${Buffer.from('me:pass').toString('base64')}`])
})

it.each(['says nothing', 'dies'])(
  'answers 502 if the proxy of the user %s: an agent would wait for ever',
  async (how) => {
    const corporate = createTcp((socket) => {
      socket.on('error', () => {}).on('data', () => how === 'dies' && socket.destroy())
      onTestFinished(() => void socket.destroy())
    })
    const upstream = new URL(`http://127.0.0.1:${await listen(corporate)}`)
    const rules = [parseRule('far.test:81', false)]
    const proxy = await listen(createProxy({ rules, upstream, onVisit: () => {}, dialTimeoutMs: 200 }))
    expect((await get(proxy, 'http://far.test:81/'))[0]).toBe(502)
    expect(await say(proxy, 'CONNECT far.test:81 HTTP/1.1\r\n\r\n')).toMatch(/^HTTP\/1\.1 502 .*does not answer/)
  },
)

it('reads no more of a hello than is there', () => {
  expect(readHello(Buffer.alloc(0))).toEqual({ kind: 'incomplete' })
  expect(readHello(Buffer.from([22, 3, 1, 0, 200, 1]))).toEqual({ kind: 'incomplete' })
  expect(readHello(Buffer.from([22, 3, 1, 0, 2, 1, 0]))).toEqual({ kind: 'plain' })
  expect(readHello(Buffer.from('GET / HTTP/1.1'))).toEqual({ kind: 'plain' })
})

/** The hello of a TLS client with this list of names. */
function helloWith(...names: readonly string[]): Buffer {
  const sized = (bytes: Buffer) => Buffer.concat([Buffer.from([bytes.length >> 8, bytes.length & 255]), bytes])
  const list = names.map((name) => Buffer.concat([Buffer.from([0]), sized(Buffer.from(name))]))
  const extension = Buffer.concat([Buffer.from([0, 0]), sized(sized(Buffer.concat(list)))])
  const fixed = Buffer.concat([Buffer.from([3, 3]), Buffer.alloc(32), Buffer.from([0, 0, 2, 19, 1, 1, 0])])
  const body = Buffer.concat([fixed, sized(extension)])
  const message = Buffer.concat([Buffer.from([1, 0]), sized(body)])
  return Buffer.concat([Buffer.from([22, 3, 1]), sized(message)])
}

it('trusts a hello with one name only: a server may read another one of a list', () => {
  expect(readHello(helloWith('a.test'))).toEqual({ kind: 'tls', name: 'a.test' })
  expect(readHello(helloWith('a.test', 'b.test'))).toEqual({ kind: 'plain' })
})
