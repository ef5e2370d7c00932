import { once } from 'node:events'
import { createServer } from 'node:https'
import { eq, isNotNull } from 'drizzle-orm'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { createTestAgent, createTestDatabase, createTestFleet } from '../../../test/fleet/test-fleet.ts'
import { buildProgress } from '../../../test/support/builders.ts'
import { createTestCertificate } from '../../../test/support/certificate.ts'
import { createPushReceiver } from '../../../test/support/push-receiver.ts'
import { postPublicly } from '../../platform/net/public-post.ts'
import { newUuid } from '../../platform/uuid.ts'
import type { Database } from '../database/database.ts'
import { pushKeys, pushSubscriptions } from '../database/push.ts'
import { questions } from '../database/question.ts'
import { sprints } from '../database/sprint.ts'
import { access, users } from '../database/user.ts'
import { deliveries } from '../database/webhook.ts'
import type { Notice } from '../fleet/notice.ts'
import { createSecretBox } from '../secrets/secret-box.ts'
import { createNotificationSender } from './notifications.ts'
import { createPushChannel } from './push.ts'
import { assertPushTarget, createPushKey, createPushRequest } from './web-push.ts'

it('encrypts and signs as the RFCs say', () => {
  // The example of RFC 8291, appendix A, shows that the receiver of these tests is right.
  const example = createPushReceiver({
    privateKey: 'q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94',
    auth: 'BTBZMqHH6r4Tts7J_aSIgg',
  })
  const body =
    'DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN'
  expect(example.decrypt(Buffer.from(body, 'base64url'))).toBe('When I grow up, I want to be a watermelon')

  const [browser, key] = [createPushReceiver(), createPushKey()]
  const target = { endpoint: 'https://push.example.com/x/1', p256dh: browser.p256dh, auth: browser.auth }
  const request = createPushRequest(target, 'größer', { key, contact: 'mailto:a@example.org', now: 1_000_000_000_000 })
  expect(browser.decrypt(request.body)).toBe('größer')
  expect(browser.identify(request, key.publicKey)).toEqual({
    aud: 'https://push.example.com',
    exp: 1_000_000_000 + 12 * 3600,
    sub: 'mailto:a@example.org',
  })
  const other = createPushKey()
  expect(() => browser.identify(request, other.publicKey)).toThrow('another key')
  expect(() => createPushReceiver().decrypt(request.body)).toThrow(/authenticate/)
})

it.each([
  ['a short point', 'BCVx', 'BTBZMqHH6r4Tts7J_aSIgg', 'p256dh is not a point on P-256'],
  [
    'a point off the curve',
    Buffer.concat([Buffer.of(4), Buffer.alloc(64, 7)]).toString('base64url'),
    'BTBZMqHH6r4Tts7J_aSIgg',
    'Public key is not valid for specified curve',
  ],
  ['a short secret', createPushReceiver().p256dh, 'BTBZ', 'auth does not have 16 bytes'],
])('refuses %s', (_, p256dh, auth, reason) => {
  expect(() => assertPushTarget({ endpoint: 'https://push.example.com', p256dh, auth })).toThrow(reason)
})

describe('a browser', () => {
  let database: Database
  beforeAll(async () => {
    database = await createTestDatabase('postgres')
  }, 120_000)

  it('of each user who may see the agent is notified, with answers; an answered question is not', async () => {
    const { key, cert } = createTestCertificate()
    const received: { url: string; headers: object; body: Buffer }[] = []
    const server = createServer({ key, cert }, (request, response) => {
      const parts: Buffer[] = []
      request.on('data', (part: Buffer) => parts.push(part))
      request.on('end', () => {
        received.push({ url: request.url ?? '', headers: request.headers, body: Buffer.concat(parts) })
        response.writeHead(request.url === '/gone' ? 410 : 201).end()
      })
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    const address = server.address()
    const origin = `https://localhost:${typeof address === 'object' ? address?.port : 0}`

    const { fleet } = await createTestFleet(database)
    onTestFinished(() => fleet.close())
    const agent = await createTestAgent(fleet)
    const browsers = new Map<string, ReturnType<typeof createPushReceiver>>()
    const subscribe = async (name: string, role: 'admin' | 'member', fields: { disabledAt?: number } = {}) => {
      const [userId, browser] = [newUuid(), createPushReceiver()]
      browsers.set(`/${name}`, browser)
      await database.db.insert(users).values({ id: userId, name, role, createdAt: 1, ...fields })
      const { p256dh, auth } = browser
      const row = { id: newUuid(), userId, endpoint: `${origin}/${name}`, p256dh, auth, createdAt: 1 }
      await database.db.insert(pushSubscriptions).values(row)
      return userId
    }
    await subscribe('admin', 'admin')
    const reader = await subscribe('reader', 'member')
    await subscribe('stranger', 'member')
    await subscribe('disabled', 'admin', { disabledAt: 2 })
    await subscribe('gone', 'admin')
    await database.db.insert(access).values({ agentId: agent.id, userId: reader, level: 'read' })
    const sprintId = newUuid()
    const { rev, status, ...progress } = buildProgress({ status: 'needs-human' })
    const sprint = {
      id: sprintId,
      agentId: agent.id,
      protocol: 'report' as const,
      rev,
      status,
      createdAt: 1,
      updatedAt: 1,
    }
    await database.db.insert(sprints).values({ ...sprint, progress: { rev, status, ...progress } })
    const options = ['Keep it', 'Delete it', 'x'.repeat(200)]
    const question = { id: newUuid(), sprintId, agentId: agent.id, status: 'open' as const, reason: 'Keep the table?' }
    await database.db.insert(questions).values({ ...question, details: 'D', options, askedAt: 1 })

    const tasks: unknown[] = []
    const box = createSecretBox('a key with at least thirty-two characters')
    const push = createPushChannel({
      database,
      box,
      now: Date.now,
      contact: 'mailto:a@example.org',
      post: (endpoint, request) => postPublicly(endpoint, request, { ca: [cert], allows: () => true }),
    })
    const sender = createNotificationSender({
      database,
      box,
      push,
      engine: () => ({ enqueue: async (_tx, { input }) => void tasks.push(input) }),
      now: Date.now,
      newId: newUuid,
      post: async () => {},
    })
    const notify = async (event: Notice['event'], beforeDelivery = async () => {}): Promise<string[]> => {
      received.length = 0
      await database.transaction((tx) => sender.notify(tx, { event, text: 'it asks', sprintId, agentId: agent.id }))
      await beforeDelivery()
      // A connection that failed is tried again, as the engine does later.
      for (let input = tasks.shift(); input !== undefined; input = tasks.shift())
        await sender.deliver(z.object({ id: z.string(), at: z.number() }).parse(input))
      const failed = await database.db.select().from(deliveries).where(isNotNull(deliveries.error))
      expect(failed.map(({ error }) => error)).toEqual([])
      return received.map(({ url }) => url).toSorted()
    }

    expect(await notify('needs-human')).toEqual(['/admin', '/gone', '/reader'])
    const call = received.find(({ url }) => url === '/reader')
    const message = JSON.parse(browsers.get('/reader')?.decrypt(call?.body ?? Buffer.alloc(0)) ?? '')
    expect(message).toEqual({
      title: 'an agent asks',
      text: 'Keep the table?',
      tag: sprintId,
      path: `/sprints/${sprintId}`,
      sprintId,
      questionId: question.id,
      answers: ['Keep it', 'Delete it'],
    })
    const [stored] = await database.db.select().from(pushKeys)
    expect(stored?.privateKey).toMatch(/^sealed1\./)
    const claims = createPushReceiver().identify(
      { headers: { ...call?.headers }, body: Buffer.alloc(0) },
      stored?.publicKey ?? '',
    )
    expect(claims.aud).toBe(origin)
    // The push service says that this browser is gone: nothing goes there from now on.
    expect(await notify('completed')).toEqual(['/admin', '/reader'])
    expect(await notify('stopped')).toEqual([])
    // A push service accepts 4096 bytes, whatever the agent wrote.
    const long = '🦊"\u0001\\'.repeat(2000)
    await database.db.update(questions).set({ reason: long }).where(eq(questions.id, question.id))
    expect(await notify('needs-human')).toEqual(['/admin', '/reader'])
    for (const { url, body } of received) {
      expect(body.length).toBeLessThanOrEqual(4096)
      const { text } = z.object({ text: z.string() }).parse(JSON.parse(browsers.get(url)?.decrypt(body) ?? ''))
      expect([long.startsWith(text.slice(0, -1)), text.at(-1), text.length > 500]).toEqual([true, '…', true])
    }
    // A key is never shown, not even half of one at the cut or as a button.
    const secret = `ghp_${'a1B2'.repeat(9)}`
    const reason = `${'x'.repeat(680)} ${secret}?`
    await database.db
      .update(questions)
      .set({ reason, options: [secret, 'No'] })
      .where(eq(questions.id, question.id))
    expect(await notify('needs-human')).toEqual(['/admin', '/reader'])
    const plain = received.map(({ url, body }) => browsers.get(url)?.decrypt(body) ?? '')
    expect(plain.filter((text) => text.includes('ghp_'))).toEqual([])
    expect(plain.map((text) => JSON.parse(text).answers)).toEqual([['No'], ['No']])
    // Revoked after the notification was queued: the access counts when the message leaves.
    const revoke = async (): Promise<void> => {
      await database.db.delete(access).where(eq(access.userId, reader))
      await database.db.update(users).set({ disabledAt: 3 }).where(eq(users.name, 'admin'))
    }
    expect(await notify('needs-human', revoke)).toEqual([])
    await database.db.update(users).set({ disabledAt: null }).where(eq(users.name, 'admin'))
    await database.db.update(questions).set({ status: 'answered' }).where(eq(questions.id, question.id))
    expect(await notify('needs-human')).toEqual([])
    const kept = await database.db.select().from(deliveries).where(eq(deliveries.via, 'push'))
    expect(kept.map((delivery) => delivery.status).toSorted()).toEqual([
      ...Array.from({ length: 8 }, () => 'sent'),
      ...Array.from({ length: 4 }, () => 'suppressed'),
    ])
    // The address of a browser is a capability and stays in its own table.
    expect(JSON.stringify(kept)).not.toContain('/reader')
  }, 120_000)
})
