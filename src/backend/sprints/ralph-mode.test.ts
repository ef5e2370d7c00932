import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { StartRalphMode } from '../../contract/fleet/sprint.ts'
import { RalphError } from '../../contract/errors.ts'
import { red } from '../../../test/support/builders.ts'
import { locked, type Script } from '../../../test/support/simulated-machine.ts'
import {
  createTestDatabase,
  createTestFleet,
  createTestAgent,
  kinds,
  waitUntil,
  type TestFleet,
} from '../../../test/fleet/test-fleet.ts'
import type { Database } from '../database/database.ts'
import { questions } from '../database/question.ts'
import { sprintOrders } from '../database/sprint.ts'
import { usage } from '../database/usage.ts'
import { applyInventory } from '../machines/machine-state.ts'
import { enqueuePrompt } from '../prompts/prompts.ts'
import { startRalphMode, stopRalphMode } from './ralph-mode.ts'
import { answerSprint, resumeSprint } from './sprints.ts'

const requester = { name: 'ada' }
const createTask = (overrides: Partial<StartRalphMode> = {}): StartRalphMode => ({
  taskDescription: 'Ship it',
  ifBusy: 'interrupt',
  ...overrides,
})

/** The agent deletes its lock in this prompt. */
const doneIn =
  (last: number, text?: string): NonNullable<Script['attempt']> =>
  (_, number) =>
    locked(number < last ? { exists: true } : { exists: false, outcome: 'done', text })

/** A promise with its resolve function. */
function createDeferred() {
  let release = () => {}
  const released = new Promise<void>((resolve) => (release = resolve))
  return { released, release: () => release() }
}

describe.each(kinds)('Ralph Mode on %s', (kind) => {
  let database: Database
  let world: TestFleet
  let ask: Script['ask']
  beforeAll(async () => {
    database = await createTestDatabase(kind)
    world = await createTestFleet(database, { ask: (type, body) => ask?.(type, body) })
  }, 120_000)
  afterAll(() => world?.fleet.close(), 60_000)

  it('repeats until the agent deletes its lock, then says why it ended', async () => {
    const { fleet, notices } = world
    const agent = await createTestAgent(fleet, { attempt: doneIn(3, 'all done') })
    const { sprintId } = await startRalphMode(fleet, agent.id, createTask(), requester)
    const [sprint] = await waitUntil(agent.sprints, ([row]) => row?.status === 'completed')
    expect(sprint?.progress.iterations.map(({ verdict }) => verdict)).toEqual(['continue', 'continue', 'accepted'])
    expect(await agent.row()).toMatchObject({
      state: 'idle',
      inRalphMode: false,
      ralphModeTaskDescription: null,
      ralphModeLastPromptAt: null,
      notesFolder: '/home/agent/notes',
    })
    expect((await agent.prompts()).map(({ status }) => status)).toEqual(['finished', 'finished', 'finished'])
    expect(notices.findLast((notice) => notice.sprintId === sprintId)).toMatchObject({
      event: 'completed',
      text: 'an agent: completed: all done',
    })
    const used = await database.db.select().from(usage).where(eq(usage.agentId, agent.id))
    expect(used).toMatchObject([{ model: 'a-model', iterations: 3, inputTokens: 30, unpriced: 0 }])
    await agent.machine.close()
  })

  it('is idle between two prompts, as in 002:147-150 (row 182)', async () => {
    const { fleet } = world
    const checkpoint = createDeferred()
    const agent = await createTestAgent(fleet, {
      attempt: doneIn(2),
      carryOut: async ({ type }) => {
        if (type === 'make-checkpoint') await checkpoint.released
        return {}
      },
    })
    await startRalphMode(fleet, agent.id, createTask(), requester)
    await waitUntil(agent.prompts, ([first]) => first?.status === 'finished')
    expect(await agent.row()).toMatchObject({ state: 'idle', inRalphMode: true })
    expect(await agent.prompts()).toHaveLength(1)
    checkpoint.release()
    await waitUntil(agent.prompts, ([, second]) => second?.status === 'finished')
    await waitUntil(agent.row, (row) => row?.state === 'idle' && !row.inRalphMode)
    await agent.machine.close()
  })

  it('runs checks once, even if they end when they are about to be sent again', async () => {
    const { fleet, errors: troubles } = world
    const agent = await createTestAgent(fleet, {
      attempt: doneIn(1),
      carryOut: async () => {
        // The message was still on its way when the machine reconnected and sent its inventory.
        const known = { version: '0', platform: 'test', bootEpoch: 1, at: 0, name: 'a machine', labels: [], roots: [] }
        await applyInventory(fleet, agent.machine.id, { ...known, slots: 4, agents: [], waiting: 0 })
        return {}
      },
    })
    await startRalphMode(fleet, agent.id, createTask({ doneWhen: [{ run: 'true' }] }), requester)
    await waitUntil(agent.sprints, ([row]) => row?.status === 'completed')
    expect(await agent.row()).toMatchObject({ state: 'idle', inRalphMode: false })
    const orders = await database.db.select().from(sprintOrders).where(eq(sprintOrders.agentId, agent.id))
    expect(orders.filter(({ endedAt }) => endedAt === null)).toEqual([])
    expect(troubles).toEqual([])
    await agent.machine.close()
  })

  it('sends the same prompt every time, with the path of the notes folder', async () => {
    const agent = await createTestAgent(world.fleet, { attempt: doneIn(2) })
    await startRalphMode(world.fleet, agent.id, createTask(), requester)
    await waitUntil(agent.sprints, ([row]) => row?.status === 'completed')
    const [first, second] = (await agent.prompts()).map(({ prompt }) => prompt)
    expect(first).toContain('delete the /home/agent/notes/.task-lock file')
    expect(first).not.toContain('Ship it')
    expect(second).toBe(first)
    await agent.machine.close()
  })

  it('runs prompts of users between two of its own', async () => {
    const { fleet } = world
    const agent = await createTestAgent(fleet, {
      attempt: async (prompt, number) => {
        if (number === 1) await enqueuePrompt(fleet, agent.id, { prompt: 'and me?' }, requester)
        return doneIn(4)(prompt, number)
      },
    })
    await startRalphMode(fleet, agent.id, createTask(), requester)
    await waitUntil(agent.sprints, ([row]) => row?.status === 'completed')
    expect(agent.machine.state.prompts.map(({ asked }) => asked.kind)).toEqual(['order', 'text', 'order', 'order'])
    await agent.machine.close()
  })

  it('treats a deleted lock as a claim: a failed check sends the agent back to work, with the output of the check', async () => {
    const { fleet } = world
    const agent = await createTestAgent(fleet, {
      attempt: doneIn(1),
      carryOut: (order, number) => (order.type === 'run-checks' && number === 2 ? { results: [red('npm test')] } : {}),
    })
    await startRalphMode(fleet, agent.id, createTask({ doneWhen: [{ run: 'npm test' }] }), requester)
    const [sprint] = await waitUntil(agent.sprints, ([row]) => row?.status === 'completed')
    expect(sprint?.progress.iterations.map(({ verdict }) => verdict)).toEqual(['refused', 'accepted'])
    const [, second] = await agent.prompts()
    expect(second?.prompt).toContain('## Refused: npm test')
    expect(second?.prompt).toContain('1 failing')
    await agent.machine.close()
  })

  it('asks a person when the agent is stuck, and continues with the answer (row 188)', async () => {
    const { fleet } = world
    const agent = await createTestAgent(fleet, {
      attempt: (prompt, number) =>
        number === 1 ? locked({ exists: false, outcome: 'stuck', text: 'Which key?' }) : doneIn(2)(prompt, number),
    })
    const { sprintId } = await startRalphMode(fleet, agent.id, createTask(), requester)
    await waitUntil(agent.sprints, ([row]) => row?.status === 'needs-human')
    const open = () => database.db.select().from(questions).where(eq(questions.sprintId, sprintId))
    expect(await open()).toMatchObject([{ status: 'open', reason: 'Which key?' }])
    // Seed 002:225-231: the lock is gone, so Ralph Mode is off. The question stays (row 188).
    expect(await agent.row()).toMatchObject({ state: 'idle', inRalphMode: false, ralphModeTaskDescription: null })
    await answerSprint(fleet, sprintId, { answer: 'the blue one' }, requester)
    await waitUntil(agent.row, (row) => row?.inRalphMode === true)
    await waitUntil(agent.sprints, ([row]) => row?.status === 'completed')
    expect(await open()).toMatchObject([{ status: 'answered', answer: 'the blue one', answeredBy: 'ada' }])
    expect((await agent.prompts()).at(-1)?.prompt).toContain('Answer: the blue one')
    await agent.machine.close()
  })

  it('writes nothing if the machine cannot be set up', async () => {
    const agent = await createTestAgent(world.fleet)
    ask = (type) => {
      if (type === 'ralph-mode-setup') throw new RalphError('MACHINE_REFUSED', 'no room')
      return undefined
    }
    await expect(startRalphMode(world.fleet, agent.id, createTask(), requester)).rejects.toMatchObject({
      code: 'MACHINE_REFUSED',
    })
    ask = undefined
    expect(await agent.row()).toMatchObject({ inRalphMode: false, sprintId: null })
    expect(await agent.sprints()).toEqual([])
    await agent.machine.close()
  })

  it('interrupts the agent, and uses the model of its last prompt (rows 162, 166)', async () => {
    const { fleet } = world
    const never = createDeferred()
    const agent = await createTestAgent(fleet, {
      text: async () => {
        await never.released
        throw new Error('it should be interrupted')
      },
      attempt: doneIn(1),
    })
    await enqueuePrompt(fleet, agent.id, { prompt: 'wait for ever', model: 'opus' }, requester)
    await waitUntil(agent.row, (row) => row?.state === 'running')
    await startRalphMode(fleet, agent.id, createTask(), requester)
    await waitUntil(agent.sprints, ([row]) => row?.status === 'completed')
    expect((await agent.prompts()).map(({ status, model }) => ({ status, model }))).toEqual([
      { status: 'cancelled', model: 'opus' },
      { status: 'finished', model: 'opus' },
    ])
    expect(agent.machine.state.overlaps).toBe(0)
    await agent.machine.close()
  })

  it.each([
    { when: 'now' as const, verdicts: [], prompts: ['cancelled'] },
    { when: 'turn' as const, verdicts: [], prompts: ['finished'] },
    { when: 'iteration' as const, verdicts: ['continue'], prompts: ['finished'] },
  ])('stops $when, once the machine confirms it, and can be resumed', async ({ when, verdicts, prompts }) => {
    const { fleet } = world
    const first = createDeferred()
    const agent = await createTestAgent(fleet, {
      attempt: async (prompt, number) => {
        if (number === 1) await first.released
        return doneIn(2)(prompt, number)
      },
    })
    const { sprintId } = await startRalphMode(fleet, agent.id, createTask(), requester)
    await waitUntil(agent.row, (row) => row?.state === 'running')
    await stopRalphMode(fleet, agent.id, when, requester)
    if (when !== 'now') first.release()
    const [sprint] = await waitUntil(agent.sprints, ([row]) => row?.status === 'interrupted')
    await waitUntil(agent.row, (row) => row?.state === 'idle')
    expect(sprint?.progress.iterations.map(({ verdict }) => verdict)).toEqual(verdicts)
    expect((await agent.prompts()).map(({ status }) => status)).toEqual(prompts)
    expect(await agent.row()).toMatchObject({ inRalphMode: false, ralphModeTaskDescription: null })
    await waitUntil(
      async () => agent.machine.state.requests,
      (all) => all.some(({ type }) => type === 'ralph-mode-end'),
    )
    await resumeSprint(fleet, sprintId)
    await waitUntil(agent.sprints, ([row]) => row?.status === 'completed')
    await agent.machine.close()
  })

  it.each([
    { asked: ['resume'] as const, ends: 'completed' },
    { asked: ['resume', 'stop'] as const, ends: 'interrupted' },
  ])('applies the last request ($asked) once the machine confirms the stop', async ({ asked, ends }) => {
    const { fleet } = world
    const never = createDeferred()
    const agent = await createTestAgent(fleet, {
      attempt: async (prompt, number) => {
        if (number === 1) await never.released
        return doneIn(2)(prompt, number)
      },
    })
    const { sprintId } = await startRalphMode(fleet, agent.id, createTask(), requester)
    await waitUntil(
      async () => agent.machine.state.prompts.length,
      (count) => count === 1,
    )
    agent.machine.state.isThere = false
    await stopRalphMode(fleet, agent.id, 'now', requester)
    const wish = {
      resume: () => resumeSprint(fleet, sprintId),
      stop: () => stopRalphMode(fleet, agent.id, 'now', requester),
    }
    for (const verb of asked) await wish[verb]()
    expect((await agent.sprints())[0]?.status).toBe('interrupted')
    await agent.machine.connect()
    await waitUntil(agent.prompts, (rows) => rows[0]?.status === 'cancelled')
    const [sprint] = await waitUntil(agent.sprints, ([row]) => row?.status === ends)
    expect(sprint?.resumeAskedAt).toBeNull()
    expect(agent.machine.state.overlaps).toBe(0)
    await agent.machine.close()
  })

  it('respects the minimum interval between its prompts (row 195)', async () => {
    const { fleet } = world
    const agent = await createTestAgent(fleet, { attempt: doneIn(2) })
    await startRalphMode(fleet, agent.id, createTask({ minIntervalMs: 1500 }), requester)
    await waitUntil(agent.sprints, ([row]) => row?.status === 'completed')
    const [first, second] = await agent.prompts()
    expect((second?.startedAt ?? 0) - (first?.startedAt ?? 0)).toBeGreaterThanOrEqual(1500)
    await agent.machine.close()
  })
})
