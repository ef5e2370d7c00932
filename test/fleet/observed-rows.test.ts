import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { and, eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import type { Database } from '../../src/backend/database/database.ts'
import { events } from '../../src/backend/database/event.ts'
import { questions } from '../../src/backend/database/question.ts'
import { agents } from '../../src/backend/database/agent.ts'
import { iterations, sprints } from '../../src/backend/database/sprint.ts'
import { saveObservation } from '../../src/backend/sprints/observed-sprints.ts'
import { ensureProjectAgent } from '../../src/backend/agents/project-agent.ts'
import { observedRowId } from '../../src/cli/serve/observed-sprint.ts'
import { observeSprints } from '../../src/cli/serve/observe-sprints.ts'
import { releaseState } from '../../src/storage/state/sprint-folder.ts'
import { answered, buildProgress, noon, type Play, reports, started } from '../support/builders.ts'
import { createTestFolder } from '../support/folder.ts'
import { openOwnedSprint } from '../support/owned-sprint.ts'
import {
  createTestDatabase,
  createTestFleet,
  createTestAgent,
  createAnotherTestAgent,
  waitUntil,
  type TestFleet,
} from './test-fleet.ts'

let database: Database
let world: TestFleet

beforeAll(async () => {
  database = await createTestDatabase('embedded')
  world = await createTestFleet(database)
}, 120_000)
afterAll(() => world.fleet.close())

const question = {
  status: 'needs-human',
  humanNeeded: { reason: 'Which database?', details: 'staging or production' },
} as const

/** A project without sprints, its agent, and an observer. */
async function createTestProject() {
  const project = createTestFolder()
  const { id: agentId, row: agent } = await createTestAgent(world.fleet)
  const folder = (name: string) => join(project, '.claude', 'sprints', name)
  const logged: string[] = []
  const observe = () => {
    const log = (text: string) => void logged.push(text)
    const observer = observeSprints({ fleet: world.fleet, agentId, sprints: folder(''), log })
    onTestFinished(observer.close)
    return observer
  }
  const openRows = (name: string) => {
    const id = observedRowId(agentId, name)
    const { db } = database
    return {
      id,
      /** `xmin` changes with every write. */
      sprint: async () =>
        (
          await db
            .select({ status: sprints.status, rev: sprints.rev, seq: sprints.seq, written: sql<string>`sprint.xmin` })
            .from(sprints)
            .where(eq(sprints.id, id))
        )[0],
      events: () =>
        db
          .select()
          .from(events)
          .where(and(eq(events.sprintId, id), eq(events.kind, 'event')))
          .orderBy(events.seq),
      iterations: () => db.select().from(iterations).where(eq(iterations.sprintId, id)).orderBy(iterations.number),
      questions: () => db.select().from(questions).where(eq(questions.sprintId, id)).orderBy(questions.askedAt),
    }
  }
  return { folder, observe, openRows, agent, logged }
}

/** Runs the sprint in this folder for a while, resuming from its last state. */
async function runSprintIn(sprintDir: string, ...plays: readonly Play[]) {
  mkdirSync(sprintDir, { recursive: true })
  const sprint = await openOwnedSprint(sprintDir)
  await sprint.play(...plays)
  return sprint
}

const createRunSprint = async (...args: Parameters<typeof runSprintIn>): Promise<void> =>
  (await runSprintIn(...args)).close()

const listTexts = (rows: readonly (typeof events.$inferSelect)[]): string[] =>
  rows.flatMap(({ payload }) => (payload?.type === 'agent' && payload.event.kind === 'text' ? payload.event.text : []))

it('shows existing sprints, adds nothing when it looks again, and catches up on what it missed', async () => {
  const { folder, observe, openRows, agent } = await createTestProject()
  const { id, ...rows } = openRows('auth')
  const sprint = await runSprintIn(folder('auth'), started({ agents: ['claude'] }))
  sprint.say('first')
  await sprint.play(reports({ status: 'continue' }))
  await sprint.close()

  const before = observe()
  await waitUntil(rows.sprint, (row) => row !== undefined)
  await before.refresh(id)
  const seen = await rows.sprint()
  expect(seen).toMatchObject({ status: 'interrupted' })
  expect(await agent()).toMatchObject({ sprintId: id })
  const stored = await rows.events()
  expect(listTexts(stored)).toEqual(['first'])
  await before.close()

  const again = observe()
  await waitUntil(async () => again.findFolder(id), Boolean)
  await again.refresh(id)
  expect(await rows.sprint()).toEqual(seen)
  expect(await rows.events()).toEqual(stored)
  await again.close()

  const resumed = await runSprintIn(folder('auth'), started({ agents: ['claude'] }))
  resumed.say('second', 2)
  const third = observe()
  await waitUntil(rows.events, (now) => listTexts(now).length === 2)
  await third.close()
  resumed.say('third', 2)
  await resumed.play(reports(question))
  await resumed.close()
  observe()
  await waitUntil(rows.sprint, (row) => row?.status === 'needs-human')
  const all = await rows.events()
  expect(all.slice(0, stored.length)).toEqual(stored)
  expect(all.map(({ seq }) => seq)).toEqual(all.map((_, index) => index + 1))
  expect(listTexts(all)).toEqual(['first', 'second', 'third'])
  expect((await rows.iterations()).map(({ verdict }) => verdict)).toEqual(['continue', 'needs-human'])
  expect(await rows.questions()).toMatchObject([{ status: 'open', reason: 'Which database?' }])
})

it('follows a sprint that runs in a terminal, and an answer given there', async () => {
  const { folder, observe, openRows } = await createTestProject()
  const rows = openRows('auth')
  const first = observe()
  const sprint = await runSprintIn(folder('auth'), started({ agents: ['claude'] }))
  sprint.say('one')
  await waitUntil(rows.events, (now) => listTexts(now).length === 1)
  expect(await rows.sprint()).toMatchObject({ status: 'in-progress' })
  await first.close()
  sprint.say('two')
  observe()
  sprint.say('three')
  await waitUntil(rows.events, (now) => listTexts(now).length > 2)
  expect(listTexts(await rows.events())).toEqual(['one', 'two', 'three'])
  await sprint.close()
  await waitUntil(rows.sprint, (row) => row?.status === 'interrupted')

  await createRunSprint(folder('auth'), started({ agents: ['claude'] }), reports(question))
  await waitUntil(rows.questions, ([row]) => row?.status === 'open')
  await createRunSprint(folder('auth'), answered('staging'))
  expect(await waitUntil(rows.questions, ([row]) => row?.status !== 'open')).toMatchObject([
    { status: 'answered', answer: 'staging', answeredBy: 'a terminal' },
  ])
  expect(await rows.sprint()).toMatchObject({ status: 'paused' })
})

it('survives sprints that are damaged, that vanish, or that are replaced under the same name', async () => {
  const { folder, observe, openRows, logged } = await createTestProject()
  const rows = openRows('asks')
  mkdirSync(join(folder('bad'), 'journal'), { recursive: true })
  writeFileSync(join(folder('bad'), 'PROGRESS.yaml'), 'not: [a progress')
  mkdirSync(folder('empty'))
  writeFileSync(join(folder('file')), '')
  await createRunSprint(folder('asks'), started({ agents: ['claude'] }), reports(question))

  observe()
  await waitUntil(rows.questions, ([row]) => row?.status === 'open')
  expect(logged).toEqual([expect.stringContaining(`the sprint in ${folder('bad')} cannot be shown: `)])

  renameSync(folder('asks'), folder('moved'))
  await waitUntil(rows.sprint, (row) => row?.status === 'interrupted')
  expect(await rows.questions()).toMatchObject([{ status: 'superseded' }])
  await waitUntil(openRows('moved').sprint, (row) => row?.status === 'needs-human')

  rmSync(folder('moved'), { recursive: true })
  await releaseState(folder('asks'))
  await createRunSprint(folder('asks'), { ...started({ agents: ['claude'] }), at: noon + 1 })
  await waitUntil(rows.sprint, (row) => row?.rev === 1)
  expect((await rows.events()).map(({ type }) => type)).toEqual(expect.arrayContaining(['sprint-started']))
  expect(await rows.iterations()).toEqual([])
  expect(await rows.questions()).toEqual([])
  expect(world.errors).toEqual([])
})

it('gives a folder one agent, with a program as soon as one exists, and leaves agents of users alone', async () => {
  const { row } = await createTestAgent(world.fleet)
  const machineId = (await row())?.machineId ?? ''
  const agentFor = (folder: string, program: string, problem?: string) =>
    ensureProjectAgent(world.fleet, { machineId, folder, name: 'app', program, problem }, { name: 'me' })

  const made = await agentFor('/srv/app', 'claude', 'install one')
  expect(made).toMatchObject({ name: 'app', state: 'failed', reason: 'no agent program: install one' })
  expect(await agentFor('/srv/app', 'claude', 'install one')).toEqual(made)
  const { id } = made
  expect(await agentFor('/srv/app', 'codex')).toMatchObject({ id, program: 'codex', state: 'idle', reason: null })
  expect(await agentFor('/srv/app', 'claude')).toMatchObject({ id, program: 'codex', state: 'idle' })

  const workspace = { kind: 'folder' as const, path: '/srv/other' }
  const own = await createAnotherTestAgent(world.fleet, machineId, {
    workspace,
    program: 'command:mine',
    state: 'creating',
  })
  const before = await own.row()
  expect(await agentFor('/srv/other', 'claude', 'install one')).toEqual(before)
  expect(await own.row()).toEqual(before)
})

it.each([
  ['is shown instead of one that rests', { status: 'paused' }, {}, true],
  ['does not replace one that is scheduled', { status: 'not-started' }, {}, false],
  ['does not replace Ralph Mode', { status: 'paused' }, { inRalphMode: true }, false],
] as const)('a sprint in a terminal %s', async (_, own, fields, isShown) => {
  const { id: agentId, row } = await createTestAgent(world.fleet)
  const [ownId, sprintId] = [observedRowId(agentId, 'own'), observedRowId(agentId, 'seen')]
  const at = { createdAt: noon, updatedAt: noon, rev: 0 }
  const values = { id: ownId, agentId, protocol: 'report', progress: buildProgress(own), ...own, ...at } as const
  await database.db.insert(sprints).values(values)
  await database.db
    .update(agents)
    .set({ sprintId: ownId, ...fields })
    .where(eq(agents.id, agentId))

  await saveObservation(world.fleet, agentId, {
    sprintId,
    progress: buildProgress({ status: 'in-progress' }),
    events: [],
  })

  expect((await row())?.sprintId).toBe(isShown ? sprintId : ownId)
})
