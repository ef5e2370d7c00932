import { expect, it } from 'vitest'
import { z } from 'zod'
import { createTestDatabase } from '../../../../test/fleet/test-fleet.ts'
import { routes } from '../../../contract/fleet/routes.ts'
import { newUuid } from '../../../platform/uuid.ts'
import { ensureLocalUser } from '../identity.ts'
import { createIdempotency, secretRoutes } from './idempotency.ts'

it('does not repeat a call that died with its backend, because its effects are unknown', async () => {
  const database = await createTestDatabase('embedded')
  let now = 1_000_000
  const carryOut = createIdempotency(database, () => now)
  const user = { id: await ensureLocalUser(database, 'ada', now), name: 'ada', role: 'admin', createdAt: now } as const
  const call = {
    who: { user, by: 'token', scope: 'write' },
    name: 'queuePrompt',
    key: newUuid(),
    ids: {},
    json: {},
  } as const
  let runs = 0
  void carryOut(call, () => {
    runs++
    return new Promise(() => {})
  })
  await expect.poll(() => runs).toBe(1)
  const again = () => carryOut(call, async () => runs++)
  await expect(again()).rejects.toMatchObject({ code: 'RATE_LIMITED' })
  now += 361_000
  await expect(again()).rejects.toMatchObject({ code: 'CALL_INTERRUPTED' })
  expect(runs).toBe(1)
})

it('stores no response that contains a secret: a row of the table would sign in', () => {
  const hasSecret = ({ response }: { readonly response: z.ZodType }) =>
    response instanceof z.ZodObject && ['token', 'secret', 'address'].some((name) => name in response.shape)
  const found = Object.entries(routes).filter(([, route]) => route.method === 'POST' && hasSecret(route))
  expect(found.map(([name]) => name).toSorted()).toEqual(secretRoutes.toSorted())
})
