import { randomUUID } from 'node:crypto'
import { expect, it, onTestFinished } from 'vitest'
import { createTestDatabase } from '../../../test/fleet/test-fleet.ts'
import { events } from '../database/event.ts'
import { eventsTopic } from './event-log.ts'
import { changeRetentionMs, deleteOldChanges } from './change-retention.ts'
import { createFeed, type Filter } from './feed.ts'

const patience = { timeout: 30_000 }
const agentId = randomUUID()
const textEvent = { type: 'agent' as const, iteration: 1, attempt: 1, event: { kind: 'text' as const, text: 'Hello' } }

/** A feed with one listener that records the changes by kind. */
async function createTestFeed(filters: () => readonly Filter[]) {
  const { db, signals, ...database } = await createTestDatabase('embedded')
  const trouble: unknown[] = []
  const feed = createFeed({ db, signals, ...database }, { now: Date.now, log: (error) => trouble.push(error) })
  onTestFinished(() => feed.close())
  const received: string[] = []
  feed.subscribe({ filters, onItems: (items) => received.push(...items.map(({ change }) => change.type)) })
  await expect.poll(() => feed.position()).toBeDefined()
  return {
    db,
    feed,
    aside: database.aside,
    received,
    trouble,
    happens: async (kind: 'event' | 'agent-gone') => {
      await db.insert(events).values({ kind, agentId, seq: 1, at: 0, ...(kind === 'event' && { payload: textEvent }) })
      signals.emit(eventsTopic, '')
    },
  }
}

it('reports changed rows, and agent events only to clients that follow them', async () => {
  const another = randomUUID()
  const { received, happens, trouble } = await createTestFeed(() => [{}, { agentId: another }])
  await happens('event')
  await happens('agent-gone')
  await expect.poll(() => received, patience).toEqual(['agent-gone'])
  expect(trouble).toEqual([])
})

it('reports everything to a listener that joins during a poll, from then on', async () => {
  let looks = 0
  const { received, happens } = await createTestFeed(() => (looks++ === 0 ? [] : [{ agentId }]))
  await happens('event')
  await expect.poll(() => received, patience).toEqual(['event'])
  expect(looks).toBeGreaterThan(2)
})

it('deletes row changes after a day, and makes clients with an older position start over', async () => {
  const { db, feed, aside } = await createTestFeed(() => [])
  const longAgo = feed.position() ?? ''
  const yesterday = Date.now() - changeRetentionMs - 1000
  const changed = (at: number) => ({ kind: 'agent' as const, agentId, at })
  const long = Array.from({ length: 2100 }, () => changed(yesterday))
  await db.insert(events).values({ ...changed(yesterday), kind: 'event', payload: textEvent })
  await db.insert(events).values(long)
  const [recent] = await db.insert(events).values(changed(Date.now())).returning()
  await deleteOldChanges({ aside }, Date.now())
  const kinds = await db.select({ kind: events.kind, at: events.at }).from(events).orderBy(events.id)
  expect(kinds.map(({ kind, at }) => [kind, at === yesterday])).toEqual([
    ['event', true],
    ['agent', true],
    ['agent', false],
  ])
  expect(await feed.startOver(longAgo, {})).toBeDefined()
  expect(await feed.startOver(`${recent?.tx}-${recent?.id}`, {})).toBeUndefined()
})
