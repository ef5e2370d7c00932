import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Backend } from '../../src/backend/open-backend.ts'
import { createApiCaller, createTestBackend, createTestSession, createTestUser } from './test-backend.ts'

describe('the rights of a credential', () => {
  let backend: Backend
  beforeAll(async () => {
    backend = await createTestBackend('embedded')
  }, 120_000)
  afterAll(() => backend?.close())

  const admin = async () =>
    createApiCaller(backend.origin, {
      cookie: await createTestSession(backend, await createTestUser(backend, 'admin')),
    })

  /** Signs in with the ticket of an address, as a browser does. */
  const redeem = async (address: unknown) => {
    const ticket = new URL(String(address)).hash.slice(1)
    const { headers } = await createApiCaller(backend.origin)('POST', '/api/sign-in', { ticket })
    return createApiCaller(backend.origin, { cookie: headers.get('set-cookie')?.split(';')[0] ?? '' })
  }

  it('pass to the session of its ticket, and no more: a write token does not become an admin session', async () => {
    const { token } = (await (await admin())('POST', '/api/tokens', { name: 'ci', scope: 'write' })).body
    const limited = createApiCaller(backend.origin, { token: String(token) })
    const session = await redeem((await limited('POST', '/api/tickets')).body['address'])
    const again = await redeem((await session('POST', '/api/tickets')).body['address'])
    const attempt = async (ask: typeof session) =>
      Promise.all([
        ask('GET', '/api/me'),
        ask('POST', '/api/machines/tokens', { name: 'vm' }),
        ask('POST', '/api/tokens', { name: 'more', scope: 'admin' }),
        ask('GET', '/api/audit'),
      ]).then((answers) => answers.map(({ status }) => status))
    expect([await attempt(limited), await attempt(session), await attempt(again)]).toEqual([
      [200, 403, 403, 403],
      [200, 403, 403, 403],
      [200, 403, 403, 403],
    ])
  })

  it('stay complete for the user of this computer, who signs in with the printed address', async () => {
    const session = await redeem(await backend.ticketAddress())
    const { status } = await session('POST', '/api/tokens', { name: 'all', scope: 'admin' })
    expect([status, (await session('GET', '/api/audit')).status]).toEqual([201, 200])
  })

  it('do not matter for a name with NUL or control characters: it is refused as invalid', async () => {
    const ask = await admin()
    const names = ['a\0b', 'a\u001Bb', 'a\nb', 'a\u202Eb', 'a\u0085b']
    const answers = await Promise.all(names.map((name) => ask('POST', '/api/tokens', { name, scope: 'read' })))
    const elsewhere = await Promise.all([
      ask('POST', '/api/deliveries', { event: 'failed', status: 'failed', error: 'a\0b' }),
      ask('GET', '/api/audit?cursor=%00'),
      ask('POST', '/api/agents', { name: 'a', workspace: { kind: 'folder', path: '/srv/a\0b' } }),
    ])
    expect([...answers, ...elsewhere].map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 422))
    expect((await ask('POST', '/api/tokens', { name: 'größer 日本 👩‍💻', scope: 'read' })).status).toBe(201)
  })

  it('stay usable while another caller tries wrong tickets: a valid ticket signs in', async () => {
    const stranger = createApiCaller(backend.origin)
    const flood = Array.from({ length: 300 }, (_, number) =>
      stranger('POST', '/api/sign-in', { ticket: `${number}`.padStart(43, 'x-y-z-') }),
    )
    const statuses = new Set((await Promise.all(flood)).map(({ status }) => status))
    expect(statuses).toEqual(new Set([401, 429]))
    const session = await redeem(await backend.ticketAddress())
    expect((await session('GET', '/api/me')).status).toBe(200)
    expect((await stranger('GET', '/api/sign-in')).status).toBe(200)
  })

  it('are audited: the object, what it was and is, sign-ins and refused sign-ins', async () => {
    const ask = await admin()
    const userId = await createTestUser(backend)
    await ask('PATCH', `/api/users/${userId}`, { role: 'admin' })
    await redeem(await backend.ticketAddress())
    await createApiCaller(backend.origin)('POST', '/api/sign-in', { ticket: 'wrong' })
    const made = await ask('POST', '/api/tokens', { name: 'ci', scope: 'read' })
    const { items } = z
      .object({ items: z.array(z.object({ what: z.string(), target: z.string().optional(), details: z.unknown() })) })
      .parse((await ask('GET', '/api/audit?limit=200')).body)
    expect(items.find(({ what }) => what === 'changeUser')).toMatchObject({
      target: userId,
      details: { object: 'user', before: { role: 'member' }, after: { role: 'admin' } },
    })
    expect(items.find(({ what }) => what === 'signIn')).toMatchObject({
      details: { by: 'ticket', address: '127.0.0.1' },
    })
    expect(items.find(({ what }) => what === 'signInRefused')).toMatchObject({ details: { address: '127.0.0.1' } })
    expect(items.find(({ what }) => what === 'makeToken')).toMatchObject({
      target: z.object({ details: z.object({ id: z.string() }) }).parse(made.body).details.id,
      details: { name: 'ci' },
    })
    expect(JSON.stringify(items)).not.toContain(String(made.body['token']))
    // One row for a flood of wrong tickets.
    expect(items.filter(({ what }) => what === 'signInRefused')).toHaveLength(1)
  })
})
