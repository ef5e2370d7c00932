import { randomUUID } from 'node:crypto'
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { buildOutcome } from '../../../test/support/virtual.ts'
import {
  createTestDatabase,
  createTestFleet,
  createTestAgent,
  waitUntil,
  type TestFleet,
} from '../../../test/fleet/test-fleet.ts'
import type { Database } from '../database/database.ts'
import { machines, type MachineRow } from '../database/machine.ts'
import { accountLimits } from '../database/usage.ts'
import { listSharedRows } from '../views/agents.ts'
import { createAgent } from '../agents/agents.ts'
import { dispatchMachine, applyInventory } from './machine-state.ts'
import { chooseMachine } from './placement.ts'
import { enqueuePrompt } from '../prompts/prompts.ts'

const requester = { name: 'ada' }
const claude = { name: 'claude', loggedIn: 'yes' as const }

describe('placement', () => {
  let database: Database
  let world: TestFleet
  beforeAll(async () => {
    database = await createTestDatabase('embedded')
    world = await createTestFleet(database)
  }, 120_000)
  afterAll(() => world?.fleet.close(), 60_000)
  // Excludes the machines of earlier tests.
  beforeEach(() => database.db.update(machines).set({ status: 'revoked' }))

  /** A machine that accepts everything, except for the given fields. */
  async function createMachine(name: string, overrides: Partial<MachineRow> = {}): Promise<string> {
    const id = randomUUID()
    const here = {
      connectedTo: world.fleet.engine.executorId,
      lastSeenAt: Date.now(),
      programs: [claude],
      createdAt: 1,
    }
    await database.db.insert(machines).values({ id, name, status: 'active', ...here, ...overrides })
    return id
  }
  const wish = { program: 'claude', labels: ['gpu'] }

  it.each<{ readonly overrides: Partial<MachineRow>; readonly lacks: string }>([
    { overrides: { status: 'pending' }, lacks: 'is pending' },
    { overrides: { status: 'cordoned' }, lacks: 'is cordoned' },
    { overrides: { status: 'draining' }, lacks: 'is draining' },
    { overrides: { connectedTo: null }, lacks: 'was last seen at 1970-01-01T00:00:05.000Z' },
    { overrides: { lastSeenAt: null, connectedTo: null }, lacks: 'was never seen' },
    { overrides: { labels: ['linux'] }, lacks: 'has no label gpu' },
    { overrides: { programs: [] }, lacks: 'has no claude' },
    { overrides: { programs: [{ ...claude, problem: 'too old' }] }, lacks: 'cannot run claude: too old' },
    { overrides: { slots: 0 }, lacks: 'has no slots' },
  ])('accepts a machine that has everything, and refuses one that $lacks', async ({ overrides, lacks }) => {
    await createMachine('build-1', {
      labels: ['gpu'],
      ...(overrides.connectedTo === null && { lastSeenAt: 5000 }),
      ...overrides,
    })
    const message = `no machine can take the agent: build-1 ${lacks}`
    await expect(chooseMachine(world.fleet, wish)).rejects.toMatchObject({ code: 'NO_MACHINE', message })
    const good = await createMachine('build-2', { labels: ['gpu', 'linux'] })
    expect((await chooseMachine(world.fleet, wish)).id).toBe(good)
  })

  it('fails without machines, and does not name revoked ones', async () => {
    await expect(chooseMachine(world.fleet, wish)).rejects.toMatchObject({ message: 'there is no machine' })
  })

  it('prefers the machine with the most free slots, and those at their account limit last', async () => {
    const [small, large] = [await createMachine('small', { slots: 1 }), await createMachine('large', { slots: 3 })]
    const place = async () => (await chooseMachine(world.fleet, { program: 'claude', labels: [] })).id
    expect(await place()).toBe(large)
    const limit = { until: Date.now() + 60_000, reason: 'five hours are over', notedAt: 0 }
    await database.db.insert(accountLimits).values({ account: `claude@${large}`, ...limit })
    expect(await place()).toBe(small)
    await database.db.insert(accountLimits).values({ account: `claude@${small}`, ...limit, until: limit.until + 1000 })
    expect(await place()).toBe(large)
  })

  it('lets the agents of a cordoned machine work, and creates no new ones there', async () => {
    const { fleet } = world
    const agent = await createTestAgent(fleet, {}, { machine: { status: 'cordoned' } })
    await enqueuePrompt(fleet, agent.id, { prompt: 'continue' }, requester)
    await waitUntil(agent.prompts, ([row]) => row?.status === 'finished')
    const workspace = { kind: 'folder' as const, path: '/p' }
    const options = { name: 'x', machineId: agent.machine.id, workspace, program: 'claude' }
    const refused = { code: 'NO_MACHINE', message: 'the machine is cordoned' }
    await expect(createAgent(fleet, options, requester)).rejects.toMatchObject(refused)
    await agent.machine.close()
  })

  it('lets a draining machine finish its running prompt, starts nothing new, says why, and resumes once it is active', async () => {
    const { fleet } = world
    let release = () => {}
    const released = new Promise<void>((resolve) => (release = resolve))
    const agent = await createTestAgent(fleet, { text: () => released.then(() => buildOutcome()) })
    const set = (status: MachineRow['status']) =>
      database.db.update(machines).set({ status }).where(eq(machines.id, agent.machine.id))
    for (const prompt of ['one', 'two']) await enqueuePrompt(fleet, agent.id, { prompt }, requester)
    await set('draining')
    release()
    await waitUntil(agent.prompts, ([row]) => row?.status === 'finished')
    await dispatchMachine(fleet, agent.machine.id)
    expect((await agent.prompts()).map(({ status }) => status)).toEqual(['finished', 'queued'])
    const waits = async () => (await listSharedRows(database.db, [agent.id], Date.now())).get(agent.id)?.waits
    expect(await waits()).toBe('a machine is draining: it starts no prompts')
    await set('active')
    await dispatchMachine(fleet, agent.machine.id)
    await waitUntil(agent.prompts, (all) => all.every(({ status }) => status === 'finished'))
    expect(await waits()).toBeUndefined()
    await agent.machine.close()
  })

  it('uses the slots that the machine reports until an admin changes them, until the machine reports others', async () => {
    const id = await createMachine('vm')
    const slots = async () => (await database.db.select().from(machines).where(eq(machines.id, id)))[0]?.slots
    const about = { version: '1', platform: 'p', bootEpoch: 1, at: 0, name: 'vm', labels: [], roots: [] }
    const says = (offered: number) =>
      applyInventory(world.fleet, id, { ...about, slots: offered, agents: [], waiting: 0 })
    await says(2)
    expect(await slots()).toBe(2)
    await database.db.update(machines).set({ slots: 7 }).where(eq(machines.id, id))
    await says(2)
    expect(await slots()).toBe(7)
    await says(3)
    expect(await slots()).toBe(3)
  })
})
