import { afterAll, beforeAll, describe, expect, it } from 'vitest'
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
    expect([status, (await session('GET', '/api/audit')).status]).toEqual([200, 200])
  })
})
