import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { startAgentsServer } from '../../src/agents-server/agents-server.ts'
import { createClient } from '../../src/client/client.ts'
import { createTestFolder } from '../support/folder.ts'
import { fakeClaude } from '../support/paths.ts'
import { timeoutOptions } from './real-machines.ts'
import { createTestBackend } from './test-backend.ts'

const session = { session_id: 'session-1' }
const init = JSON.stringify({ type: 'system', subtype: 'init', model: 'fake', ...session })
const endWith = (result: string, more: object = {}) =>
  JSON.stringify({ type: 'result', subtype: 'success', is_error: false, result, usage: {}, ...session, ...more })
const work = { status: 'continue', summary: 'planned', pendingSteps: [{ id: 's1', prompt: 'do it' }] }

/** What the fake agent answers to its prompts, by number. */
const answers = {
  // Calls that only ask for its version.
  '/^$/': { text: '2.1.0' },
  1: { waits: 'learned', lines: [init, endWith('I forgot the report.')] },
  2: { lines: [init, endWith('', { structured_output: work })] },
  3: { lines: [init], lingers: true },
  '*': { status: 'goal-complete', summary: 'done', goalCompleteSummary: 'it works' },
}

it('shows the prompts that the agent received: normal, repair, with learnings, and a message in a session', async () => {
  const { folder, fake, api, machine } = await openFleetWithFakeClaude()
  const received = () => listReceivedPrompts(fake)
  const project = join(folder, 'project')
  mkdirSync(project)
  const { id: agentId } = await api.createAgent({
    name: 'One',
    program: 'claude',
    workspace: { kind: 'folder', path: project },
  })
  const { id: sprintId } = await api.startSprint({ agentId, goal: 'make it work', doneWhen: [] })
  const shown = async () => {
    const { items } = await api.listPrompts({ agentId, limit: 100 })
    return items.toSorted((a, b) => a.createdAt - b.createdAt).map(({ prompt }) => prompt)
  }

  await expect.poll(received, timeoutOptions).toHaveLength(1)
  const sprintFolder = join(machine, 'agents', agentId, 'sprints', sprintId)
  writeFileSync(join(sprintFolder, 'LEARNINGS.md'), 'Never use tabs.\n')
  writeFileSync(join(fake, 'learned'), '')
  await expect.poll(received, timeoutOptions).toHaveLength(3)
  // Exact as soon as the agent works, not only once it has ended.
  await expect.poll(async () => (await shown()).at(2), timeoutOptions).toContain('Never use tabs.')
  await api.tellSprint({ sprintId, text: 'Prefer the second way.', now: true })
  await expect.poll(async () => (await api.getSprint({ sprintId })).progress.status, timeoutOptions).toBe('completed')

  const [normal, repair, learned, message, ...more] = received()
  expect({ normal, repair, learned, message }).toEqual({
    normal: expect.stringContaining('make it work'),
    repair: expect.not.stringContaining('make it work'),
    learned: expect.stringContaining('Never use tabs.'),
    message: expect.stringMatching(/^(?![^]*make it work)[^]*Prefer the second way\./),
  })
  expect(await shown()).toEqual([normal, repair, learned, message, ...more])
}, 240_000)

async function openFleetWithFakeClaude() {
  const folder = createTestFolder()
  const [bin, fake, machine] = [join(folder, 'bin'), join(folder, 'fake'), join(folder, 'machine')]
  for (const path of [bin, fake]) mkdirSync(path)
  const words = [process.execPath, fakeClaude, fake].map((word) => `'${word}'`)
  writeFileSync(join(bin, 'claude'), `#!/bin/sh\nexec ${words.join(' ')} "$@"\n`, { mode: 0o755 })
  writeFileSync(join(fake, 'script.json'), JSON.stringify({ answers }))
  const backend = await createTestBackend('embedded')
  onTestFinished(() => backend.close(), 60_000)
  const { machineId, connect } = await backend.localMachine('here')
  const server = await startAgentsServer({
    home: machine,
    env: { PATH: [bin, dirname(process.execPath), process.env['PATH']].join(':'), HOME: folder, IS_SANDBOX: '1' },
    machineId,
    connect,
    version: '1.2.3',
    settings: { name: 'here', labels: [], roots: [folder], slots: 4, notes: join(folder, 'notes', '{agent}') },
    log: () => {},
  })
  onTestFinished(() => server.close(), 60_000)
  const api = createClient({ baseUrl: backend.origin, token: await backend.commandToken() })
  const programs = async () => (await api.listMachines({})).items.flatMap((row) => row.programs.map(({ name }) => name))
  await expect.poll(programs, timeoutOptions).toContain('claude')
  return { folder, fake, machine, api }
}

/** The prompts on the fake agent's standard input, in order. */
const listReceivedPrompts = (fake: string): string[] =>
  readdirSync(fake)
    .filter((name) => /^numbered-\d+\.json$/.test(name))
    .toSorted((a, b) => a.localeCompare(b))
    .map((name) => JSON.parse(readFileSync(join(fake, name), 'utf8')).prompt)
