import { ServerResponse } from 'node:http'
import { Hono, type Context } from 'hono'
import { z } from 'zod'
import { RalphError } from '../../contract/errors.ts'
import { done } from '../../contract/fleet/page.ts'
import type { AccessLevel } from '../../contract/fleet/user.ts'
import { idsIn, type Route } from '../../contract/fleet/route.ts'
import { routes, type RouteName } from '../../contract/fleet/routes.ts'
import { allow } from './access.ts'
import type { Call, Handlers, Who } from './call.ts'
import { cookieOf, endedCookie, sessionIn, tokenIn } from './credentials.ts'
import type { Events } from './events.ts'
import { guard, type Addresses } from './guard.ts'
import { safeHeaders } from './headers.ts'
import type { Once } from './once.ts'
import { openApi } from './openapi.ts'
import type { Pace } from './pace.ts'
import { jsonResponse, parsed, problemOf, problemResponse } from './respond.ts'

/** Authenticates users. */
export interface Identity {
  readonly bySession: (session: string) => Promise<Who | undefined>
  readonly byToken: (token: string) => Promise<Who | undefined>
  /** Redeems a one-time ticket; undefined if it is unknown, used or expired. */
  readonly redeem: (ticket: string) => Promise<{ readonly session: string; readonly who: Who } | undefined>
  readonly end: (session: string) => Promise<void>
}

export type AppDeps = {
  readonly version: string
  readonly addresses: () => Addresses
  /** Sends cookies only over TLS. */
  readonly secure: boolean
  readonly identity: Identity
  readonly handlers: Handlers
  /** The caller's access level on the agent in the path; also undefined if the agent does not exist. */
  readonly levelOn: (who: Who, ids: Readonly<Record<string, string>>) => Promise<AccessLevel | undefined>
  readonly events: Events
  readonly once: Once
  readonly pace: Pace
  readonly audit: (who: Who, what: RouteName, ids: Readonly<Record<string, string>>) => Promise<void>
  readonly ready: () => Promise<boolean>
  readonly metrics: () => Promise<string>
  /** A file of the page; undefined if it does not exist. */
  readonly page: (path: string) => Promise<Response | undefined>
  /** Adds the routes of other sign-in methods. */
  readonly addRoutes?: ((app: Hono) => void) | undefined
  readonly log: (error: unknown) => void
}

/** Large enough for a SPRINT.yaml with its workflows. */
const maxBody = 4 * 1024 * 1024

/** Registers every route. `listen` binds the app to a port; tests call `app.request`. */
export function createApp(deps: AppDeps): Hono {
  const app = new Hono()
  app.use('*', async (c, next) => {
    guard(askedIn(c), deps.addresses())
    await next()
    for (const [name, value] of Object.entries(safeHeaders)) c.res.headers.set(name, value)
  })
  app.get('/healthz', (c) => c.json({ ok: true }))
  app.get('/readyz', async (c) => ((await deps.ready()) ? c.json({ ok: true }) : c.json({ ok: false }, 503)))
  app.get('/metrics', async (c) => {
    allow(await whoIs(c, deps), 'admin', undefined, false)
    return c.text(await deps.metrics())
  })
  app.get('/api/openapi.json', (c) => c.json(openApi(deps.version)))
  app.post(routes.signIn.path, (c) => signIn(c, deps))
  app.get(routes.waysToSignIn.path, () => {
    deps.pace('nobody', false)
    return jsonResponse(z.encode(routes.waysToSignIn.response, { organisation: deps.addRoutes !== undefined }))
  })
  app.post(routes.signOut.path, (c) => signOut(c, deps))
  app.get(routes.events.path, async (c) => {
    const who = await whoIs(c, deps)
    deps.pace(who.user.id, false)
    const { after: asked, ...query } = parsed(routes.events.query, c.req.query(), 'query')
    const after = c.req.header('last-event-id') ?? asked
    const whoNow = () => recognised(c, deps)
    return deps.events.stream({ who, whoNow, query, after, signal: c.req.raw.signal, cut: () => cut(c) })
  })
  for (const name of tableRoutes) {
    const { method, path } = routes[name]
    app.on(method, path.replace(/\{(\w+)\}/g, ':$1'), (c) => answer(name, c, deps))
  }
  deps.addRoutes?.(app)
  app.all('/api/*', () => problemResponse(problemOf(new RalphError('NOT_FOUND', 'no such call'), deps.log)))
  app.get('*', async (c) => (await deps.page(c.req.path)) ?? c.notFound())
  app.onError((error) => problemResponse(problemOf(error, deps.log)))
  return app
}

type Answered = keyof Handlers
const tableRoutes = Object.keys(routes).filter(
  (name): name is Answered => !['signIn', 'signOut', 'waysToSignIn', 'events'].includes(name),
)

/** Authenticates, authorizes, parses, calls the handler and responds. */
async function answer(name: Answered, c: Context, deps: AppDeps): Promise<Response> {
  const route: Route = routes[name]
  const changes = route.method !== 'GET'
  const who = await whoIs(c, deps)
  deps.pace(who.user.id, changes)
  const ids = idsOf(route, c)
  const level = idsIn(route.path).length > 0 ? await deps.levelOn(who, ids) : undefined
  // Admins may do everything, but the agent must exist.
  if (level === undefined && isAboutAgent(route)) throw missing()
  allow(who, route.needs, level, changes)
  const query = route.query ? parsed(route.query, c.req.query(), 'query') : {}
  const json = route.body ? await jsonIn(c) : undefined
  const body = route.body ? parsed(route.body, json, 'body') : {}
  const call = { ids, query, body, who, level, revision: revisionIn(c) }
  const run = async () => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- parsed with the schemas of this very route
    const handler = deps.handlers[name] as (call: Call<Answered>) => Promise<unknown>
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
    const value = z.encode(route.response, await handler(call as unknown as Call<Answered>))
    if (changes) await deps.audit(who, name, ids)
    return value
  }
  const key = route.method === 'POST' ? c.req.header('idempotency-key') : undefined
  const value = key === undefined ? await run() : await deps.once({ who, name, key, ids, json }, run)
  return withRevision(jsonResponse(value), route, value)
}

const isAboutAgent = ({ needs }: Route): boolean => needs === 'read' || needs === 'write' || needs === 'owner'

const missing = () => new RalphError('NOT_FOUND', 'not found, or you have no access')

function withRevision(response: Response, { revision }: Route, value: unknown): Response {
  const found = revision === 'given' ? z.object({ rev: z.int() }).safeParse(value) : undefined
  if (found?.success) response.headers.set('etag', `"${found.data.rev}"`)
  return response
}

async function whoIs(c: Context, deps: AppDeps): Promise<Who> {
  const who = await recognised(c, deps)
  if (who) return who
  deps.pace('nobody', false)
  throw new RalphError('UNAUTHENTICATED', 'sign in first', { hint: 'open the address that `ralph serve` printed' })
}

async function recognised(c: Context, { identity }: AppDeps): Promise<Who | undefined> {
  const token = tokenIn(c.req.header('authorization'))
  if (token !== undefined) return identity.byToken(token)
  const session = sessionIn(c.req.header('cookie'))
  return session === undefined ? undefined : identity.bySession(session)
}

/** `end()` alone would keep a stalled reader's socket open. */
function cut(c: Context): void {
  const { outgoing }: { outgoing?: unknown } = c.env ?? {}
  if (outgoing instanceof ServerResponse) outgoing.destroy()
}

async function signIn(c: Context, deps: AppDeps): Promise<Response> {
  deps.pace('nobody', true)
  const { ticket } = parsed(routes.signIn.body, await jsonIn(c), 'body')
  const redeemed = await deps.identity.redeem(ticket)
  if (!redeemed) {
    const hint = 'tickets work once and for a minute; `ralph serve --ticket` prints a new address'
    throw new RalphError('TICKET_INVALID', 'this ticket is not valid', { hint })
  }
  const { user, by } = redeemed.who
  const me = z.encode(routes.signIn.response, { user, signedInBy: by, version: deps.version })
  return jsonResponse(me, { 'set-cookie': cookieOf(redeemed.session, deps.secure) })
}

async function signOut(c: Context, deps: AppDeps): Promise<Response> {
  const session = sessionIn(c.req.header('cookie'))
  if (session !== undefined) await deps.identity.end(session)
  return jsonResponse(done, { 'set-cookie': endedCookie(deps.secure) })
}

function askedIn(c: Context) {
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
function idsOf(route: Route, c: Context): Record<string, string> {
  const ids = idsIn(route.path).map((name) => [name, c.req.param(name) ?? ''] as const)
  for (const [name, id] of ids) {
    const isId = name === 'eventId' ? /^\d{1,18}$/.test(id) : z.uuid().safeParse(id).success
    if (!isId) throw missing()
  }
  return Object.fromEntries(ids)
}

async function jsonIn(c: Context): Promise<unknown> {
  const text = await textIn(c)
  if (text === '') return {}
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new RalphError('INVALID_REQUEST', 'the body is not JSON', { cause })
  }
}

/** Stops reading at the limit, whatever the Content-Length header says. */
async function textIn(c: Context): Promise<string> {
  const tooLarge = () => new RalphError('BODY_TOO_LARGE', `a body may have at most ${maxBody} bytes`)
  if (Number(c.req.header('content-length') ?? 0) > maxBody) throw tooLarge()
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of c.req.raw.body ?? []) {
    size += part.length
    if (size > maxBody) throw tooLarge()
    parts.push(part)
  }
  return Buffer.concat(parts).toString()
}

function revisionIn(c: Context): number | undefined {
  const match = /^"(\d{1,15})"$/.exec(c.req.header('if-match') ?? '')
  return match ? Number(match[1]) : undefined
}
