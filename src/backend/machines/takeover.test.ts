import { randomUUID } from 'node:crypto'
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { reported, type Script } from '../../../test/support/simulated-machine.ts'
import {
  createTestDatabase,
  createTestFleet,
  createTestAgent,
  kinds,
  waitUntil,
  type TestFleet,
} from '../../../test/fleet/test-fleet.ts'
import { RalphError } from '../../contract/errors.ts'
import type { RequestType } from '../../contract/fleet/machine-messages.ts'
import type { Database } from '../database/database.ts'
import { events } from '../database/event.ts'
import { usage } from '../database/usage.ts'
import { markSeen } from './machine-state.ts'
import { enqueuePrompt } from '../prompts/prompts.ts'
import { startSprint } from '../sprints/sprints.ts'
import { handlePromptEnded } from '../prompts/reports.ts'

const requester = { name: 'ada' }
const goalSprint = { goal: 'Ship it', doneWhen: [], ifBusy: 'interrupt' as const }
const workspace = { kind: 'clone' as const, repository: 'https://example.com/a.git', push: 'origin' }
const commit = 'c'.repeat(40)
const hour = 3_600_000
const program = 'command:agent'
const never = new Promise<never>(() => {})

describe.each(kinds)('a machine that is silent for longer than its lease, on %s', (kind) => {
  let database: Database
  let world: TestFleet
  let ask: Script['ask']
  const requests: { readonly type: RequestType; readonly body: unknown }[] = []
  beforeAll(async () => {
    database = await createTestDatabase(kind)
    world = await createTestFleet(database, {
      ask: (type, body) => {
        requests.push({ type, body })
        return ask?.(type, body)
      },
    })
  }, 120_000)
  afterAll(() => world?.fleet.close(), 60_000)

  const readNotes = async (sprintId: string) => {
    const rows = await database.db.select().from(events).where(eq(events.sprintId, sprintId)).orderBy(events.seq)
    return rows.flatMap(({ payload }) => (payload?.type === 'note' ? [payload.text] : []))
  }

  /**
   * An agent whose first prompt is done and whose second one never ends, and another machine that could take it over.
   */
  async function createPair(overrides: Parameters<typeof createTestAgent>[2] = {}, script: Script = {}) {
    const label = randomUUID()
    const { fleet } = world
    const attempt = (_: unknown, n: number) => (n === 1 ? reported() : never)
    const own = { workspace, program, labels: [label], ...overrides }
    const agent = await createTestAgent(
      fleet,
      { pushed: commit, attempt, ...script },
      { ...own, machine: { name: 'first' } },
    )
    const goesOn = { attempt: () => reported({ status: 'goal-complete' as const }) }
    const machine = { name: 'second', labels: [label], programs: [] }
    const other = await createTestAgent(fleet, goesOn, { name: 'neighbour', machine })
    const { id: sprintId } = await startSprint(fleet, agent.id, goalSprint, requester)
    await waitUntil(
      async () => agent.machine.state.prompts,
      (all) => all.length === 2,
    )
    return { agent, other, sprintId }
  }

  /** Silences its machine, but not the others. */
  async function lose(machine: { readonly vanish: () => Promise<void> }, ...alive: readonly string[]) {
    await machine.vanish()
    world.advanceClock(hour)
    for (const id of alive) await markSeen(world.fleet, id)
  }

  it('loses its sprint to another machine, which continues from the last push', async () => {
    const { agent, other, sprintId } = await createPair()
    const { notices } = world
    await lose(agent.machine, other.machine.id)
    const [sprint] = await waitUntil(agent.sprints, ([row]) => row?.status === 'completed')
    expect(sprint?.progress.iterations).toMatchObject([
      { number: 1, verdict: 'continue', attempts: 1 },
      { number: 2, verdict: 'accepted', attempts: 2 },
    ])
    expect(await agent.row()).toMatchObject({ machineId: other.machine.id, reason: null, account: expect.anything() })
    const made = requests.findLast(({ type }) => type === 'create-workspace')
    expect(made?.body).toMatchObject({ agentId: agent.id, workspace, from: { sprintId, commit } })
    expect((await agent.prompts()).map(({ status, error }) => [status, error])).toEqual([
      ['finished', null],
      ['failed', 'its machine first was lost'],
      ['finished', null],
    ])
    expect(other.machine.state.prompts).toHaveLength(1)
    const text = 'its machine first was lost; second has taken over from the last push'
    expect(await readNotes(sprintId)).toContain(text)
    expect(notices.map((notice) => notice.text)).toContain(`an agent: ${text}`)

    // It reconnects, and reports what it did while it was away.
    const { prompts } = agent.machine.state
    const promptId = prompts.at(-1)?.promptId ?? ''
    await agent.machine.connect()
    const late = await waitUntil(agent.prompts, (all) => all.some(({ lateAt }) => lateAt !== null))
    expect(late.map(({ status }) => status)).toEqual(['finished', 'failed', 'finished'])
    expect(late.find(({ id }) => id === promptId)).toMatchObject({ costUsd: 0.01 })
    expect(await readNotes(sprintId)).toContain('first is back: its prompt ended as cancelled, which is ignored')
    const counted = async () =>
      (await database.db.select().from(usage).where(eq(usage.agentId, agent.id)))[0]?.inputTokens
    const spent = await counted()
    const end = { kind: 'cancelled' as const }
    await handlePromptEnded(world.fleet, agent.machine.id, { promptId, agentId: agent.id, endedAt: 0, end })
    expect(await counted()).toBe(spent)
    const [after] = await agent.sprints()
    expect(after?.progress.iterations).toHaveLength(2)
    for (const { machine } of [agent, other]) await machine.close()
  })

  it.each([
    {
      overrides: { workspace: { kind: 'folder' as const, path: '/p' } },
      why: 'its files exist only on that machine',
    },
    { overrides: { workspace: { ...workspace, push: undefined } }, why: 'its workspace has no push target' },
    { overrides: { labels: ['gpu'] }, why: /^no machine can take the agent: .*second has no label gpu/ },
  ])('keeps its sprint if no other machine can take it over, and says why: $why', async ({ overrides, why }) => {
    const { agent, other, sprintId } = await createPair(overrides)
    await lose(agent.machine, other.machine.id)
    const row = await waitUntil(agent.row, (found) => found?.reason !== null)
    const [, reason] = /^waiting for its machine first, last seen at [\dTZ:.-]+: (.*)$/.exec(row?.reason ?? '') ?? []
    expect(reason).toMatch(why)
    expect(await readNotes(sprintId)).toEqual([row?.reason])
    expect((await agent.prompts()).at(-1)).toMatchObject({ status: 'running' })
    await agent.machine.connect()
    expect(await agent.row()).toMatchObject({ reason: null, machineId: agent.machine.id, state: 'running' })
    for (const { machine } of [agent, other]) await machine.close()
  })

  it('keeps its sprint if the last work was not pushed or cannot be fetched', async () => {
    const { agent, other } = await createPair({}, { pushed: '' })
    await lose(agent.machine, other.machine.id)
    expect((await waitUntil(agent.row, (row) => row?.reason !== null))?.reason).toContain(
      'its last work was not pushed',
    )

    const second = await createPair()
    ask = (type) => {
      if (type === 'create-workspace') throw new RalphError('MACHINE_REFUSED', 'the last push cannot be fetched')
      return undefined
    }
    await lose(second.agent.machine, second.other.machine.id)
    const kept = await waitUntil(second.agent.row, (row) => row?.reason !== null)
    expect(kept?.reason).toContain('the last push cannot be fetched')
    ask = undefined
    world.advanceClock(60_001)
    await markSeen(world.fleet, second.other.machine.id)
    await waitUntil(second.agent.sprints, ([row]) => row?.status === 'completed')
    for (const { machine } of [agent, other, second.agent, second.other]) await machine.close()
  })

  it('loses nothing if it comes back while another one prepares', async () => {
    const { agent, other } = await createPair()
    let prepared = false
    ask = async (type) => {
      if (type === 'archive-workspace') prepared = true
      if (type === 'create-workspace') await agent.machine.connect()
      return undefined
    }
    await lose(agent.machine, other.machine.id)
    await waitUntil(
      async () => prepared,
      (done) => done,
    )
    ask = undefined
    expect(await agent.row()).toMatchObject({ machineId: agent.machine.id, state: 'running' })
    expect((await agent.prompts()).map(({ status }) => status)).toEqual(['finished', 'running'])
    expect(agent.machine.state.prompts).toHaveLength(2)
    for (const { machine } of [agent, other]) await machine.close()
  })

  it('has its checks run by the other machine, but prompts of users are not repeated', async () => {
    const { fleet } = world
    const attempt = async (_: unknown, n: number) => {
      if (n === 1) await enqueuePrompt(fleet, agent.id, { prompt: 'mine' }, requester)
      return reported()
    }
    const label = randomUUID()
    const own = { workspace, program, labels: [label], machine: { name: 'first' } }
    const agent = await createTestAgent(fleet, { pushed: commit, attempt, text: () => never }, own)
    const claims = { pushed: commit, attempt: () => reported({ status: 'goal-complete' as const }) }
    const stuck = { ...claims, carryOut: (_: unknown, n: number) => (n === 1 ? never : {}) }
    const second = await createTestAgent(fleet, stuck, { name: 'b', machine: { name: 'second', labels: [label] } })
    await startSprint(fleet, agent.id, { ...goalSprint, doneWhen: [{ run: 'npm test' }] }, requester)
    await waitUntil(
      async () => agent.machine.state.prompts,
      (all) => all.some(({ asked: { kind: of } }) => of === 'text'),
    )
    await lose(agent.machine, second.machine.id)
    await waitUntil(
      async () => second.machine.state.orders,
      ([order]) => order?.order.type === 'run-checks',
    )
    expect((await agent.prompts()).find(({ prompt }) => prompt === 'mine')).toMatchObject({
      status: 'failed',
      error: 'its machine first was lost',
    })
    const third = await createTestAgent(fleet, claims, { name: 'c', machine: { name: 'third', labels: [label] } })
    await lose(second.machine, third.machine.id)
    await waitUntil(agent.sprints, ([row]) => row?.status === 'completed')
    expect(third.machine.state.orders.map(({ order }) => order.type)).toEqual(['run-checks', 'make-checkpoint'])
    expect([second, third].map(({ machine }) => machine.state.prompts.map(({ asked: { kind: of } }) => of))).toEqual([
      ['order'],
      [],
    ])
    for (const { machine } of [agent, second, third]) await machine.close()
  })
})
