import { randomUUID } from 'node:crypto'
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildOutcome } from '../../../test/support/virtual.ts'
import { reported } from '../../../test/support/simulated-machine.ts'
import {
  createTestDatabase,
  createTestFleet,
  createTestAgent,
  createAnotherTestAgent,
  kinds,
  waitUntil,
  type TestFleet,
} from '../../../test/fleet/test-fleet.ts'
import { agentPrompts } from '../database/agent-prompt.ts'
import { isUniqueViolation, type Database } from '../database/database.ts'
import { events } from '../database/event.ts'
import { machineOutbox, machines } from '../database/machine.ts'
import { sprints } from '../database/sprint.ts'
import { markSeen, saveMachineEvents, applyInventory } from '../machines/machine-state.ts'
import { cancelPrompt, interruptAgent, movePrompt, enqueuePrompt } from './prompts.ts'
import { answerSprint, startSprint, stopSprint, messageSprint } from '../sprints/sprints.ts'
import { handlePromptEnded } from './reports.ts'

const requester = { name: 'ada' }
const goalSprint = { goal: 'Ship it', doneWhen: [], ifBusy: 'interrupt' as const }

const known = { version: '0', platform: 'test', bootEpoch: 1, at: 0, name: 'a machine', labels: [], roots: [] }
/** The inventory of a machine without agents. */
const emptyInventory = { ...known, slots: 4, agents: [], waiting: 0 }

function createDeferred() {
  let release = () => {}
  const released = new Promise<void>((resolve) => (release = resolve))
  return { released, release: () => release() }
}

describe.each(kinds)('the queue of an agent on %s', (kind) => {
  let database: Database
  let world: TestFleet
  beforeAll(async () => {
    database = await createTestDatabase(kind)
    world = await createTestFleet(database)
  }, 120_000)
  afterAll(() => world?.fleet.close(), 60_000)

  it('runs its prompts one by one, in an order that users can change', async () => {
    const { fleet } = world
    const first = createDeferred()
    const agent = await createTestAgent(fleet, {
      text: async () => {
        await first.released
        return buildOutcome()
      },
    })
    const queued = []
    for (const prompt of ['a', 'b', 'c', 'd', 'e'])
      queued.push(await enqueuePrompt(fleet, agent.id, { prompt }, requester))
    const [, b, c, d, e] = queued.map(({ id }) => id)
    await movePrompt(fleet, agent.id, e ?? '', b ?? '')
    await movePrompt(fleet, agent.id, c ?? '', null)
    await cancelPrompt(fleet, agent.id, d ?? '')
    first.release()
    const ended = await waitUntil(agent.prompts, (all) => all.every(({ endedAt }) => endedAt !== null))
    expect(ended.filter(({ status }) => status === 'cancelled').map(({ prompt }) => prompt)).toEqual(['d'])
    const texts = agent.machine.state.prompts.map(({ asked }) => (asked.kind === 'text' ? asked.text : ''))
    expect(texts).toEqual(['a', 'e', 'b', 'c'])
    expect(agent.machine.state.overlaps).toBe(0)
    await agent.machine.close()
  })

  it('has at most one running prompt, whatever users try', async () => {
    const { fleet } = world
    const never = createDeferred()
    const agent = await createTestAgent(fleet, { text: () => never.released.then(() => buildOutcome()) })
    await enqueuePrompt(fleet, agent.id, { prompt: 'a' }, requester)
    const second = await enqueuePrompt(fleet, agent.id, { prompt: 'b' }, requester)
    const forced = database.db.update(agentPrompts).set({ status: 'running' }).where(eq(agentPrompts.id, second.id))
    const refusal: unknown = await forced.then(
      () => undefined,
      (error: unknown) => error,
    )
    expect(isUniqueViolation(refusal)).toBe(true)
    never.release()
    await waitUntil(agent.prompts, (all) => all.every(({ endedAt }) => endedAt !== null))
    await agent.machine.close()
  })

  it('applies a report once, though it arrives three times concurrently', async () => {
    const { fleet, errors: troubles } = world
    const before = troubles.length
    const agent = await createTestAgent(fleet, {
      reportsTimes: 3,
      attempt: (_, n) => reported(n < 5 ? {} : { status: 'goal-complete' }),
    })
    await startSprint(fleet, agent.id, goalSprint, requester)
    const [sprint] = await waitUntil(agent.sprints, ([row]) => row?.status === 'completed')
    expect(sprint?.progress.iterations.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5])
    expect(agent.machine.state.prompts).toHaveLength(5)
    expect(troubles.slice(before)).toEqual([])
    const [prompt] = await agent.prompts()
    const promptId = prompt?.id ?? ''
    const report = { promptId, agentId: agent.id, endedAt: 0, end: { kind: 'cancelled' as const } }
    await Promise.all([1, 2, 3].map(() => handlePromptEnded(fleet, agent.machine.id, report)))
    expect(await agent.prompts()).toHaveLength(5)
    await agent.machine.close()
  })

  it('refuses reports of a machine about the agents of another', async () => {
    const { fleet } = world
    const agent = await createTestAgent(fleet, { text: () => new Promise(() => {}) })
    const { id: promptId } = await enqueuePrompt(fleet, agent.id, { prompt: 'a' }, requester)
    const report = { promptId, agentId: agent.id, endedAt: 0, end: { kind: 'cancelled' as const } }
    await expect(handlePromptEnded(fleet, randomUUID(), report)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await interruptAgent(fleet, agent.id)
    await waitUntil(agent.prompts, ([row]) => row?.status === 'cancelled')
    await agent.machine.close()
  })

  it('waits for a machine that is away, and keeps a prompt that was about to be sent', async () => {
    const { fleet } = world
    const agent = await createTestAgent(fleet, {})
    await agent.machine.vanish()
    const { id } = await enqueuePrompt(fleet, agent.id, { prompt: 'later' }, requester)
    expect((await agent.prompts()).map(({ status }) => status)).toEqual(['queued'])
    await agent.machine.connect()
    await waitUntil(agent.prompts, ([row]) => row?.status === 'finished')

    agent.machine.state.isThere = false
    await enqueuePrompt(fleet, agent.id, { prompt: 'in the outbox' }, requester)
    const waiting = () => database.db.select().from(machineOutbox).where(eq(machineOutbox.machineId, agent.machine.id))
    expect(await waiting()).toMatchObject([{ message: { type: 'prompt' } }])
    expect((await agent.prompts()).map(({ status }) => status)).toEqual(['finished', 'running'])
    await agent.machine.connect()
    const both = await waitUntil(agent.prompts, (all) => all.every(({ status }) => status === 'finished'))
    expect(both.map((prompt) => prompt.id)).toContain(id)
    expect(agent.machine.state.prompts).toHaveLength(2)
    await agent.machine.close()
  })

  it('resumes after the machine was away, and sends a prompt again that the machine does not know', async () => {
    const { fleet } = world
    const first = createDeferred()
    const agent = await createTestAgent(fleet, { text: () => first.released.then(() => buildOutcome()) })
    await enqueuePrompt(fleet, agent.id, { prompt: 'long' }, requester)
    await waitUntil(
      async () => agent.machine.state.prompts,
      (all) => all.length === 1,
    )
    await agent.machine.vanish()
    await agent.machine.connect()
    expect(agent.machine.state.prompts).toHaveLength(1)
    await agent.machine.vanish()
    agent.machine.forget()
    first.release()
    await agent.machine.connect()
    await waitUntil(agent.prompts, ([row]) => row?.endedAt !== null)
    expect((await agent.prompts()).map(({ status }) => status)).toEqual(['finished'])
    await agent.machine.close()
  })

  it('keeps a prompt running on a machine that has received it, though it was queued for a resend', async () => {
    const { fleet } = world
    const first = createDeferred()
    const agent = await createTestAgent(fleet, {
      attempt: () => first.released.then(() => reported({ status: 'goal-complete' })),
    })
    await startSprint(fleet, agent.id, goalSprint, requester)
    await waitUntil(
      async () => agent.machine.state.prompts,
      (all) => all.length === 1,
    )
    await agent.machine.vanish()
    await applyInventory(fleet, agent.machine.id, emptyInventory)
    expect((await agent.prompts()).map(({ status }) => status)).toEqual(['queued'])
    await agent.machine.connect()
    expect((await agent.prompts()).map(({ status }) => status)).toEqual(['running'])
    first.release()
    await waitUntil(agent.sprints, ([row]) => row?.status === 'completed')
    expect((await agent.prompts()).map(({ status, attempt }) => [status, attempt])).toEqual([['finished', 1]])
    expect(agent.machine.state.requests.map(({ type }) => type)).not.toContain('interrupt')
    await agent.machine.close()
  })

  it.each(['a sprint that is stopped', 'a user who cancels it'])(
    'is ended by %s while it is queued for a resend',
    async (who) => {
      const { fleet } = world
      const never = () => new Promise<never>(() => {})
      const agent = await createTestAgent(fleet, { attempt: never, text: never })
      const isOfSprint = who.startsWith('a sprint')
      const source = isOfSprint
        ? await startSprint(fleet, agent.id, goalSprint, requester)
        : await enqueuePrompt(fleet, agent.id, { prompt: 'long' }, requester)
      const running = async () => agent.machine.state.running.size
      await waitUntil(running, (size) => size === 1)
      // It is not sent there again.
      await database.db.update(machines).set({ status: 'draining' }).where(eq(machines.id, agent.machine.id))
      await applyInventory(fleet, agent.machine.id, emptyInventory)
      if (isOfSprint) await stopSprint(fleet, source.id, 'now', requester)
      else await cancelPrompt(fleet, agent.id, source.id)
      await waitUntil(running, (size) => size === 0)
      expect((await agent.prompts()).map(({ status }) => status)).toEqual(['cancelled'])
      await waitUntil(agent.row, (row) => row?.state === 'idle')
      await agent.machine.close()
    },
  )

  it('shares the slots of its machine with others', async () => {
    const { fleet } = world
    const both = createDeferred()
    let running = 0
    let most = 0
    const text = async () => {
      most = Math.max(most, ++running)
      if (running === 2) both.release()
      await both.released
      running--
      return buildOutcome()
    }
    const one = await createTestAgent(fleet, { text }, { machine: { slots: 2 } })
    const others = await Promise.all([1, 2, 3].map(() => createAnotherTestAgent(fleet, one.machine.id)))
    for (const { id } of [one, ...others]) await enqueuePrompt(fleet, id, { prompt: 'work' }, requester)
    for (const { prompts } of [one, ...others]) await waitUntil(prompts, ([row]) => row?.status === 'finished')
    expect(most).toBe(2)
    await one.machine.close()
  })

  it('lets the agents of a machine take turns when two loops share one slot', async () => {
    const { fleet } = world
    const script = { attempt: (_: unknown, n: number) => reported(n < 15 ? {} : { status: 'goal-complete' }) }
    const one = await createTestAgent(fleet, script, { machine: { slots: 1 } })
    const other = await createAnotherTestAgent(fleet, one.machine.id)
    for (const { id } of [one, other]) await startSprint(fleet, id, goalSprint, requester)
    for (const { sprints: rows } of [one, other]) await waitUntil(rows, ([row]) => row?.status === 'completed')
    const turns = one.machine.state.prompts.map(({ agentId }) => (agentId === one.id ? 'one' : 'other'))
    // The first loop is alone until the second one has started.
    const both = turns.indexOf('other')
    expect(turns.slice(both, both + 6)).toEqual(['other', 'one', 'other', 'one', 'other', 'one'])
    await one.machine.close()
  })

  it('runs a prompt again when the machine ends it without a request', async () => {
    const { fleet } = world
    const attempt = (_: unknown, n: number) =>
      n === 1 ? ({ kind: 'aborted' } as const) : reported({ status: 'goal-complete' })
    const agent = await createTestAgent(fleet, { attempt })
    await startSprint(fleet, agent.id, goalSprint, requester)
    const [sprint] = await waitUntil(agent.sprints, ([row]) => row?.status === 'completed')
    expect(sprint?.progress.iterations).toMatchObject([{ number: 1, attempts: 2, verdict: 'accepted' }])
    await agent.machine.close()
  })

  it('parks all agents of an account at its usage limit, and resumes by itself', async () => {
    const { fleet } = world
    const account = randomUUID()
    const resetsAt = Date.now() + 3_600_000
    const limit = {
      kind: 'failed',
      class: 'usage_limit',
      reason: 'five hours are over',
      retryable: true,
      resetsAt,
    } as const
    const script = {
      attempt: (_: unknown, number: number) => (number === 1 ? limit : reported({ status: 'goal-complete' })),
    }
    const one = await createTestAgent(fleet, script, { account })
    await startSprint(fleet, one.id, goalSprint, requester)
    await waitUntil(one.sprints, ([row]) => row?.status === 'parked')
    const other = await createAnotherTestAgent(fleet, one.machine.id, { account })
    await startSprint(fleet, other.id, goalSprint, requester)
    await enqueuePrompt(fleet, other.id, { prompt: 'and me?' }, requester)
    expect((await other.sprints()).map(({ status }) => status)).toEqual(['parked'])
    expect((await other.prompts()).map(({ status }) => status)).toEqual(['parked', 'parked'])
    expect(one.machine.state.prompts).toHaveLength(1)
    world.advanceClock(2 * 3_600_000)
    await markSeen(fleet, one.machine.id)
    for (const { sprints: rows } of [one, other]) await waitUntil(rows, ([row]) => row?.status === 'completed')
    await waitUntil(other.prompts, (all) => all.every(({ status }) => status === 'finished'))
    expect(one.machine.state.prompts.length).toBe(4)
    await one.machine.close()
  })

  it('waits for an answer across any number of restarts', async () => {
    const attempt = (_: unknown, n: number) => reported({ status: n === 1 ? 'needs-human' : 'goal-complete' })
    const agent = await createTestAgent(world.fleet, { attempt })
    const { id } = await startSprint(world.fleet, agent.id, goalSprint, requester)
    await waitUntil(agent.sprints, ([row]) => row?.status === 'needs-human')
    await agent.machine.close()
    await world.fleet.close()
    world = await createTestFleet(database)
    const again = await createTestAgent(world.fleet, { attempt: (_) => attempt(_, 2) }, { machineId: agent.machine.id })
    await answerSprint(world.fleet, id, { answer: 'yes' }, requester)
    const [sprint] = await waitUntil(agent.sprints, ([row]) => row?.status === 'completed')
    expect(sprint?.progress.iterations.map(({ verdict }) => verdict)).toEqual(['needs-human', 'accepted'])
    await again.machine.close()
  })

  it('interrupts the agent for an urgent message, and continues the same iteration', async () => {
    const { fleet } = world
    const never = new Promise<never>(() => {})
    const agent = await createTestAgent(fleet, {
      attempt: (_, n) => (n === 1 ? never : reported({ status: 'goal-complete' })),
    })
    const { id } = await startSprint(fleet, agent.id, goalSprint, requester)
    await waitUntil(
      async () => agent.machine.state.prompts,
      (all) => all.length === 1,
    )
    await messageSprint(fleet, id, { text: 'not that way', now: true }, requester)
    const [sprint] = await waitUntil(agent.sprints, ([row]) => row?.status === 'completed')
    expect(sprint?.progress.iterations).toMatchObject([{ number: 1, attempts: 2, verdict: 'accepted' }])
    expect((await agent.prompts())[1]?.prompt).toContain('not that way')
    await agent.machine.close()
  })

  it('keeps a prompt whose machine is silent, and notifies users', async () => {
    const { fleet, notices } = world
    const first = createDeferred()
    const agent = await createTestAgent(fleet, { text: () => first.released.then(() => buildOutcome()) })
    await enqueuePrompt(fleet, agent.id, { prompt: 'long' }, requester)
    await waitUntil(
      async () => agent.machine.state.prompts,
      (all) => all.length === 1,
    )
    world.advanceClock(3_600_000)
    const [silent] = await waitUntil(agent.prompts, ([row]) => row?.error !== null)
    expect(silent).toMatchObject({ status: 'running', leaseUntil: null })
    const recorded = notices.filter((notice) => notice.agentId === agent.id)
    expect(recorded).toMatchObject([{ event: 'machine-lost', machineId: agent.machine.id }])
    first.release()
    await waitUntil(agent.prompts, ([row]) => row?.status === 'finished')
    await agent.machine.close()
  })

  it('stores the events of machines once and in order', async () => {
    const { fleet } = world
    const agent = await createTestAgent(fleet, { attempt: () => new Promise(() => {}) })
    const { id: sprintId } = await startSprint(fleet, agent.id, goalSprint, requester)
    const note = (seq: number) => ({
      seq,
      at: 0,
      sprintId,
      event: { type: 'note' as const, level: 'info' as const, text: `${seq}` },
    })
    expect(
      await saveMachineEvents(fleet, agent.machine.id, { agentId: agent.id, events: [note(1), note(2)] }),
    ).toMatchObject({
      stored: 2,
    })
    expect(
      await saveMachineEvents(fleet, agent.machine.id, { agentId: agent.id, events: [note(1), note(2), note(3)] }),
    ).toMatchObject({ stored: 3 })
    const rows = await database.db.select().from(events).where(eq(events.sprintId, sprintId)).orderBy(events.seq)
    const recorded = rows.filter(({ kind: what }) => what === 'event')
    expect(recorded.map(({ seq }) => seq)).toEqual(recorded.map((_, index) => index + 1))
    expect(recorded.flatMap(({ payload }) => (payload?.type === 'note' ? payload.text : []))).toEqual(['1', '2', '3'])
    const [{ seq } = { seq: 0 }] = await database.db.select().from(sprints).where(eq(sprints.id, sprintId))
    expect(seq).toBe(recorded.length)
    await agent.machine.close()
  })
})
