import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { deleteBudget, readBudgets, setBudget } from '../../src/backend/budgets/budgets.ts'
import type { Database } from '../../src/backend/database/database.ts'
import { machines } from '../../src/backend/database/machine.ts'
import { usage } from '../../src/backend/database/usage.ts'
import { access, users } from '../../src/backend/database/user.ts'
import { enqueuePrompt } from '../../src/backend/prompts/prompts.ts'
import { startRalphMode } from '../../src/backend/sprints/ralph-mode.ts'
import { retryBudgetWaits } from '../../src/backend/sprints/waits.ts'
import { isBudgetReason } from '../../src/contract/fleet/budget.ts'
import { locked } from '../support/simulated-machine.ts'
import { createTestAgent, createTestDatabase, createTestFleet, kinds, waitUntil, type TestFleet } from './test-fleet.ts'

const admin = { name: 'ada' }
const task = { taskDescription: 'Ship it', ifBusy: 'interrupt' as const }
const done = () => locked({ exists: false, outcome: 'done', text: 'done' })

describe.each(kinds)('a budget on %s', (kind) => {
  let database: Database
  let world: TestFleet
  beforeAll(async () => {
    database = await createTestDatabase(kind)
    world = await createTestFleet(database)
  }, 120_000)
  afterAll(() => world?.fleet.close(), 60_000)

  const today = () => new Date(world.fleet.clock.now()).toISOString().slice(0, 10)
  const spend = (agentId: string, costUsd: number) =>
    database.db.insert(usage).values({ day: today(), agentId, model: randomUUID(), costUsd, iterations: 1 })
  /** Machines count as seen at the new time; otherwise the sweep could disconnect them. */
  const advanceClock = async (ms: number) => {
    await database.db.update(machines).set({ lastSeenAt: world.fleet.clock.now() + ms })
    world.advanceClock(ms)
  }
  const nextMidnight = () => Date.parse(today()) + 86_400_000
  const status = async (agent: { sprints: () => Promise<{ status: string }[]> }) => (await agent.sprints())[0]?.status

  it('parks a covered sprint until midnight, warns once, and lets others work', async () => {
    const { fleet, notices } = world
    const covered = await createTestAgent(fleet, { attempt: done }, { labels: ['gpu'] })
    const other = await createTestAgent(fleet, { attempt: done })
    await setBudget(fleet, { scope: 'label', subject: 'gpu', period: 'day', limitUsd: 10, hard: true }, admin)
    await spend(covered.id, 10.5)
    await startRalphMode(fleet, covered.id, task, admin)
    const [parked] = await waitUntil(covered.sprints, ([row]) => row?.status === 'parked')
    expect(parked?.progress.parked).toEqual({
      reason: 'budget: $10.50 of $10.00 spent today by agents labelled gpu',
      until: nextMidnight(),
    })
    await startRalphMode(fleet, other.id, task, admin)
    await waitUntil(
      () => status(other),
      (found) => found === 'completed',
    )
    expect(covered.machine.state.prompts).toEqual([])
    await retryBudgetWaits(fleet)
    expect(notices.filter(({ event }) => event === 'budget')).toEqual([
      { event: 'budget', text: 'Budget: $10.50 of $10.00 spent today by agents labelled gpu' },
    ])
    await advanceClock(nextMidnight() + 61_000 - fleet.clock.now())
    await waitUntil(
      () => status(covered),
      (found) => found === 'completed',
    )
  })

  it('parks prompts of users too, and a raised or removed budget starts them', async () => {
    const { fleet } = world
    const ada = { id: randomUUID(), name: 'ada', role: 'member' as const, createdAt: 1 }
    await database.db.insert(users).values(ada)
    const agent = await createTestAgent(fleet, { attempt: done })
    await database.db.insert(access).values({ agentId: agent.id, userId: ada.id, level: 'owner' })
    await spend(agent.id, 5)
    const monthly = { scope: 'user' as const, subject: ada.id, period: 'month' as const, hard: true }
    const budget = await setBudget(fleet, { ...monthly, limitUsd: 5 }, admin)
    expect(budget).toMatchObject({ subjectName: 'ada', spentUsd: 5, state: 'spent' })
    await enqueuePrompt(fleet, agent.id, { prompt: 'Hello' }, admin)
    const [waiting] = await waitUntil(agent.prompts, ([row]) => row?.status === 'parked')
    expect(isBudgetReason(waiting?.error ?? '')).toBe(true)

    await setBudget(fleet, { ...monthly, limitUsd: 5.5 }, admin)
    await retryBudgetWaits(fleet)
    await waitUntil(agent.prompts, ([row]) => row?.status === 'finished')

    await setBudget(fleet, { ...monthly, limitUsd: 1 }, admin)
    await startRalphMode(fleet, agent.id, task, admin)
    await waitUntil(
      () => status(agent),
      (found) => found === 'parked',
    )
    await deleteBudget(fleet, budget.id)
    await retryBudgetWaits(fleet)
    await waitUntil(
      () => status(agent),
      (found) => found === 'completed',
    )
    expect(world.errors).toEqual([])
  })

  it('that is soft only notifies, and one for the fleet counts every agent', async () => {
    const { fleet, notices } = world
    await advanceClock(86_400_000)
    const agent = await createTestAgent(fleet, { attempt: done })
    await spend(agent.id, 9)
    const { id } = await setBudget(fleet, { scope: 'fleet', period: 'day', limitUsd: 10, hard: false }, admin)
    const warnings = () => notices.filter(({ text }) => text.endsWith('by the fleet')).length
    expect(await readBudgets(database.db, fleet.clock.now())).toContainEqual(
      expect.objectContaining({ id, scope: 'fleet', spentUsd: 9, state: 'near', resetsAt: nextMidnight() }),
    )
    await startRalphMode(fleet, agent.id, task, admin)
    await waitUntil(
      () => status(agent),
      (found) => found === 'completed',
    )
    expect(warnings()).toBe(1)
    await expect(deleteBudget(fleet, randomUUID())).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })
})
