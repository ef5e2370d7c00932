import { randomUUID } from 'node:crypto'
import { asc } from 'drizzle-orm'
import { expect, it } from 'vitest'
import { createTestDatabase, kinds } from '../../../test/fleet/test-fleet.ts'
import { agents } from '../database/agent.ts'
import { agentPrompts } from '../database/agent-prompt.ts'
import { events } from '../database/event.ts'
import { machines } from '../database/machine.ts'
import { countOldHistory, deleteOldHistory } from './history-retention.ts'

const dayMs = 86_400_000
const now = Date.UTC(2026, 10, 17)
const [agentId, sprintId, promptId] = [randomUUID(), randomUUID(), randomUUID()]
const textEvent = { type: 'agent' as const, iteration: 1, attempt: 1, event: { kind: 'text' as const, text: 'Hello' } }

it.each(kinds)('deletes old events and ended prompts, never the newest ones or open work (%s)', async (kind) => {
  const { db, aside } = await createTestDatabase(kind)
  const event = { kind: 'event' as const, agentId, payload: textEvent }
  const old = now - 100 * dayMs
  // More than one batch.
  await db.insert(events).values(Array.from({ length: 2500 }, (_, seq) => ({ ...event, sprintId, seq, at: old })))
  await db.insert(events).values([
    { ...event, promptId, seq: 1, at: old },
    { ...event, promptId, seq: 2, at: old },
    { ...event, sprintId, seq: 2500, at: now - dayMs },
  ])
  const [machineId, otherAgent] = [randomUUID(), randomUUID()]
  await db.insert(machines).values({ id: machineId, name: 'vm', status: 'active', createdAt: 1 })
  const workspace = { kind: 'folder', path: '/srv/app' } as const
  const agent = {
    name: 'api',
    machineId,
    workspace,
    program: 'claude',
    account: 'a',
    state: 'idle' as const,
    createdAt: 1,
  }
  await db.insert(agents).values([
    { ...agent, id: agentId },
    { ...agent, id: otherAgent, name: 'other' },
  ])
  const prompt = { agentId, prompt: 'p', by: 'me', position: 1 }
  const ended = (daysAgo: number) => ({ createdAt: now - daysAgo * dayMs, endedAt: now - daysAgo * dayMs })
  await db.insert(agentPrompts).values([
    { ...prompt, id: randomUUID(), status: 'finished', ...ended(120) },
    { ...prompt, id: randomUUID(), status: 'failed', ...ended(110) },
    { ...prompt, id: randomUUID(), status: 'queued', createdAt: now - 105 * dayMs },
    { ...prompt, id: randomUUID(), status: 'finished', ...ended(100) },
    { ...prompt, id: randomUUID(), status: 'finished', agentId: otherAgent, ...ended(200) },
  ])

  expect(await countOldHistory({ db }, now - 90 * dayMs)).toEqual({ events: 2501, prompts: 2 })
  await deleteOldHistory({ aside }, now - 90 * dayMs)
  expect(await countOldHistory({ db }, now - 90 * dayMs)).toEqual({ events: 0, prompts: 0 })

  const left = await db.select().from(events).orderBy(asc(events.id))
  expect(left.map(({ seq, at }) => [seq, at])).toEqual([
    [2, old],
    [2500, now - dayMs],
  ])
  const prompts = await db.select().from(agentPrompts).orderBy(asc(agentPrompts.createdAt))
  expect(prompts.map(({ status, createdAt }) => [status, (now - createdAt) / dayMs])).toEqual([
    ['finished', 200],
    ['queued', 105],
    ['finished', 100],
  ])
})
