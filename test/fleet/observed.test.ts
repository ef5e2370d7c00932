import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { stringify } from 'yaml'
import { createClient, type Client } from '../../src/client/client.ts'
import { RunningBackend } from '../../src/cli/serve/running-backend.ts'
import { ralphProgram } from '../support/paths.ts'
import { commitAll } from '../support/programs.ts'
import { createTestSprint, type TestSprint } from '../support/sprint.ts'
import { createDataFolder, waitUntil } from './test-fleet.ts'

const folder = '.claude/sprints/auth'
const proceed = { status: 'continue', summary: 'still at it' }
const question = {
  status: 'needs-human',
  summary: 'asks',
  humanNeeded: { reason: 'Which database?', details: 'staging or production' },
}

/** A repository with a sprint that changes a file, asks a question, is paused, and completes. */
async function createTestProject(): Promise<TestSprint> {
  const sprint = await createTestSprint({
    files: {
      's/SPRINT.yaml': null,
      [`${folder}/SPRINT.yaml`]: stringify({ workflow: 'ralph', goal: 'Ship it', 'sprint-id': 'auth' }),
      'a.txt': 'one\n',
    },
    answers: {
      1: { waits: 'go', run: 'echo two > a.txt', report: proceed },
      2: question,
      3: { waits: 'on', report: proceed },
      4: { status: 'goal-complete', summary: 'f', goalCompleteSummary: 'done' },
    },
  })
  await commitAll(sprint)
  return sprint
}

/**
 * `ralph serve` in the project, with a `claude` that only prints its version, because calls of the other one are
 * counted.
 */
async function serveIn(sprint: TestSprint): Promise<Client> {
  const data = await createDataFolder()
  await sprint.write('../tools/claude', '#!/bin/sh\necho "2.0.0 (Claude Code)"\n')
  await chmod(sprint.at('../tools/claude'), 0o755)
  const env = {
    PATH: `${sprint.at('../tools')}:${dirname(process.execPath)}:/usr/bin:/bin`,
    HOME: sprint.at('..', 'home'),
  }
  const args = [ralphProgram, 'serve', '--port', '0', '--data', data, '--json']
  const server = spawn(process.execPath, args, { cwd: sprint.at(), env, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = once(server, 'close')
  onTestFinished(async () => {
    server.kill('SIGTERM')
    await ended
  })
  let log = ''
  server.stderr.on('data', (text: Buffer) => (log += text.toString()))
  const isUp = async () => (await readFile(join(data, 'serve.json'), 'utf8').catch(() => '')) || log
  const text = await waitUntil(isUp, (output) => output.startsWith('{"origin"'), 60_000)
  const { origin, token } = RunningBackend.parse(JSON.parse(text))
  return createClient({ baseUrl: origin, token })
}

const run = (sprint: TestSprint) => sprint.start('run', folder, '--workflows', 'wf')

it('shows a sprint while it runs in a terminal, and forwards requests to it', async () => {
  const sprint = await createTestProject()
  const api = await serveIn(sprint)
  const first = run(sprint)

  const { items: started } = await waitUntil(
    () => api.listSprints({}),
    ({ items }) => items.some(({ progress }) => progress.live.some(({ stage }) => stage === 'agent')),
    60_000,
  )
  expect(started).toMatchObject([{ observed: true, progress: { goal: 'Ship it', sprintId: 'auth' } }])
  const sprintId = started[0]?.id ?? ''
  const now = () => api.getSprint({ sprintId })
  const isAt = (status: string) => waitUntil(now, ({ progress }) => progress.status === status)
  const { items: agents } = await api.listAgents({})
  expect(agents).toMatchObject([
    {
      agent: { name: 'project', program: 'claude', state: 'idle', workspace: { kind: 'folder', path: sprint.at() } },
      sprint: { id: sprintId, status: 'in-progress', iteration: 1 },
    },
  ])
  const agentId = agents[0]?.agent.id ?? ''
  await expect(api.startSprint({ agentId, goal: 'More' })).rejects.toMatchObject({ code: 'AGENT_BUSY' })
  await expect(api.restoreSprint({ sprintId, iteration: 0 })).rejects.toMatchObject({ code: 'SPRINT_LOCKED' })

  await api.tellSprint({ sprintId, text: 'Mind the gap' })
  await sprint.release('go')
  expect(await first.ended).toMatchObject({ exitCode: 2 })
  await isAt('needs-human')
  const listed = await api.listEvents({ sprintId, iteration: 1 })
  const kinds = listed.items.map(({ event }) => (event.type === 'agent' ? event.event.kind : event.type))
  expect(kinds.toReversed().filter((kind) => kind !== 'usage')).toEqual([
    'iteration-started',
    'attempt-started',
    'session',
    'text',
    'terminal',
    'iteration-ended',
  ])
  const { items: questions } = await api.listQuestions({ status: 'open' })
  expect(questions).toMatchObject([{ sprintId, agentName: 'project', goal: 'Ship it', reason: 'Which database?' }])

  await expect(api.resumeSprint({ sprintId })).rejects.toMatchObject({
    code: 'NOT_RUNNING',
    hint: expect.stringContaining(`ralph run ${folder}`),
  })
  const answered = await api.answerSprint({ sprintId, answer: 'staging' })
  expect(answered.progress).toMatchObject({ status: 'paused', answer: { answer: 'staging' } })
  expect((await api.listQuestions({})).items).toMatchObject([{ status: 'answered', answer: 'staging' }])

  const second = run(sprint)
  await sprint.called(3)
  await isAt('in-progress')
  await api.pauseSprint({ sprintId, when: 'iteration' })
  await sprint.release('on')
  expect(await second.ended).toMatchObject({ exitCode: 4 })
  await isAt('paused')
  await expect(api.stopSprint({ sprintId, when: 'now' })).rejects.toMatchObject({ code: 'NOT_RUNNING' })

  expect(await run(sprint).ended).toMatchObject({ exitCode: 0 })
  await isAt('completed')
  const { items: iterations } = await api.listIterations({ sprintId })
  expect(iterations.map(({ verdict }) => verdict)).toEqual(['accepted', 'continue', 'needs-human', 'continue'])
  const { items: all } = await api.listEvents({ sprintId, limit: 200 })
  expect(all.map(({ seq }) => seq)).toEqual(all.map((_, index) => all.length - index))
  expect(all.filter(({ event }) => event.type === 'agent' && event.event.kind === 'text')).toHaveLength(4)
  expect((await api.usage({})).todayUsd).toBeCloseTo(0.04)

  const { files } = await api.diffSprint({ sprintId, from: 0, to: 1 })
  expect(files).toMatchObject([{ path: 'a.txt', added: 1, removed: 1 }])
  await api.restoreSprint({ sprintId, iteration: 0 })
  expect(await sprint.read('a.txt')).toBe('one\n')
  const [prompt] = (await sprint.calls()).slice(1).map((call) => call.prompt)
  expect(prompt).toContain('Mind the gap')
}, 180_000)
