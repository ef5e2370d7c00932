import { desc } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import { createTestDatabase, waitUntil } from '../../../test/fleet/test-fleet.ts'
import { newUuid } from '../../platform/uuid.ts'
import type { Database } from '../database/database.ts'
import { deliveries, webhooks } from '../database/webhook.ts'
import { createNotifications } from './notifications.ts'

describe('webhooks', () => {
  let database: Database
  beforeAll(async () => {
    database = await createTestDatabase('postgres')
  }, 120_000)

  /** One webhook whose endpoint answers as given, and an adjustable clock. */
  const aWebhook = async (answer: (body: string) => void, { enabled = true } = {}) => {
    await database.db.delete(webhooks)
    const url = `https://example.com/${newUuid()}`
    const row = { id: newUuid(), url, events: ['failed' as const], enabled, secret: 's', createdAt: 1 }
    await database.db.insert(webhooks).values(row)
    let ahead = 0
    const now = () => Date.now() + ahead
    const sender = createNotifications({
      database,
      now,
      newId: newUuid,
      post: async (_url, body) => answer(body),
      log: () => {},
    })
    const delivery = async () => (await database.db.select().from(deliveries).orderBy(desc(deliveries.id)).limit(1))[0]
    const tell = (event: 'failed' | 'completed' = 'failed') =>
      database.transaction((tx) => sender.notify(tx, { event, text: 'it failed' }))
    return { sender, delivery, tell, now, pass: (ms: number) => void (ahead += ms) }
  }

  it('are notified once, signed with the delivery ID, and the delivery is recorded', async () => {
    const bodies: string[] = []
    const { sender, delivery, tell } = await aWebhook((body) => void bodies.push(body))
    await tell()
    const sent = await waitUntil(delivery, (row) => row?.status === 'sent')
    expect(bodies.map((body) => JSON.parse(body))).toMatchObject([{ id: sent?.id, event: 'failed', text: 'it failed' }])
    expect(sent).toMatchObject({ tries: 1, error: null })
    await sender.close()
  })

  it('are retried later, and given up after six attempts with the reason', async () => {
    const tried: number[] = []
    const { sender, delivery, tell, now, pass } = await aWebhook(() => {
      tried.push(now())
      throw new Error('answered 503')
    })
    await tell()
    const aLittleLater = () => {
      pass(5000)
      database.signals.emit('deliveries', '')
      return delivery()
    }
    expect(await waitUntil(aLittleLater, (row) => row?.status === 'failed', 110_000)).toMatchObject({
      tries: 6,
      error: 'answered 503',
    })
    const pauses = tried.slice(1).map((at, n) => (at - (tried[n] ?? 0)) / 1000)
    for (const [n, least] of [10, 40, 160, 640, 2560].entries()) expect(pauses[n]).toBeGreaterThanOrEqual(least)
    await sender.close()
  }, 120_000)

  it('that are disabled are not notified, and that is recorded too', async () => {
    const { sender, delivery, tell } = await aWebhook(() => expect.unreachable(), { enabled: false })
    await tell()
    expect(await delivery()).toMatchObject({ status: 'suppressed', tries: 0 })
    await sender.close()
  })

  it('are not notified of a transaction that was rolled back, or of events they did not subscribe to', async () => {
    const bodies: string[] = []
    const { sender, tell } = await aWebhook((body) => void bodies.push(body))
    const before = await database.db.select().from(deliveries)
    await tell('completed')
    await database
      .transaction(async (tx) => {
        await sender.notify(tx, { event: 'failed', text: 'never' })
        throw new Error('no')
      })
      .catch(() => {})
    await sender.close()
    expect(await database.db.select().from(deliveries)).toHaveLength(before.length)
    expect(bodies).toEqual([])
  })
})
