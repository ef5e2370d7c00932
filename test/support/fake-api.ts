import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join } from 'node:path'
import { z } from 'zod'
import { errorCodes, RalphError } from '../../src/contract/errors.ts'
import { FleetChange, type StoredEvent } from '../../src/contract/fleet/event.ts'
import { listPathIds, type Route } from '../../src/contract/fleet/route.ts'
import { routes, type RouteName } from '../../src/contract/fleet/routes.ts'
import { safeHeaders } from '../../src/backend/http/headers.ts'
import { answers, type FakeState } from './fake-answers.ts'
import type { Fleet } from './fake-fleet.ts'
import { root } from './paths.ts'

export type FakeApi = {
  readonly url: string
  readonly fleet: Fleet
  /** Notifies every open page. */
  readonly push: (change: FleetChange) => void
  /** Ends the connections of all pages; refuses new ones while `refusing`. */
  readonly cutOff: () => void
  /** Ends all connections, including calls that wait for an answer. */
  readonly closeConnections: () => void
  refusing: boolean
  /** Answers every call like a proxy without a backend; still serves the files of the page. */
  proxyStatus: number | undefined
  /** Opens streams and sends nothing over them, like a proxy that buffers. */
  buffering: boolean
  version: string
  /** The filters with which pages opened the stream of changes, in order. */
  readonly streams: string[]
  /** Number of open streams. */
  readonly watching: () => number
  /** Fails every call of this route. */
  readonly failing: Map<RouteName, RalphError>
  readonly delays: Map<RouteName, number>
  /** Request bodies, by route. */
  readonly sent: { readonly name: RouteName; readonly input: Readonly<Record<string, unknown>> }[]
  readonly close: () => Promise<void>
}

/** A fake backend: the routes of the contract, answered from memory and validated by the same schemas. */
export async function startFakeApi(fleet: Fleet): Promise<FakeApi> {
  const streams = new Map<ServerResponse, string | null>()
  const pushed: FleetChange[] = []
  const push = (change: FleetChange): void => {
    pushed.push(change)
    if (change.type === 'event') keep(fleet, change.event)
    for (const [stream, sprintId] of streams) if (wants(sprintId, change)) write(stream, pushed.length, change)
  }
  const openStream = (response: ServerResponse, url: URL): void => {
    fake.streams.push(url.search)
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
    response.on('close', () => streams.delete(response))
    if (fake.buffering) return response.flushHeaders()
    const sprintId = url.searchParams.get('sprintId')
    const after = Number(url.searchParams.get('after') ?? pushed.length)
    for (const [at, change] of pushed.entries())
      if (at >= after && wants(sprintId, change)) write(response, at + 1, change)
    streams.set(response, sprintId)
    write(response, pushed.length, { type: 'here' })
  }
  const state: FakeState = { fleet, push, version: () => fake.version }
  const server = createServer((request, response) => {
    void handle(request, response).catch((error: unknown) => refuse(response, error))
  })
  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://fake')
    if (fake.refusing) return void response.destroy()
    const isPage = !/^\/(api\/|healthz$)/.test(url.pathname)
    if (fake.proxyStatus !== undefined && !isPage) return void response.writeHead(fake.proxyStatus).end('<h1>No</h1>')
    if (url.pathname === '/healthz') return void response.writeHead(200).end('{}')
    if (url.pathname === '/api/events') {
      await pause(fake.delays.get('events') ?? 0)
      const failure = fake.failing.get('events')
      if (failure) throw failure
      return openStream(response, url)
    }
    const found = routeFor(request.method ?? 'GET', url.pathname)
    if (!found)
      return url.pathname.startsWith('/api/') ? refuse(response, notFoundError()) : sendFile(response, url.pathname)
    const { name, route, ids } = found
    await pause(fake.delays.get(name) ?? 0)
    const failure = fake.failing.get(name)
    if (failure) throw failure
    const query = route.query?.parse(Object.fromEntries(url.searchParams))
    const body = route.body?.parse(JSON.parse(await readBody(request)))
    const input = { ...ids, ...RouteInput.parse(query ?? {}), ...RouteInput.parse(body ?? {}) }
    if (route.method !== 'GET') fake.sent.push({ name, input })
    const answer = z.encode(route.response, answers(name, input, state))
    response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-store' })
    response.end(JSON.stringify(answer))
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a server that listens on a port has a port
  const { port } = server.address() as AddressInfo
  const cutOff = (): void => {
    for (const stream of streams.keys()) stream.destroy()
    streams.clear()
  }
  const fake: FakeApi = {
    url: `http://127.0.0.1:${port}`,
    fleet,
    push,
    cutOff,
    closeConnections: () => server.closeAllConnections(),
    refusing: false,
    proxyStatus: undefined,
    buffering: false,
    streams: [],
    version: '0.2.0',
    watching: () => streams.size,
    failing: new Map(),
    delays: new Map(),
    sent: [],
    close: () => {
      cutOff()
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
  return fake
}

/** Passed on as it is; the route's own schema has validated it. */
const RouteInput = z.record(
  z.string(),
  z.custom<string | number | null | undefined>(() => true),
)

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of the table are its names
const routeNames = Object.keys(routes) as RouteName[]

const notFoundError = () => new RalphError('SPRINT_NOT_FOUND', 'there is nothing by that name')

function routeFor(
  method: string,
  path: string,
): { name: RouteName; route: Route; ids: Record<string, string> } | undefined {
  for (const name of routeNames) {
    const route: Route = routes[name]
    const pattern = new RegExp(`^${route.path.replaceAll(/\{\w+\}/g, '([^/]+)')}$`)
    const match = pattern.exec(path)
    if (!match || route.method !== method) continue
    return { name, route, ids: Object.fromEntries(listPathIds(route.path).map((id, n) => [id, match[n + 1] ?? ''])) }
  }
  return undefined
}

/** Like the backend: a client that asks after a notification finds the change too. */
function keep({ events }: Fleet, event: StoredEvent): void {
  const before = events.get(event.sprintId ?? '')
  if (before && event.sprintId !== undefined)
    events.set(event.sprintId, {
      count: before.count + 1,
      at: (seq) => (seq === before.count ? event : before.at(seq)),
    })
}

/** Like the backend: events inside a sprint are sent only to clients that ask for them. */
const wants = (sprintId: string | null, change: FleetChange): boolean =>
  change.type !== 'event' || change.event.sprintId === sprintId

function write(stream: ServerResponse, id: number, change: FleetChange): void {
  stream.write(`id: ${id}\nevent: ${change.type}\ndata: ${JSON.stringify(z.encode(FleetChange, change))}\n\n`)
}

/** By its name: a file loaded in another way has its own class of that name. */
const isRalphError = (error: unknown): error is RalphError => error instanceof Error && error.name === 'RalphError'

function refuse(response: ServerResponse, error: unknown): void {
  const known = isRalphError(error) ? error : new RalphError('INTERNAL', String(error))
  const { status } = errorCodes[known.code]
  response.writeHead(status, { 'content-type': 'application/problem+json' })
  const problem = {
    type: 'about:blank',
    title: known.message,
    status,
    code: known.code,
    ...(known.hint !== undefined && { hint: known.hint }),
  }
  response.end(JSON.stringify(problem))
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
}

async function sendFile(response: ServerResponse, path: string): Promise<void> {
  const file = extname(path) === '' ? '/index.html' : path
  const content = await readFile(join(root, 'dist/web', file)).catch(() => undefined)
  if (!content) return void response.writeHead(404).end()
  response.writeHead(200, {
    'content-type': types[extname(file)] ?? 'application/octet-stream',
    ...safeHeaders,
  })
  response.end(content)
}

async function readBody(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(Buffer.from(part))
  return Buffer.concat(parts).toString('utf8')
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
