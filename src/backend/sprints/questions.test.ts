import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildProgress } from '../../../test/support/builders.ts'
import { locked } from '../../../test/support/simulated-machine.ts'
import {
  createTestAgent,
  createTestDatabase,
  createTestFleet,
  kinds,
  type TestFleet,
  waitUntil,
} from '../../../test/fleet/test-fleet.ts'
import type { QuestionStatus } from '../../contract/fleet/question.ts'
import { newUuid } from '../../platform/uuid.ts'
import type { Database } from '../database/database.ts'
import { questions } from '../database/question.ts'
import { sprints } from '../database/sprint.ts'
import { listQuestions } from '../views/sprints.ts'
import { startRalphMode } from './ralph-mode.ts'
import { answerSprint } from './sprints.ts'

describe.each(kinds)('questions on %s', (kind) => {
  let database: Database
  let world: TestFleet
  beforeAll(async () => {
    database = await createTestDatabase(kind)
    world = await createTestFleet(database)
  }, 120_000)
  afterAll(() => world?.fleet.close(), 60_000)

  it('are listed open ones first, then by age, each once, however many are open', async () => {
    const agent = await createTestAgent(world.fleet)
    const { rev, status, ...progress } = buildProgress({ status: 'needs-human' })
    // A sprint has one open question. Every third one is answered; two are asked in each millisecond.
    const questionRows = Array.from({ length: 375 }, (_, n) => ({
      id: newUuid(),
      sprintId: newUuid(),
      agentId: agent.id,
      status: n % 3 === 0 ? ('answered' as const) : ('open' as const),
      reason: `Question ${n}?`,
      details: '',
      askedAt: Math.floor(n / 2),
    }))
    const fields = { agentId: agent.id, protocol: 'report' as const, createdAt: 1, updatedAt: 1, rev, status }
    await database.db
      .insert(sprints)
      .values(questionRows.map(({ sprintId }) => ({ ...fields, id: sprintId, progress: { rev, status, ...progress } })))
    await database.db.insert(questions).values(questionRows)
    const viewer = { userId: newUuid(), admin: true }
    const list = async (limit: number, filter: { status?: QuestionStatus } = {}) => {
      const pages: string[][] = []
      let cursor: string | undefined
      do {
        const page = await listQuestions(database.db, viewer, { cursor, limit, ...filter })
        pages.push(page.items.map(({ id }) => id))
        cursor = page.next
      } while (cursor !== undefined)
      return pages
    }
    const newestFirst = [...questionRows].toSorted((a, b) => b.askedAt - a.askedAt || (a.id < b.id ? 1 : -1))
    const select = (listedStatus: QuestionStatus) =>
      newestFirst.filter((row) => row.status === listedStatus).map(({ id }) => id)
    const expected = [...select('open'), ...select('answered')]
    const pages = await list(200)
    expect(pages.map((page) => page.length)).toEqual([200, 175])
    expect(pages.flat()).toEqual(expected)
    expect((await list(7)).flat()).toEqual(expected)
    expect((await list(50)).flat()).toEqual(expected)
    expect((await list(50, { status: 'open' })).flat()).toEqual(select('open'))
    expect((await list(50, { status: 'answered' })).flat()).toEqual(select('answered'))
    await database.db.delete(questions).where(eq(questions.agentId, agent.id))
  })

  it('accept one of two answers that arrive at the same time, and the other user learns who was first', async () => {
    const { fleet } = world
    const ends = ['stuck', 'stuck', 'done'] as const
    const agent = await createTestAgent(fleet, {
      attempt: (_, number) =>
        locked({ exists: false, outcome: ends[number - 1] ?? 'done', text: `Which door is number ${number}?` }),
    })
    const task = { taskDescription: 'Open the door', ifBusy: 'interrupt' as const }
    const { sprintId } = await startRalphMode(fleet, agent.id, task, { name: 'ada' })
    const ofSprint = () =>
      database.db.select().from(questions).where(eq(questions.sprintId, sprintId)).orderBy(questions.askedAt)
    const [first] = await waitUntil(ofSprint, ([row]) => row?.status === 'open')
    const users = ['ada', 'grace']
    const answers = await Promise.allSettled(
      users.map((name) => answerSprint(fleet, sprintId, { answer: `${name}'s door`, questionId: first?.id }, { name })),
    )
    const winner = answers.findIndex(({ status }) => status === 'fulfilled')
    const refusal = {
      code: 'NOT_RUNNING',
      message: `${users[winner]} has already answered this question: “${users[winner]}'s door”`,
    }
    expect(answers[1 - winner]).toMatchObject({ status: 'rejected', reason: refusal })

    // The next question is another one: an answer to the first must not reach it.
    const [, second] = await waitUntil(ofSprint, (rows) => rows[1]?.status === 'open')
    await expect(
      answerSprint(fleet, sprintId, { answer: 'late', questionId: first?.id }, { name: 'grace' }),
    ).rejects.toMatchObject(refusal)
    await expect(
      answerSprint(fleet, sprintId, { answer: 'late', questionId: newUuid() }, { name: 'grace' }),
    ).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await answerSprint(fleet, sprintId, { answer: 'the last', questionId: second?.id }, { name: 'grace' })
    await waitUntil(agent.sprints, ([row]) => row?.status === 'completed')
    expect((await ofSprint()).map(({ status, answer }) => [status, answer])).toEqual([
      ['answered', `${users[winner]}'s door`],
      ['answered', 'the last'],
    ])
    await agent.machine.close()
  })
})
