import { desc } from 'drizzle-orm'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { createTestDatabase, waitUntil } from '../../../test/fleet/test-fleet.ts'
import { newUuid } from '../../platform/uuid.ts'
import type { Database } from '../database/database.ts'
import { deliveries, webhooks } from '../database/webhook.ts'
import type { Engine, EngineTask } from '../engine/engine.ts'
import { openEngine } from '../engine/open-engine.ts'
import { createSecretBox } from '../secrets/secret-box.ts'
import { createNotificationSender } from './notifications.ts'

const box = createSecretBox(undefined)

describe('webhooks', () => {
  let database: Database
  beforeAll(async () => {
    database = await createTestDatabase('postgres')
  }, 120_000)

  /** One webhook whose endpoint answers as given, and an adjustable clock. */
  const createWebhook = async (answer: (body: string) => void, { enabled = true } = {}) => {
    await database.db.delete(webhooks)
    const url = `https://example.com/${newUuid()}`
    const row = { id: newUuid(), url, events: ['failed' as const], enabled, secret: 's', createdAt: 1 }
    await database.db.insert(webhooks).values(row)
    let ahead = 0
    const now = () => Date.now() + ahead
    const tasks: EngineTask[] = []
    const sender = createNotificationSender({
      database,
      box,
      engine: () => ({ enqueue: async (tx, task) => tx.afterCommit(() => tasks.push(task)) }),
      now,
      newId: newUuid,
      post: async (_url, body) => answer(body),
    })
    /** Runs the tasks that are due, as the engine does; a repeated ID is the same task. */
    const runTasks = async () => {
      const due = tasks.filter(({ at = 0 }) => at <= now())
      for (const task of due) tasks.splice(tasks.indexOf(task), 1)
      for (const { input } of new Map(due.map((task) => [task.id, task])).values())
        await sender.deliver(z.object({ id: z.string(), at: z.number() }).parse(input))
    }
    const delivery = async () => (await database.db.select().from(deliveries).orderBy(desc(deliveries.id)).limit(1))[0]
    const tell = (event: 'failed' | 'completed' = 'failed') =>
      database.transaction((tx) => sender.notify(tx, { event, text: 'it failed' }))
    return { sender, delivery, tell, now, tasks, runTasks, pass: (ms: number) => void (ahead += ms) }
  }

  it('are notified once, signed with the delivery ID, and the delivery is recorded', async () => {
    const bodies: string[] = []
    const { delivery, tell, runTasks, sender } = await createWebhook((body) => void bodies.push(body))
    await tell()
    await sender.resume()
    await runTasks()
    await runTasks()
    const sent = await delivery()
    expect(bodies.map((body) => JSON.parse(body))).toMatchObject([{ id: sent?.id, event: 'failed', text: 'it failed' }])
    expect(sent).toMatchObject({ status: 'sent', tries: 1, error: null })
  })

  it('are retried later, and given up after six attempts with the reason', async () => {
    const tried: number[] = []
    const { delivery, tell, now, pass, runTasks, tasks } = await createWebhook(() => {
      tried.push(now())
      throw new Error('answered 503')
    })
    await tell()
    for (let n = 0; n < 1000 && tasks.length > 0; n++) {
      await runTasks()
      pass(5000)
    }
    expect(await delivery()).toMatchObject({ status: 'failed', tries: 6, error: 'answered 503', nextTryAt: null })
    const pauses = tried.slice(1).map((at, n) => (at - (tried[n] ?? 0)) / 1000)
    for (const [n, least] of [10, 40, 160, 640, 2560].entries()) expect(pauses[n]).toBeGreaterThanOrEqual(least)
    expect(pauses).toHaveLength(5)
  }, 120_000)

  it('are retried at once on request, and not a second time when the earlier retry is due', async () => {
    const bodies: string[] = []
    const { delivery, tell, pass, runTasks, sender } = await createWebhook((body) => {
      if (bodies.push(body) === 1) throw new Error('answered 503')
    })
    await tell()
    await runTasks()
    expect(await delivery()).toMatchObject({ status: 'waiting', tries: 1, error: 'answered 503' })
    pass(10)
    await sender.retry((await delivery())?.id ?? '')
    await runTasks()
    pass(60_000)
    await runTasks()
    expect(await delivery()).toMatchObject({ status: 'sent', tries: 1, error: null })
    expect(bodies).toHaveLength(2)
  })

  it('are notified by the engine after the commit', async () => {
    const bodies: string[] = []
    const post = async (_url: string, body: string) => void bodies.push(body)
    await createWebhook(() => {})
    const opened: { engine?: Engine } = {}
    const engine = () => {
      if (!opened.engine) throw new Error('the engine is not open')
      return opened.engine
    }
    const sender = createNotificationSender({ database, box, engine, now: Date.now, newId: newUuid, post })
    const deliver = (input: unknown) => sender.deliver(z.object({ id: z.string(), at: z.number() }).parse(input))
    opened.engine = await openEngine(database, { handlers: { deliver }, onLost: () => {} })
    onTestFinished(() => opened.engine?.close(), 60_000)
    await database.transaction((tx) => sender.notify(tx, { event: 'failed', text: 'it failed' }))
    await waitUntil(
      async () => bodies,
      (all) => all.length > 0,
    )
    expect(bodies.map((body) => JSON.parse(body))).toMatchObject([{ event: 'failed', text: 'it failed' }])
  }, 120_000)

  it('that are disabled are not notified, and that is recorded too', async () => {
    const { delivery, tell, tasks } = await createWebhook(() => expect.unreachable(), { enabled: false })
    await tell()
    expect(tasks).toEqual([])
    expect(await delivery()).toMatchObject({ status: 'suppressed', tries: 0 })
  })

  it('are not notified of a transaction that was rolled back, or of events they did not subscribe to', async () => {
    const bodies: string[] = []
    const { sender, tell, runTasks } = await createWebhook((body) => void bodies.push(body))
    const before = await database.db.select().from(deliveries)
    await tell('completed')
    await database
      .transaction(async (tx) => {
        await sender.notify(tx, { event: 'failed', text: 'never' })
        throw new Error('no')
      })
      .catch(() => {})
    await runTasks()
    expect(await database.db.select().from(deliveries)).toHaveLength(before.length)
    expect(bodies).toEqual([])
  })
})
