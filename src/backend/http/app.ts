import { IncomingMessage, ServerResponse } from 'node:http'
import { Hono, type Context, type MiddlewareHandler } from 'hono'
import { z } from 'zod'
import { RalphError } from '../../contract/errors.ts'
import { doneResponse } from '../../contract/fleet/page.ts'
import type { AccessLevel } from '../../contract/fleet/user.ts'
import { listPathIds, type Route } from '../../contract/fleet/route.ts'
import { routes } from '../../contract/fleet/routes.ts'
import { meters } from '../meters/meters.ts'
import { assertPermitted } from './calls/access.ts'
import type { AuditLog } from './calls/audit.ts'
import { assertMachineRights } from './calls/machine-access.ts'
import type { AppRoute, Call, RouteHandlers, ApiCaller } from './calls/call.ts'
import {
  createCookie,
  createExpiredCookie,
  isSameSecret,
  readSessionCookie,
  readBearerToken,
} from './calls/credentials.ts'
import type { MachineRights } from '../fleet/machine-rights.ts'
import type { EventStreams } from './streams/event-streams.ts'
import { assertSameSite, type Addresses } from './guard.ts'
import { safeHeaders } from './headers.ts'
import type { Idempotent } from './calls/idempotency.ts'
import { apiDocsStyle, renderApiDocs } from './api-docs.ts'
import { buildOpenApi } from './openapi.ts'
import type { RateLimit } from './calls/rate-limit.ts'
import { requirePasskeys, type Passkeys } from './passkeys.ts'
import { resolvePeer } from './calls/peer.ts'
import type { SignInLimit } from './calls/sign-in-limit.ts'
import { readBodyText } from './read-body.ts'
import { jsonResponse, parseInput, toProblem, problemResponse } from './respond.ts'

/** Authenticates users. */
export interface Authenticator {
  readonly bySession: (session: string) => Promise<ApiCaller | undefined>
  readonly byToken: (token: string) => Promise<ApiCaller | undefined>
  /** Redeems a one-time ticket; undefined if it is unknown, used or expired. */
  readonly redeem: (ticket: string) => Promise<{ readonly session: string; readonly who: ApiCaller } | undefined>
  readonly end: (session: string) => Promise<void>
}

export type AppDeps = {
  readonly version: string
  readonly addresses: () => Addresses
  /** Sends cookies only over TLS. */
  readonly secure: boolean
  readonly identity: Authenticator
  readonly handlers: RouteHandlers
  /** Absent where browsers refuse passkeys: under an IP address. */
  readonly passkeys: () => Passkeys | undefined
  readonly createSession: (userId: string, by: 'passkey') => Promise<string>
  /** The caller's access level on the agent in the path; also undefined if the agent does not exist. */
  readonly accessLevel: (who: ApiCaller, ids: Readonly<Record<string, string>>) => Promise<AccessLevel | undefined>
  /** The caller's rights on the machine in the path, or of the agent in the path; undefined if it does not exist. */
  readonly machineRights: (who: ApiCaller, ids: Readonly<Record<string, string>>) => Promise<MachineRights | undefined>
  readonly events: EventStreams
  readonly idempotent: Idempotent
  readonly rateLimit: RateLimit
  readonly signInLimit: SignInLimit
  /** A proxy on this computer names the caller's address in `X-Forwarded-For`. */
  readonly behindProxy: boolean
  readonly audit: AuditLog
  readonly ready: () => Promise<boolean>
  readonly metrics: () => Promise<string>
  /** RALPH_METRICS_TOKEN: a credential that may only read the metrics, and needs no database. */
  readonly scrapeToken?: string | undefined
  /** A file of the page; undefined if it does not exist. */
  readonly page: (path: string) => Promise<Response | undefined>
  /** Adds the routes of other sign-in methods. */
  readonly addRoutes?: ((app: Hono) => void) | undefined
  readonly log: (error: unknown) => void
}

/** Registers every route. `listen` binds the app to a port; tests call `app.request`. */
export function createApp(deps: AppDeps): Hono {
  const app = new Hono()
  app.use('*', observeRequest)
  app.use('*', async (c, next) => {
    // Probes and scrapes name the address of a pod, and what they read holds nothing of a user.
    if (!isProbe(c)) assertSameSite(readGuardedRequest(c), deps.addresses())
    await next()
    for (const [name, value] of Object.entries(safeHeaders)) c.res.headers.set(name, value)
  })
  app.get('/healthz', (c) => c.json({ ok: true }))
  app.get('/readyz', async (c) => ((await deps.ready()) ? c.json({ ok: true }) : c.json({ ok: false }, 503)))
  app.get('/metrics', async (c) => {
    const { scrapeToken } = deps
    const token = readBearerToken(c.req.header('authorization'))
    const scrapes = scrapeToken !== undefined && isSameSecret(token, scrapeToken)
    if (!scrapes) assertPermitted(await authenticate(c, deps), 'admin', undefined, false)
    return c.text(await deps.metrics(), 200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' })
  })
  app.get('/api/openapi.json', (c) => c.json(buildOpenApi(deps.version)))
  app.get('/api/docs', (c) => c.html(renderApiDocs(buildOpenApi(deps.version))))
  app.get('/api/docs.css', (c) => c.body(apiDocsStyle, 200, { 'content-type': 'text/css; charset=utf-8' }))
  app.post(routes.signIn.path, (c) => signIn(c, deps))
  app.get(routes.waysToSignIn.path, (c) => {
    deps.rateLimit(`public ${readPeer(c, deps)}`, false)
    const ways = { organisation: deps.addRoutes !== undefined, passkeys: deps.passkeys() !== undefined }
    return jsonResponse(z.encode(routes.waysToSignIn.response, ways))
  })
  app.post(routes.preparePasskeySignIn.path, async (c) => {
    deps.rateLimit(`public ${readPeer(c, deps)}`, true)
    return jsonResponse(await requirePasskeys(deps.passkeys).prepareSignIn())
  })
  app.post(routes.signInWithPasskey.path, (c) => signInWithPasskey(c, deps))
  app.post(routes.signOut.path, (c) => signOut(c, deps))
  app.get(routes.events.path, async (c) => {
    const who = await authenticate(c, deps)
    deps.rateLimit(who.user.id, false)
    const { after: afterParameter, ...query } = parseInput(routes.events.query, c.req.query(), 'query')
    const after = c.req.header('last-event-id') ?? afterParameter
    const whoNow = () => findCaller(c, deps)
    return deps.events.stream({ who, whoNow, query, after, signal: c.req.raw.signal, destroy: () => destroySocket(c) })
  })
  for (const name of tableRoutes) {
    const { method, path } = routes[name]
    app.on(method, path.replace(/\{(\w+)\}/g, ':$1'), (c) => handleCall(name, c, deps))
  }
  deps.addRoutes?.(app)
  app.all('/api/*', () => problemResponse(toProblem(new RalphError('NOT_FOUND', 'no such call'), deps.log)))
  app.get('*', async (c) => (await deps.page(c.req.path)) ?? c.notFound())
  app.onError((error) => problemResponse(toProblem(error, deps.log)))
  return app
}

/** Metrics only with a token: the cookie of a browser counts under our own name alone. */
const isProbe = ({ req }: Context): boolean =>
  ['/healthz', '/readyz'].includes(req.path) || (req.path === '/metrics' && req.header('authorization') !== undefined)

const observeRequest: MiddlewareHandler = async (c, next) => {
  const began = performance.now()
  await next()
  const { routePath: route, method } = c.req
  const labels = { route, method, status: `${c.res.status}` }
  meters.httpSeconds.observe(labels, (performance.now() - began) / 1000)
}

type HandledRoute = keyof RouteHandlers
const appRoutes: Readonly<Record<AppRoute, true>> = {
  signIn: true,
  signOut: true,
  waysToSignIn: true,
  events: true,
  preparePasskeySignIn: true,
  signInWithPasskey: true,
}
const tableRoutes = Object.keys(routes).filter((name): name is HandledRoute => !(name in appRoutes))

/** Authenticates, authorizes, parses, calls the handler and responds. */
async function handleCall(name: HandledRoute, c: Context, deps: AppDeps): Promise<Response> {
  const route: Route = routes[name]
  const changes = route.method !== 'GET'
  const who = await authenticate(c, deps)
  deps.rateLimit(who.user.id, changes)
  const ids = parsePathIds(route, c)
  const level = listPathIds(route.path).length > 0 ? await deps.accessLevel(who, ids) : undefined
  // Admins may do everything, but the agent must exist.
  if (level === undefined && isAboutAgent(route)) throw noAccessError()
  assertPermitted(who, route.needs, level, changes)
  if (route.machine) assertMachineRights(who, route.machine, await deps.machineRights(who, ids))
  const query = route.query ? parseInput(route.query, c.req.query(), 'query') : {}
  const json = route.body ? await readJson(c) : undefined
  const body = route.body ? parseInput(route.body, json, 'body') : {}
  const call = { ids, query, body, who, level, revision: parseRevision(c) }
  const run = async () => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- parsed with the schemas of this very route
    const handler = deps.handlers[name] as (call: Call<HandledRoute>) => Promise<unknown>
    const before = changes ? await deps.audit.observe(ids) : undefined
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
    const response = await handler(call as unknown as Call<HandledRoute>)
    const value = z.encode(route.response, response)
    if (changes) await deps.audit.recordCall({ who, what: name, ids, before, response })
    return value
  }
  const key = route.method === 'POST' ? c.req.header('idempotency-key') : undefined
  const value = key === undefined ? await run() : await deps.idempotent({ who, name, key, ids, json }, run)
  return withRevision(jsonResponse(value, {}, route.creates === true ? 201 : 200), route, value)
}

const isAboutAgent = ({ needs }: Route): boolean => needs === 'read' || needs === 'write' || needs === 'owner'

const noAccessError = () => new RalphError('NOT_FOUND', 'not found, or you have no access')

function withRevision(response: Response, { revision }: Route, value: unknown): Response {
  const found = revision === 'given' ? z.object({ rev: z.int() }).safeParse(value) : undefined
  if (found?.success) response.headers.set('etag', `"${found.data.rev}"`)
  return response
}

async function authenticate(c: Context, deps: AppDeps): Promise<ApiCaller> {
  const who = await findCaller(c, deps)
  if (who) return who
  deps.rateLimit(`unknown ${readPeer(c, deps)}`, false)
  throw new RalphError('UNAUTHENTICATED', 'sign in first', { hint: 'open the address that `ralph serve` printed' })
}

async function findCaller(c: Context, { identity, secure }: AppDeps): Promise<ApiCaller | undefined> {
  const token = readBearerToken(c.req.header('authorization'))
  if (token !== undefined) return identity.byToken(token)
  const session = readSessionCookie(c.req.header('cookie'), secure)
  return session === undefined ? undefined : identity.bySession(session)
}

function readPeer(c: Context, { behindProxy }: AppDeps): string {
  const { incoming }: { incoming?: unknown } = c.env ?? {}
  const address = incoming instanceof IncomingMessage ? incoming.socket.remoteAddress : undefined
  return resolvePeer(address, behindProxy ? c.req.header('x-forwarded-for') : undefined)
}

/** `end()` alone would keep a stalled reader's socket open. */
function destroySocket(c: Context): void {
  const { outgoing }: { outgoing?: unknown } = c.env ?? {}
  if (outgoing instanceof ServerResponse) outgoing.destroy()
}

async function signIn(c: Context, deps: AppDeps): Promise<Response> {
  const { ticket } = parseInput(routes.signIn.body, await readJson(c), 'body')
  deps.signInLimit.assertAllowed(ticket)
  const redeemed = await deps.identity.redeem(ticket)
  if (!redeemed) {
    const address = readPeer(c, deps)
    deps.signInLimit.recordFailure(address, ticket)
    await deps.audit.recordRefusal(address, { who: 'unknown', what: 'signInRefused', details: { by: 'ticket' } })
    const hint = 'tickets work once and for a minute; `ralph serve --ticket` prints a new address'
    throw new RalphError('TICKET_INVALID', 'this ticket is not valid', { hint })
  }
  return respondSignedIn(c, deps, { ...redeemed, by: 'ticket' })
}

async function signInWithPasskey(c: Context, deps: AppDeps): Promise<Response> {
  const address = readPeer(c, deps)
  deps.rateLimit(`public ${address}`, true)
  const { credential } = parseInput(routes.signInWithPasskey.body, await readJson(c), 'body')
  const userId = await requirePasskeys(deps.passkeys).signIn(credential)
  const session = userId === undefined ? undefined : await deps.createSession(userId, 'passkey')
  const who = session === undefined ? undefined : await deps.identity.bySession(session)
  if (session === undefined || !who) {
    await deps.audit.recordRefusal(address, { who: 'unknown', what: 'signInRefused', details: { by: 'passkey' } })
    throw new RalphError('UNAUTHENTICATED', 'this passkey is not known here', {
      hint: 'ask an admin for an invitation, sign in with it, and add a passkey under Settings',
    })
  }
  return respondSignedIn(c, deps, { session, who, by: 'passkey' })
}

type SignedIn = { readonly session: string; readonly who: ApiCaller; readonly by: 'ticket' | 'passkey' }

async function respondSignedIn(c: Context, deps: AppDeps, { session, who, by }: SignedIn): Promise<Response> {
  const { user } = who
  const details = { by, address: readPeer(c, deps) }
  await deps.audit.recordEvent({ who: user.name, userId: user.id, what: 'signIn', details })
  const me = z.encode(routes.signIn.response, { user, signedInBy: who.by, version: deps.version })
  return jsonResponse(me, { 'set-cookie': createCookie(session, deps.secure) })
}

async function signOut(c: Context, deps: AppDeps): Promise<Response> {
  const session = readSessionCookie(c.req.header('cookie'), deps.secure)
  const who = session === undefined ? undefined : await deps.identity.bySession(session)
  if (session !== undefined) await deps.identity.end(session)
  if (who) await deps.audit.recordEvent({ who: who.user.name, userId: who.user.id, what: 'signOut' })
  return jsonResponse(doneResponse, { 'set-cookie': createExpiredCookie(deps.secure) })
}

function readGuardedRequest(c: Context) {
  const opensPage =
    c.req.method === 'GET' && c.req.header('sec-fetch-mode') === 'navigate' && !c.req.path.startsWith('/api/')
  return {
    method: c.req.method,
    host: c.req.header('host'),
    origin: c.req.header('origin'),
    site: c.req.header('sec-fetch-site'),
    contentType: c.req.header('content-type'),
    opensPage,
  }
}

/** Malformed IDs are treated as not found. */
function parsePathIds(route: Route, c: Context): Record<string, string> {
  const ids = listPathIds(route.path).map((name) => [name, c.req.param(name) ?? ''] as const)
  for (const [name, id] of ids) {
    const isId = name === 'eventId' ? /^\d{1,18}$/.test(id) : z.uuid().safeParse(id).success
    if (!isId) throw noAccessError()
  }
  return Object.fromEntries(ids)
}

async function readJson(c: Context): Promise<unknown> {
  const text = await readBodyText(c)
  if (text === '') return {}
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new RalphError('INVALID_REQUEST', 'the body is not JSON', { cause })
  }
}

function parseRevision(c: Context): number | undefined {
  const match = /^"(\d{1,15})"$/.exec(c.req.header('if-match') ?? '')
  return match ? Number(match[1]) : undefined
}
