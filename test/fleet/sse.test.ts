import { connect, type Socket } from 'node:net'
import { and, eq } from 'drizzle-orm'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import { events } from '../../src/backend/database/event.ts'
import { access, users } from '../../src/backend/database/user.ts'
import { eventsTopic } from '../../src/backend/feed/event-log.ts'
import type { Backend } from '../../src/backend/open-backend.ts'
import { FleetChange } from '../../src/contract/fleet/event.ts'
import { createTestBackend, createTestSession, createTestUser, grantAccess, createTestRows } from './test-backend.ts'
import { waitUntil } from './test-fleet.ts'

/** Number of clients that do not read. The issue asks for `SSE_CLIENTS=1000`. */
const count = Number(process.env['SSE_CLIENTS'] ?? 100)
const times = { beatMs: 1500, recheckMs: 300 }

let backend: Backend
beforeAll(async () => void (backend = await createTestBackend('embedded', { eventTimes: times })))
afterAll(() => backend?.close())

let seq = 0
/** An event of an agent, as reported by a machine. */
async function insertEvents(
  agentId: string,
  howMany = 1,
  { text = 'hello', sprintId }: { text?: string; sprintId?: string } = {},
): Promise<readonly number[]> {
  const rows = Array.from({ length: howMany }, () => ({
    kind: 'event' as const,
    agentId,
    ...(sprintId !== undefined && { sprintId }),
    seq: ++seq,
    at: Date.now(),
    payload: { type: 'note' as const, level: 'info' as const, text },
  }))
  await backend.database.db.insert(events).values(rows)
  backend.database.signals.emit(eventsTopic, '')
  return rows.map((row) => row.seq)
}

type StreamReader = {
  /** The received changes. */
  readonly frames: () => readonly { readonly id: string; readonly change: FleetChange }[]
  /** The last position received. */
  readonly here: () => string | undefined
  readonly seqs: () => readonly number[]
  readonly hasEnded: () => boolean
  readonly close: () => void
}

type StreamQuery = { readonly agentId?: string; readonly sprintId?: string; readonly after?: string | undefined }

async function openStream(cookie: string, { after, ...query }: StreamQuery = {}): Promise<StreamReader> {
  const stop = new AbortController()
  const path = `/api/events?${new URLSearchParams(query).toString()}`
  const headers = { cookie, ...(after !== undefined && { 'last-event-id': after }) }
  const answer = await fetch(`${backend.origin}${path}`, { headers, signal: stop.signal })
  const frames: { id: string; change: FleetChange }[] = []
  let here: string | undefined
  let ended = false
  const read = async () => {
    let text = ''
    for await (const part of answer.body ?? []) {
      const whole = `${text}${Buffer.from(part).toString()}`.split('\n\n')
      text = whole.pop() ?? ''
      for (const one of whole) {
        const [, id, data] = /^id: (.*)\nevent: .*\ndata: (.*)$/.exec(one) ?? []
        if (id === undefined || data === undefined) continue
        const change = z.decode(FleetChange, JSON.parse(data))
        if (change.type === 'here') here = id
        else frames.push({ id, change })
      }
    }
  }
  void read()
    .catch(() => {})
    .finally(() => (ended = true))
  return {
    frames: () => frames,
    here: () => here,
    seqs: () => frames.flatMap(({ change }) => (change.type === 'event' ? [change.event.seq] : [])),
    hasEnded: () => ended,
    close: () => stop.abort(),
  }
}

/** A client that sends a request and then reads nothing. */
function openDeafClient(cookie: string, agentId: string): Promise<Socket> {
  const { hostname, port, host } = new URL(backend.origin)
  const socket = connect({ host: hostname, port: Number(port) })
  socket.on('error', () => {})
  return new Promise((resolve) => {
    socket.once('connect', () => {
      socket.write(`GET /api/events?agentId=${agentId} HTTP/1.1\r\nhost: ${host}\r\ncookie: ${cookie}\r\n\r\n`)
      socket.once('data', () => resolve(socket.pause()))
    })
  })
}

const viewers = async (cookie: string): Promise<number> => {
  const answer = await fetch(`${backend.origin}/metrics`, { headers: { cookie } })
  return Number(/^ralph_sse_viewers (\d+)$/m.exec(await answer.text())?.[1])
}

it(`${count} clients that never read cost little, block no others, and are disconnected`, async () => {
  const cookie = await createTestSession(backend, await createTestUser(backend, 'admin'))
  const { agentId } = await createTestRows(backend)
  const reader = await openStream(cookie, { agentId })
  const [first = 0] = await insertEvents(agentId)
  await waitUntil(
    async () => reader.seqs(),
    (seen) => seen.includes(first),
  )
  const sockets: Socket[] = []
  // Several users, because the rate limit is per user.
  const cookies = await Promise.all(
    [1, 2, 3].map(async () => createTestSession(backend, await createTestUser(backend, 'admin'))),
  )
  for (let made = 0; made < count; made += 50) {
    const some = Array.from({ length: Math.min(50, count - made) }, (_, at) => cookies[(made + at) % 3] ?? cookie)
    sockets.push(...(await Promise.all(some.map((own) => openDeafClient(own, agentId)))))
  }
  expect(await viewers(cookie)).toBe(count + 1)
  const before = process.memoryUsage()
  const sent: number[] = []
  const text = 'x'.repeat(40_000)
  for (let round = 0; round < 15; round++) {
    const some = await insertEvents(agentId, 8, { text })
    sent.push(...some)
    await waitUntil(
      async () => reader.seqs(),
      (seen) => seen.includes(some.at(-1) ?? 0),
    )
  }
  const after = process.memoryUsage()
  // 5 MB for each of them would be more than a gigabyte.
  const grown =
    after.heapUsed + after.arrayBuffers + after.external - before.heapUsed - before.arrayBuffers - before.external
  if (process.env['LOUD']) console.log('grown by MB', Math.round(grown / 1024 / 1024))
  expect(grown).toBeLessThan(count * 300 * 1024 + 150 * 1024 * 1024)
  await waitUntil(
    () => viewers(cookie),
    (left) => left === 1,
    60_000,
  )
  expect(reader.seqs()).toEqual([first, ...sent])
  for (const socket of sockets) socket.destroy()
  const id = reader.frames()[0]?.id
  reader.close()
  const again = await openStream(cookie, { agentId, after: id })
  await waitUntil(
    async () => again.seqs(),
    (seen) => seen.length >= sent.length,
  )
  expect(again.seqs()).toEqual(sent)
  again.close()
}, 240_000)

it('shows nothing more of an agent after access is revoked, and nothing at all to a disabled user', async () => {
  const { agentId } = await createTestRows(backend)
  const userId = await createTestUser(backend)
  await grantAccess(backend, agentId, userId, 'read')
  const cookie = await createTestSession(backend, userId)
  const stream = await openStream(cookie, { agentId })
  const [seen = 0] = await insertEvents(agentId)
  await waitUntil(
    async () => stream.seqs(),
    (all) => all.includes(seen),
  )
  const { db } = backend.database
  await db.delete(access).where(and(eq(access.agentId, agentId), eq(access.userId, userId)))
  await new Promise((resolve) => setTimeout(resolve, 4 * times.recheckMs))
  await insertEvents(agentId)
  await db.update(users).set({ disabledAt: Date.now() }).where(eq(users.id, userId))
  await waitUntil(
    async () => stream.hasEnded(),
    (isSo) => isSo,
  )
  expect(stream.seqs()).toEqual([seen])
})

it('ends the stream when its session ends', async () => {
  const cookie = await createTestSession(backend, await createTestUser(backend))
  const stream = await openStream(cookie)
  const headers = { cookie, 'content-type': 'application/json' }
  await fetch(`${backend.origin}/api/sign-out`, { method: 'POST', headers, body: '{}' })
  const ended = await waitUntil(
    async () => stream.hasEnded(),
    (isSo) => isSo,
  )
  expect(ended).toBe(true)
})

it('limits the stream to one agent on request', async () => {
  const cookie = await createTestSession(backend, await createTestUser(backend, 'admin'))
  const [one, other] = [await createTestRows(backend), await createTestRows(backend)]
  const stream = await openStream(cookie, { agentId: one.agentId })
  await insertEvents(other.agentId, 3)
  const [last = 0] = await insertEvents(one.agentId)
  await waitUntil(
    async () => stream.seqs(),
    (all) => all.length > 0,
  )
  expect(stream.seqs()).toEqual([last])
  const missed = await openStream(cookie, { agentId: one.agentId, after: '0-0' })
  await waitUntil(
    async () => missed.frames(),
    (all) => all.length > 0,
  )
  expect(missed.seqs()).toEqual([last])
  stream.close()
  missed.close()
})

it('sends start-over to a client that has missed too much, and continues from there', async () => {
  const cookie = await createTestSession(backend, await createTestUser(backend, 'admin'))
  const { agentId } = await createTestRows(backend)
  await insertEvents(agentId, 2100, { text: '' })
  const stream = await openStream(cookie, { agentId, after: '0-0' })
  const all = await waitUntil(
    async () => stream.frames(),
    (frames) => frames.length > 0,
  )
  expect(all.map(({ change }) => change.type)).toEqual(['start-over'])
  const [next = 0] = await insertEvents(agentId)
  await waitUntil(
    async () => stream.seqs(),
    (seen) => seen.length > 0,
  )
  expect(stream.seqs()).toEqual([next])
  stream.close()
  const again = await openStream(cookie, { agentId, after: all[0]?.id })
  await waitUntil(
    async () => again.frames(),
    (frames) => frames.length > 0,
  )
  expect(again.seqs()).toEqual([next])
  again.close()
})

it('streams all rows and the events of one sprint, and switches to another sprint without a gap', async () => {
  const cookie = await createTestSession(backend, await createTestUser(backend, 'admin'))
  const [one, other] = [await createTestRows(backend), await createTestRows(backend)]
  const change = (agentId: string) =>
    backend.database.db.insert(events).values({ kind: 'agent', agentId, at: Date.now() })
  const toOne = { sprintId: one.sprintId }
  const stream = await openStream(cookie, toOne)
  await waitUntil(
    async () => stream.here(),
    (id) => id !== undefined,
  )
  await insertEvents(other.agentId, 3, { sprintId: other.sprintId })
  await insertEvents(one.agentId)
  await change(other.agentId)
  const [last = 0] = await insertEvents(one.agentId, 1, toOne)
  const received = await waitUntil(
    async () => stream.frames(),
    (frames) => frames.some(({ change: { type } }) => type === 'event'),
  )
  expect(received.map(({ change: { type } }) => type)).toEqual(['agent', 'event'])
  expect(stream.seqs()).toEqual([last])
  stream.close()
  const [missed = 0] = await insertEvents(other.agentId, 1, { sprintId: other.sprintId })
  // As a page sends it, which cannot set headers.
  const path = `/api/events?sprintId=${other.sprintId}&after=${received.at(-1)?.id}`
  const answer = await fetch(`${backend.origin}${path}`, { headers: { cookie } })
  const reader = answer.body?.getReader()
  let text = ''
  while (!text.includes('event: here')) text += Buffer.from((await reader?.read())?.value ?? []).toString()
  await reader?.cancel()
  expect([...text.matchAll(/^event: (.*)$/gm)].map(([, type]) => type)).toEqual(['event', 'here'])
  expect(text).toContain(`"seq":${missed},`)
}, 60_000)

it('lets an idle client resume from the current position', async () => {
  const cookie = await createTestSession(backend, await createTestUser(backend, 'admin'))
  const { agentId } = await createTestRows(backend)
  const stream = await openStream(cookie)
  const first = await waitUntil(
    async () => stream.here(),
    (id) => id !== undefined,
  )
  await insertEvents(agentId, 3)
  await waitUntil(
    async () => stream.here(),
    (id) => id !== first,
  )
  expect(stream.frames()).toEqual([])
  stream.close()
})

it('sends start-over to a client with an unknown position, and to one whose access has changed', async () => {
  const { agentId } = await createTestRows(backend)
  const userId = await createTestUser(backend)
  const cookie = await createTestSession(backend, userId)
  const stream = await openStream(cookie, { after: '99999999-1' })
  const types = () => stream.frames().map(({ change: { type } }) => type)
  await waitUntil(
    async () => types(),
    (all) => all.length === 1,
  )
  await grantAccess(backend, agentId, userId, 'read')
  await waitUntil(
    async () => types(),
    (all) => all.length > 1,
  )
  expect(types()).toEqual(['start-over', 'start-over'])
  stream.close()
})
