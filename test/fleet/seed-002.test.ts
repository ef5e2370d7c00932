import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { startAgentsServer, type AgentsServer } from '../../src/agents-server/agents-server.ts'
import type { Backend } from '../../src/backend/open-backend.ts'
import { createClient, type Client } from '../../src/client/client.ts'

import { createApiCaller, createTestBackend, type Json } from './test-backend.ts'
import { waitUntil as pollUntil } from './test-fleet.ts'

/**
 * The agent of seed 002: it finds its notes in the prompt, records what it sees, waits for the file `go-<turn>`, adds to its notes,
 * and in the turn that the file `last` names it deletes its lock.
 */
const program = `
const { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } = require('node:fs')
const prompt = readFileSync(0, 'utf8')
const turn = existsSync('turns') ? readFileSync('turns', 'utf8').trim().split('\\n').length + 1 : 1
const notes = /under (\\S+?),?\\s+with the README/.exec(prompt)?.[1] ?? ''
const readme = notes + '/README.md'
const lock = notes + '/.task-lock'
const seen = { turn, prompt, notes, locked: existsSync(lock) && readFileSync(lock, 'utf8') === '', readme: notes && readFileSync(readme, 'utf8') }
appendFileSync('turns', JSON.stringify(seen) + '\\n')
while (!existsSync('go-' + turn) && !existsSync('go')) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20)
if (notes) {
  appendFileSync(readme, '- learned in turn ' + turn + '\\n')
  if (readFileSync('last', 'utf8').trim() === String(turn)) rmSync(lock)
}
writeFileSync('work-' + turn, '')
console.log('turn ' + turn + ' is over')
`

/** A machine with other work makes a checkpoint in seconds, not milliseconds. */
const waitUntil = <T>(read: () => Promise<T>, isDone: (value: T) => boolean) => pollUntil(read, isDone, 110_000)

const Turn = z.object({ turn: z.int(), prompt: z.string(), notes: z.string(), locked: z.boolean(), readme: z.string() })

describe('seed 002, with the real backend, HTTP, machine and agent program', () => {
  let backend: Backend
  let machine: AgentsServer
  let machineId: string
  let api: Client
  let ask: (method: string, path: string, body?: unknown) => Promise<Json>
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'ralph-seed-002-')))

  beforeAll(async () => {
    backend = await createTestBackend('embedded')
    const local = await backend.localMachine('here')
    machineId = local.machineId
    machine = await startAgentsServer({
      home: join(home, 'machine'),
      env: process.env,
      machineId,
      connect: local.connect,
      version: '1.2.3',
      settings: { name: 'here', labels: [], roots: [home], slots: 4, notes: join(home, 'notes', '{agent}') },
      log: () => {},
    })
    const token = await backend.commandToken()
    api = createClient({ baseUrl: backend.origin, token })
    ask = createApiCaller(backend.origin, { token })
    await waitUntil(
      async () => (await api.listMachines({})).items,
      ([row]) => row?.reachable === true,
    )
  }, 240_000)
  afterAll(async () => {
    await machine?.close()
    await backend?.close()
    rmSync(home, { recursive: true, force: true, maxRetries: 5 })
  })

  /** An agent in a git repository that deletes its lock in turn `last`. */
  async function createSeedAgent(last: number) {
    const folder = join(home, `project-${randomUUID()}`)
    mkdirSync(folder)
    const file = (name: string) => join(folder, name)
    writeFileSync(file('agent.cjs'), program)
    writeFileSync(file('last'), `${last}`)
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { cwd: folder, encoding: 'utf8' })
    git('init', '-q')
    git('add', '.')
    git('commit', '-qm', 'start')
    const { id } = await api.createAgent({
      name: 'seed',
      workspace: { kind: 'folder', path: folder },
      program: `command:${process.execPath} agent.cjs`,
    })
    const turns = () =>
      existsSync(file('turns'))
        ? readFileSync(file('turns'), 'utf8')
            .trim()
            .split('\n')
            .map((line) => Turn.parse(JSON.parse(line)))
        : []
    return {
      id,
      git,
      turns,
      turn: (number: number) =>
        waitUntil(
          async () => turns(),
          (all) => all.length >= number,
        ),
      go: (name = 'go') => writeFileSync(file(name), ''),
      row: async () => (await api.getAgent({ agentId: id })).agent,
      prompts: async () => (await api.listPrompts({ agentId: id })).items.toReversed(),
    }
  }

  it('002:3-91, activation: access, agent, setup, database, first prompt, success (rows 157, 158, 160, 161, 163-165, 167, 170, 171, 193, 194, 196, 198)', async () => {
    const agent = await createSeedAgent(1)
    const start = `/api/agents/${agent.id}/ralph-mode/start`
    const taskDescription = 'Build it'

    const anonymous = await createApiCaller(backend.origin, {})('POST', start, { taskDescription })
    expect(anonymous.status, '44: write access').toBe(401)
    const unknown = await ask('POST', start.replace(agent.id, randomUUID()), { taskDescription })
    expect(unknown.status, '45: the agent exists').toBe(404)
    expect((await ask('POST', start, { taskDescription: ' ' })).status, '26: a task is required').toBe(422)
    expect(await agent.row()).toMatchObject({ inRalphMode: false, ralphModeTaskDescription: null })

    const started = await ask('POST', start, { taskDescription })
    expect(started, '50: success').toMatchObject({ status: 200, body: { success: true } })

    const [first] = await agent.turn(1)
    expect(first?.locked, '46 and 80: setup came first, the lock is there and empty').toBe(true)
    expect(first?.readme, '81: the README has the task').toContain(taskDescription)
    for (const part of ['### How to iterate', '### Validation criteria', '### Work log', 'links to other files'])
      expect(first?.readme, '286-291: and the template').toContain(part)
    expect(await agent.row(), '48 and 257-262: the row of the agent').toMatchObject({
      id: agent.id,
      state: 'running',
      inRalphMode: true,
      ralphModeTaskDescription: taskDescription,
      ralphModeLastPromptAt: expect.any(Number),
      machineId,
    })
    expect(await agent.prompts(), '49, 58 and 270-274: the prompt is in AgentPrompt').toMatchObject([
      { agentId: agent.id, status: 'running', prompt: expect.stringContaining('you are in autonomous mode') },
    ])
    agent.go()
  }, 240_000)

  it('002:93-183, the loop: prompt, notes, checkpoint, fresh context, next prompt (rows 173, 174, 177, 181, 183, 184, 197, 200)', async () => {
    const agent = await createSeedAgent(3)
    await api.startRalphMode({ agentId: agent.id, taskDescription: 'Count to three', doneWhen: [] })

    await agent.turn(1)
    expect((await agent.row()).state, '109-112: running').toBe('running')
    agent.go('go-1')
    const [first, second] = await agent.turn(2)
    expect(second?.readme, '128-130: the next turn reads what the last one learned').toContain('learned in turn 1')
    expect(second?.prompt, '160 and 296: the same prompt again, in a fresh context').toBe(first?.prompt)
    expect(
      (await agent.prompts()).map(({ status }) => status),
      '148 and 273: queued, running, finished',
    ).toEqual(['finished', 'running'])
    agent.go()
    await waitUntil(agent.row, (row) => !row.inRalphMode)

    expect(agent.turns().map(({ turn }) => turn)).toEqual([1, 2, 3])
    const talks = (await api.listConversations({ agentId: agent.id })).items
    expect(talks, '176-179: each turn is a past conversation').toHaveLength(3)
    expect(agent.git('log', '--format=%s'), '147: the branch of the user is as it was').toBe('start\n')
    expect(
      agent.git('for-each-ref', '--format=%(refname)', 'refs/ralph').trim().split('\n').length,
      '147: and a checkpoint of each turn exists',
    ).toBeGreaterThanOrEqual(3)
  }, 240_000)

  it('002:185-234, termination: the lock is gone, so Ralph Mode is off and the agent idle (rows 178, 185, 187, 189)', async () => {
    const agent = await createSeedAgent(2)
    await api.startRalphMode({ agentId: agent.id, taskDescription: 'Twice', doneWhen: [] })
    agent.go()

    const off = await waitUntil(agent.row, (row) => !row.inRalphMode)
    expect(off, '225-229: the fields are cleared').toMatchObject({
      ralphModeTaskDescription: null,
      ralphModeLastPromptAt: null,
    })
    expect(await waitUntil(agent.row, ({ state }) => state === 'idle'), '231: idle').toMatchObject({ state: 'idle' })
    expect(agent.turns(), '193: no prompt is paid after the lock is gone').toHaveLength(2)
    expect((await agent.prompts()).map(({ status }) => status)).toEqual(['finished', 'finished'])
  }, 240_000)

  it('002:237-248, stop: the fields are cleared and no prompt follows (rows 190-192)', async () => {
    const agent = await createSeedAgent(100)
    await api.startRalphMode({ agentId: agent.id, taskDescription: 'For ever', doneWhen: [] })
    await agent.turn(1)

    expect((await ask('POST', `/api/agents/${agent.id}/ralph-mode/stop`, {})).status, '243').toBe(200)
    agent.go()
    const stopped = await waitUntil(agent.row, ({ state, inRalphMode }) => state === 'idle' && !inRalphMode)
    expect(stopped, '246: cleared').toMatchObject({ ralphModeTaskDescription: null, ralphModeLastPromptAt: null })
    expect(agent.turns(), '247: no more prompts').toHaveLength(1)
    expect((await agent.prompts()).filter(({ status }) => status === 'queued')).toEqual([])
    expect((await ask('POST', `/api/agents/${agent.id}/ralph-mode/stop`, {})).status).toBe(409)
  }, 240_000)

  it('shows the pid of a hook of a fleet sprint while it runs, and null afterwards (row 25)', async () => {
    const report = { status: 'goal-complete', summary: 'all', goalCompleteSummary: 'there' }
    const folder = join(home, `reporter-${randomUUID()}`)
    mkdirSync(folder)
    writeFileSync(join(folder, 'said'), `\`\`\`json\n${JSON.stringify(report)}\n\`\`\`\n`)
    const sprintYaml = `workflow: ralph
goal: Get there
done-when: []
per-iteration-hooks:
  - { id: slow, run: "while [ ! -e go ]; do sleep 0.1; done", parallel: true, enabled: true }
`
    const { id: agentId } = await api.createAgent({
      name: 'reporter',
      workspace: { kind: 'folder', path: folder },
      program: 'command:cat said',
    })
    const { id: sprintId } = await api.startSprint({ agentId, sprintYaml })
    const task = async () => (await api.getSprint({ sprintId })).progress.hookTasks[0]

    const running = await waitUntil(task, (hook) => hook?.pid !== undefined)
    expect(running).toMatchObject({ hookId: 'slow', status: 'running' })
    expect(existsSync(`/proc/${running?.pid}`)).toBe(true)
    writeFileSync(join(folder, 'go'), '')
    expect(await waitUntil(task, (hook) => hook?.status !== 'running')).toMatchObject({
      status: 'completed',
      pid: null,
      exitCode: 0,
    })
  }, 240_000)
})
