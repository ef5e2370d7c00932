import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Backend } from '../../src/backend/open-backend.ts'
import { listPathIds, buildPath, type RouteAccess, type Route } from '../../src/contract/fleet/route.ts'
import { routes, type RouteName } from '../../src/contract/fleet/routes.ts'
import {
  createTestBackend,
  createTestSession,
  createApiCaller,
  createTestUser,
  grantAccess,
  grantMachine,
  createTestRows,
  type TestRows,
} from './test-backend.ts'
import { kinds, waitUntil } from './test-fleet.ts'

type RawRequest = Record<string, string | undefined>

/** Sets headers that `fetch` refuses to set. */
const raw = (origin: string, method: string, path: string, headers: RawRequest): Promise<number> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(origin)
    const all = { ...headers, ...(method !== 'GET' && { 'content-length': '2' }) }
    const input = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
    const call = request({ hostname, port, method, path, headers: input, setHost: false }, (answer) => {
      answer.resume()
      resolve(answer.statusCode ?? 0)
    })
    call.on('error', reject)
    call.end(method === 'GET' ? undefined : '{}')
  })

const table = Object.entries<Route>(routes)
const unknownId = '0197a000-0000-7000-8000-000000000009'
const createPathIds = (route: Route, ids: Partial<TestRows> = {}): string =>
  buildPath(
    route.path,
    Object.fromEntries(listPathIds(route.path).map((name) => [name, { ...ids, eventId: '1' }[name] ?? unknownId])),
  )

describe('every route', () => {
  let backend: Backend
  let host: string
  beforeAll(async () => {
    backend = await createTestBackend('embedded')
    host = new URL(backend.origin).host
  }, 120_000)
  afterAll(() => backend?.close())

  const guards: readonly [string, number, (ours: RawRequest) => RawRequest][] = [
    ['a foreign name that resolves to us', 421, (ours) => ({ ...ours, host: 'evil.example' })],
    ['another port', 421, (ours) => ({ ...ours, host: '127.0.0.1:1' })],
    ['no host name', 400, (ours) => ({ ...ours, host: '' })],
    ['another origin', 403, (ours) => ({ ...ours, origin: 'https://evil.example' })],
    ['an opaque origin', 403, (ours) => ({ ...ours, origin: 'null' })],
    ['another port of this machine', 403, (ours) => ({ ...ours, origin: 'http://127.0.0.1:1' })],
    ['another site', 403, (ours) => ({ ...ours, 'sec-fetch-site': 'cross-site' })],
    ['the same site on another port', 403, (ours) => ({ ...ours, 'sec-fetch-site': 'same-site' })],
  ]
  const changing: readonly [string, number, (ours: RawRequest) => RawRequest][] = [
    ['a change by GET', 403, (ours) => ({ ...ours, 'sec-fetch-site': 'none' })],
    ['a form', 415, (ours) => ({ ...ours, 'content-type': 'application/x-www-form-urlencoded' })],
    ['a form with files', 415, (ours) => ({ ...ours, 'content-type': 'multipart/form-data; boundary=x' })],
    ['text', 415, (ours) => ({ ...ours, 'content-type': 'text/plain' })],
    ['no content type', 415, (ours) => ({ ...ours, 'content-type': undefined })],
  ]
  const ours = (): RawRequest => ({ host, 'content-type': 'application/json' })

  it.each(guards)('refuses %s', async (_, status, spoil) => {
    const got = await Promise.all(
      table.map(async ([name, route]) => [
        name,
        await raw(backend.origin, route.method, createPathIds(route), spoil(ours())),
      ]),
    )
    expect(got).toEqual(table.map(([name]) => [name, status]))
  })

  it('answers probes under any name with nothing but their state, and metrics only to a token', async () => {
    const foreign = { host: 'evil.example' }
    const admin = await createTestSession(backend, await createTestUser(backend, 'admin'))
    const ask = (path: string, headers: RawRequest) => raw(backend.origin, 'GET', path, { ...foreign, ...headers })
    const answers = await Promise.all([
      ask('/healthz', {}),
      ask('/readyz', {}),
      ask('/metrics', {}),
      ask('/metrics', { cookie: admin }),
      ask('/metrics', { authorization: 'Bearer wrong' }),
    ])
    expect(answers).toEqual([200, 200, 421, 421, 401])
    expect(await raw(backend.origin, 'GET', '/metrics', { host, cookie: admin })).toBe(200)
  })

  it.each(changing)('refuses %s', async (_, status, spoil) => {
    const changes = table.filter(([, { method }]) => method !== 'GET')
    const got = await Promise.all(
      changes.map(async ([name, route]) => [
        name,
        await raw(backend.origin, route.method, createPathIds(route), spoil(ours())),
      ]),
    )
    expect(got).toEqual(changes.map(([name]) => [name, status]))
  })

  it('requires authentication', async () => {
    const strangers = [{}, { token: `ralph_${'x'.repeat(43)}` }, { cookie: `ralph-session=${'x'.repeat(43)}` }]
    const open: RouteName[] = ['signIn', 'signOut', 'waysToSignIn', 'preparePasskeySignIn', 'signInWithPasskey']
    for (const who of strangers) {
      const ask = createApiCaller(backend.origin, who)
      const got = await Promise.all(
        table.map(async ([name, route]) => [name, (await ask(route.method, createPathIds(route))).status]),
      )
      expect(got.filter(([name]) => !open.some((one) => one === name))).toEqual(
        table.map(([name]) => [name, 401]).filter(([name]) => !open.some((one) => one === name)),
      )
    }
  })

  it('allows nothing in a preflight of another origin', async () => {
    const answer = await fetch(`${backend.origin}/api/agents`, {
      method: 'OPTIONS',
      headers: { origin: 'https://evil.example' },
    })
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([403, null])
  })

  it('sends pages that can only run our own scripts', async () => {
    const answer = await fetch(`${backend.origin}/agents/${unknownId}`)
    expect(await answer.text()).toContain('<title>Ralph</title>')
    expect(answer.headers.get('content-security-policy')).toContain("require-trusted-types-for 'script'")
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
  })

  it.each(['/../package.json', '/%2e%2e/%2e%2e/etc/passwd', '/assets/..%2f..%2fpackage.json', '/%00', '/%ff'])(
    'returns only its own page for %s',
    async (path) => {
      const answer = await fetch(`${backend.origin}${path}`)
      expect((await answer.text()).includes('<title>Ralph</title>') || answer.status === 404).toBe(true)
    },
  )
})

/** What each role may do, according to the routes. */
const roles = ['stranger', 'read', 'write', 'owner', 'admin'] as const
type Role = (typeof roles)[number]
const may: Readonly<Record<RouteAccess, readonly Role[]>> = {
  public: roles,
  'signed-in': roles,
  read: ['read', 'write', 'owner', 'admin'],
  write: ['write', 'owner', 'admin'],
  owner: ['owner', 'admin'],
  admin: ['admin'],
}

/** The users of these tests have no grant on the machine of the rows, unless they may use its agent. */
const mayCall = (role: Role, { needs, machine }: Route): boolean => {
  if (machine === 'manage') return role === 'admin'
  return may[needs].includes(role) && (machine === undefined || role !== 'stranger')
}

/** Calls that change what the others need, or that never end. */
const skippedRoutes: readonly RouteName[] = ['events', 'signOut', 'signIn', 'archiveAgent']

const unknownUser = (): Record<Role, string> => ({ stranger: '', read: '', write: '', owner: '', admin: '' })

describe.each(kinds)('the roles on %s', (kind) => {
  let backend: Backend
  const cookies = unknownUser()
  const userIds = unknownUser()
  beforeAll(async () => {
    backend = await createTestBackend(kind)
    for (const role of roles) {
      userIds[role] = await createTestUser(backend, role === 'admin' ? 'admin' : 'member')
      cookies[role] = await createTestSession(backend, userIds[role])
    }
  }, 120_000)
  afterAll(() => backend?.close())

  const isAbout = (route: Route) => ['read', 'write', 'owner'].includes(route.needs)

  it.each(roles)(
    '%s may do what the routes allow, and nothing else',
    async (role) => {
      const all = table.filter(([name]) => !skippedRoutes.some((one) => one === name))
      const got: Record<string, string> = {}
      for (const [name, route] of all) {
        const ids = await createTestRows(backend)
        for (const level of ['read', 'write', 'owner'] as const) {
          await grantAccess(backend, ids.agentId, userIds[level], level)
          await grantMachine(backend, ids.machineId, userIds[level], 'run')
        }
        const { status, body } = await createApiCaller(backend.origin, { cookie: cookies[role] })(
          route.method,
          createPathIds(route, ids),
          {},
        )
        const isRefused = status === 403 || (status === 404 && isAbout(route) && role === 'stranger')
        got[name] = isRefused
          ? 'refused'
          : status >= 500 && status !== 503
            ? `failed: ${JSON.stringify(body)}`
            : 'allowed'
      }
      const expected = all.map(([name, route]) => [name, mayCall(role, route) ? 'allowed' : 'refused'])
      expect(got).toEqual(Object.fromEntries(expected))
    },
    120_000,
  )

  it('answers the same for missing and forbidden rows', async () => {
    const ids = await createTestRows(backend)
    const ask = createApiCaller(backend.origin, { cookie: cookies.stranger })
    for (const [, route] of table.filter(([, one]) => isAbout(one))) {
      const forbidden = await ask(route.method, createPathIds(route, ids))
      const absent = await ask(route.method, createPathIds(route))
      expect([forbidden.status, forbidden.body]).toEqual([absent.status, absent.body])
      expect(forbidden.status).toBe(404)
    }
  })

  it('limits a token to its scope (row 159)', async () => {
    const ids = await createTestRows(backend)
    const ask = createApiCaller(backend.origin, { cookie: cookies.admin })
    const { token } = (await ask('POST', '/api/tokens', { name: 'ci', scope: 'read' })).body
    const limited = createApiCaller(backend.origin, { token: String(token) })
    const codes = await Promise.all([
      limited('GET', `/api/agents/${ids.agentId}`),
      limited('POST', `/api/agents/${ids.agentId}/prompts`, { prompt: 'hi' }),
      limited('POST', `/api/agents/${ids.agentId}/ralph-mode/start`, { taskDescription: 'Build it' }),
      limited('POST', '/api/tokens', { name: 'more', scope: 'admin' }),
      limited('GET', '/api/audit'),
    ])
    expect(codes.map(({ status }) => status)).toEqual([200, 403, 403, 403, 403])
  })

  it('shows an agent only to users with access', async () => {
    const ids = await createTestRows(backend)
    await grantAccess(backend, ids.agentId, userIds.read, 'read')
    const seen = async (role: Role) => {
      const { body } = await createApiCaller(backend.origin, { cookie: cookies[role] })('GET', '/api/agents?limit=200')
      return JSON.stringify(body).includes(ids.agentId)
    }
    expect([await seen('stranger'), await seen('read'), await seen('admin')]).toEqual([false, true, true])
    const questions = await createApiCaller(backend.origin, { cookie: cookies.stranger })(
      'GET',
      '/api/questions?limit=200',
    )
    expect(JSON.stringify(questions.body)).not.toContain(ids.questionId)
  })

  it('ends the session of a disabled user', async () => {
    const id = await createTestUser(backend)
    const cookie = await createTestSession(backend, id)
    const admin = createApiCaller(backend.origin, { cookie: cookies.admin })
    expect((await createApiCaller(backend.origin, { cookie })('GET', '/api/me')).status).toBe(200)
    expect((await admin('PATCH', `/api/users/${id}`, { disabled: true })).status).toBe(200)
    expect((await createApiCaller(backend.origin, { cookie })('GET', '/api/me')).status).toBe(401)
  })

  it('limits a frequent caller, says for how long, and accepts calls afterwards', async () => {
    const cookie = await createTestSession(backend, await createTestUser(backend))
    const mine = createApiCaller(backend.origin, { cookie })
    // Changes cost five times as much as reads, so that a busy computer is fast enough for this.
    const flood = () => Promise.all(Array.from({ length: 50 }, () => mine('POST', '/api/tokens', { name: '' })))
    const refused = await waitUntil(flood, (answers) => answers.some(({ status }) => status === 429), 120_000)
    const slowed = refused.find(({ status }) => status === 429)
    expect(slowed?.body).toMatchObject({ code: 'RATE_LIMITED', status: 429, hint: 'wait 1 s' })
    const seconds = Number(slowed?.headers.get('retry-after'))
    expect(seconds).toBe(1)
    expect((await createApiCaller(backend.origin, { cookie: cookies.admin })('GET', '/api/me')).status).toBe(200)
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000))
    expect((await mine('GET', '/api/me')).status).toBe(200)
  })
})
