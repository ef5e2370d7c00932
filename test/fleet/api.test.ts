import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { startAgentsServer, type AgentsServer } from '../../src/agents-server/agents-server.ts'
import { machines } from '../../src/backend/database/machine.ts'
import type { Backend } from '../../src/backend/open-backend.ts'
import { createClient, type Client } from '../../src/client/client.ts'
import { FleetChange } from '../../src/contract/fleet/event.ts'
import { createTestBackend, createApiCaller, type Json } from './test-backend.ts'
import { kinds } from './test-fleet.ts'

/**
 * The agent of these tests: a program that does what the file `play` in its workspace says, once per start, and repeats
 * the last line. It finds its notes folder in the prompt, as a model would.
 */
const program = `
const { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } = require('node:fs')
const prompt = readFileSync(0, 'utf8')
const lines = readFileSync('play', 'utf8').trim().split('\\n')
const turn = existsSync('turn') ? Number(readFileSync('turn', 'utf8')) : 0
writeFileSync('turn', String(turn + 1))
appendFileSync('prompts', JSON.stringify(prompt) + '\\n')
const [verb, ...rest] = (lines[Math.min(turn, lines.length - 1)] ?? 'work').split(' ')
const notes = /files under (\\S+?),? with/.exec(prompt.replaceAll('\\n', ' '))?.[1] ?? ''
const say = (text) => console.log(text)
if (verb === 'sleep') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Number(rest[0]))
if (verb === 'done' || verb === 'stuck') {
  writeFileSync(notes + '/OUTCOME', verb + ' ' + rest.join(' '))
  rmSync(notes + '/.task-lock')
}
if (verb === 'fix') writeFileSync('fixed', '')
if (verb === 'report') say('\`\`\`json\\n' + rest.join(' ') + '\\n\`\`\`')
else say(verb + ' ' + rest.join(' '))
writeFileSync('work-' + turn, verb)
`

const writePlay = (folder: string, ...lines: readonly string[]): void => {
  rmSync(join(folder, 'turn'), { force: true })
  writeFileSync(join(folder, 'play'), lines.join('\n'))
}

describe.each(kinds)('the API on %s', (kind) => {
  let backend: Backend
  let machine: AgentsServer
  let api: Client
  let ask: (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Json>
  let token: string
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'ralph-api-')))
  afterAll(() => rmSync(home, { recursive: true, force: true, maxRetries: 5 }))

  beforeAll(async () => {
    backend = await createTestBackend(kind)
    const { machineId, connect } = await backend.localMachine('here')
    machine = await startAgentsServer({
      home: join(home, 'machine'),
      env: process.env,
      machineId,
      connect,
      version: '1.2.3',
      settings: { name: 'here', labels: ['fast'], roots: [home], slots: 4, notes: join(home, 'notes', '{agent}') },
      log: () => {},
    })
    token = await backend.commandToken()
    api = createClient({ baseUrl: backend.origin, token })
    ask = createApiCaller(backend.origin, { token })
    await waitUntil(
      async () => (await api.listMachines({})).items,
      ([row]) => row?.reachable === true,
    )
  }, 120_000)
  afterAll(async () => {
    await machine?.close()
    await backend?.close()
  })

  let made = 0
  const createAgent = async (...lines: readonly string[]) => {
    const folder = join(home, `project-${++made}`)
    mkdirSync(folder)
    writeFileSync(join(folder, 'agent.cjs'), program)
    writeFileSync(join(folder, '.gitignore'), 'turn\nprompts\n')
    writePlay(folder, ...lines)
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { cwd: folder })
    git('init', '-q')
    git('add', '.')
    git('commit', '-qm', 'start')
    const agent = await api.createAgent({
      name: `agent ${made}`,
      workspace: { kind: 'folder', path: folder },
      program: `command:${process.execPath} agent.cjs`,
    })
    return { id: agent.id, folder }
  }
  const rested = (agentId: string) =>
    waitUntil(
      () => api.getAgent({ agentId }),
      ({ sprint }) => sprint !== undefined && !['in-progress', 'not-started', 'parked'].includes(sprint.status),
    )

  it('answers 404 for the notes of an agent that has none', async () => {
    const { id } = await createAgent('work')
    const { status, body } = await ask('GET', `/api/agents/${id}/notes`)
    expect([status, body['code'], body['title']]).toEqual([404, 'NOT_FOUND', 'this agent has no notes'])
  })

  it('runs Ralph Mode until the lock is gone, and a failed check restores it', async () => {
    const { id, folder } = await createAgent('work', 'done all of it', 'fix', 'done now it is')
    const { sprintId } = await api.startRalphMode({
      agentId: id,
      taskDescription: 'Make it work',
      doneWhen: [{ run: 'test -e fixed', name: 'fixed' }],
    })
    const { agent, sprint } = await rested(id)
    expect(sprint).toMatchObject({ status: 'completed', iteration: 4, checks: { green: 1, all: 1 } })
    expect(sprint?.verdicts.map(({ verdict }) => verdict)).toEqual(['continue', 'refused', 'continue', 'accepted'])
    expect(agent).toMatchObject({ inRalphMode: false, ralphModeTaskDescription: null, state: 'idle' })
    const prompts = await api.listPrompts({ agentId: id })
    expect(prompts.items.map(({ status, by }) => [status, by])).toEqual([1, 2, 3, 4].map(() => ['finished', 'ralph']))
    const notes = await api.listNotes({ agentId: id })
    expect(notes.notes.find(({ name }) => name === 'README.md')?.text).toContain('Make it work')
    const events = await api.listEvents({ sprintId, limit: 200 })
    expect(events.items.map(({ event }) => event.type)).toContain('claim-refused')
    const diff = await api.diffSprint({ sprintId, from: 2, to: 3 })
    expect(diff.files.map(({ path }) => path)).toContain('fixed')
    expect((await api.listConversations({ agentId: id })).items).toHaveLength(4)
    await api.restoreSprint({ sprintId, iteration: 1 }, { revision: (await api.getSprint({ sprintId })).rev })
    await expect(api.restoreSprint({ sprintId, iteration: 1 }, { revision: 1 })).rejects.toMatchObject({
      code: 'REVISION_STALE',
    })
    expect(execFileSync('ls', { cwd: folder, encoding: 'utf8' })).not.toContain('fixed')
  }, 120_000)

  it('asks a person when the agent is stuck, and continues with the answer', async () => {
    const { id, folder } = await createAgent('stuck Postgres or Redis?', 'done thanks')
    const { sprintId } = await api.startRalphMode({ agentId: id, taskDescription: 'Choose', doneWhen: [] })
    await rested(id)
    const { items } = await api.listQuestions({ status: 'open' })
    const question = items.find((one) => one.sprintId === sprintId)
    expect(question).toMatchObject({ agentId: id, reason: expect.stringContaining('Postgres or Redis?') })
    await api.answerSprint({ sprintId, answer: 'Postgres' })
    const { sprint } = await rested(id)
    expect(sprint).toMatchObject({ status: 'completed', doubt: 'unchecked' })
    expect(execFileSync('cat', ['prompts'], { cwd: folder, encoding: 'utf8' })).toContain('Postgres')
    const after = await api.listQuestions({})
    expect(after.items.find((one) => one.id === question?.id)).toMatchObject({ status: 'answered', answer: 'Postgres' })
  }, 120_000)

  it('runs prompts of users between two prompts of the loop, in the order they chose', async () => {
    const { id } = await createAgent('sleep 1500', 'work', 'work', 'work', 'done')
    await api.startRalphMode({ agentId: id, taskDescription: 'Go', doneWhen: [] })
    await waitUntil(
      () => api.listPrompts({ agentId: id }),
      ({ items }) => items[0]?.status === 'running',
    )
    const first = await api.queuePrompt({ agentId: id, prompt: 'first' })
    const second = await api.queuePrompt({ agentId: id, prompt: 'second' })
    const third = await api.queuePrompt({ agentId: id, prompt: 'third' })
    await api.movePrompt({ agentId: id, promptId: second.id, before: first.id })
    await api.cancelPrompt({ agentId: id, promptId: third.id })
    await rested(id)
    const { items } = await api.listPrompts({ agentId: id })
    const inOrder = items.toSorted((a, b) => (a.startedAt ?? Infinity) - (b.startedAt ?? Infinity))
    expect(inOrder.map(({ by, prompt, status }) => [by === 'ralph' ? by : prompt, status])).toEqual([
      ['ralph', 'finished'],
      ['second', 'finished'],
      ['first', 'finished'],
      ['ralph', 'finished'],
      ['ralph', 'finished'],
      ['third', 'cancelled'],
    ])
    const { items: happened } = await waitUntil(
      () => api.listPromptEvents({ agentId: id, promptId: first.id }),
      (page) => page.items.length > 0,
    )
    expect(new Set(happened.map(({ promptId, sprintId }) => [promptId, sprintId].join(' ')))).toEqual(
      new Set([`${first.id} `]),
    )
    expect(happened.some(({ event }) => event.type === 'agent')).toBe(true)
    const { id: other } = await createAgent('work')
    await expect(api.listPromptEvents({ agentId: other, promptId: first.id })).resolves.toEqual({ items: [] })
  }, 120_000)

  it('stops now: the agent is ended, the queue is empty, the lock is gone', async () => {
    const { id, folder } = await createAgent('sleep 60000')
    await api.startRalphMode({ agentId: id, taskDescription: 'Never ends', doneWhen: [] })
    await waitUntil(
      () => api.listPrompts({ agentId: id }),
      ({ items }) => items[0]?.status === 'running',
    )
    await expect(api.startRalphMode({ agentId: id, taskDescription: 'again', ifBusy: 'refuse' })).rejects.toMatchObject(
      {
        code: 'AGENT_BUSY',
      },
    )
    await api.stopRalphMode({ agentId: id, when: 'now' })
    const { agent, sprint } = await waitUntil(
      () => api.getAgent({ agentId: id }),
      (row) => row.agent.state === 'idle',
    )
    expect([agent.inRalphMode, sprint?.status]).toEqual([false, 'interrupted'])
    const lock = () => api.listNotes({ agentId: id })
    expect((await waitUntil(lock, (notes) => notes.lock === false)).lock).toBe(false)
    const left = execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' }).split('\n')
    expect(left.filter((line) => line.includes('agent.cjs') && line.includes(folder))).toEqual([])
  }, 120_000)

  it('pauses and resumes a planned sprint, and keeps counting', async () => {
    const go = `report ${JSON.stringify({ status: 'continue', summary: 'one', completedStepIds: [], pendingSteps: [{ id: null, prompt: 'more' }] })}`
    const end = `report ${JSON.stringify({ status: 'goal-complete', summary: 'all', completedStepIds: [], pendingSteps: [], goalCompleteSummary: 'there' })}`
    const { id } = await createAgent(go, go, end)
    const { id: sprintId } = await api.startSprint({ agentId: id, goal: 'Get there', doneWhen: [], limits: { usd: 5 } })
    await api.pauseSprint({ sprintId, when: 'iteration' })
    const paused = await rested(id)
    expect(paused.sprint?.status).toBe('paused')
    await api.resumeSprint({ sprintId })
    const { sprint } = await waitUntil(
      () => rested(id),
      (row) => row.sprint?.status === 'completed',
    )
    expect(sprint).toMatchObject({ iteration: 3, capUsd: 5 })
    const { items } = await api.listIterations({ sprintId })
    expect(items.map(({ number }) => number)).toEqual([3, 2, 1])
  }, 120_000)

  it('refuses an invalid SPRINT.yaml with its errors, and unknown IDs', async () => {
    const { id } = await createAgent('work')
    const yaml = 'goal: 3\nworkflow: nothing\n'
    await expect(api.startSprint({ agentId: id, sprintYaml: yaml })).rejects.toMatchObject({
      code: expect.stringMatching(/^[A-Z_]+$/),
    })
    const notifying = 'goal: x\nworkflow: ralph\nnotify: [desktop]\n'
    await expect(api.startSprint({ agentId: id, sprintYaml: notifying })).rejects.toMatchObject({
      code: 'NOT_SUPPORTED',
    })
    const nowhere = { kind: 'folder', path: '/etc' } as const
    const outside = api.createAgent({ name: 'outside', workspace: nowhere, program: 'command:true' })
    await expect(outside).rejects.toMatchObject({
      code: 'WORKSPACE_REFUSED',
      message: expect.stringContaining('/etc'),
    })
    const names = (await api.listAgents({ limit: 200 })).items.map(({ agent }) => agent.name)
    expect(names).not.toContain('outside')
    await expect(api.createAgent({ name: 'x', labels: ['gpu'], workspace: nowhere })).rejects.toMatchObject({
      code: 'NO_MACHINE',
    })
  }, 120_000)

  it('executes a call with a key once', async () => {
    const { id } = await createAgent('work')
    const path = `/api/agents/${id}/prompts`
    const key = { 'idempotency-key': 'k1' }
    const [first, second] = [
      await ask('POST', path, { prompt: 'hi' }, key),
      await ask('POST', path, { prompt: 'hi' }, key),
    ]
    expect([first.status, second.status, second.body['id']]).toEqual([201, 201, first.body['id']])
    expect((await ask('POST', path, { prompt: 'ho' }, key)).body).toMatchObject({ code: 'INVALID_REQUEST' })
  })

  it.each<[string, number, string, unknown?]>([
    [
      'an unknown field',
      422,
      'POST /api/agents',
      { name: 'x', workspace: { kind: 'folder', path: '/' }, colour: 'red' },
    ],
    ['wrong types', 422, 'POST /api/agents', { name: 5, workspace: 'there' }],
    ['a malformed id', 404, `GET /api/agents/${encodeURIComponent("1' or '1'='1")}`],
    ['a foreign cursor', 422, 'GET /api/agents?cursor=abc'],
    ['too large a page', 422, 'GET /api/agents?limit=100000'],
    ['a webhook that is not https', 422, 'POST /api/webhooks', { url: 'http://example.com', events: ['failed'] }],
    ['no such call', 404, 'GET /api/nothing'],
  ])('refuses %s', async (_, status, call, body) => {
    const [method = '', path = ''] = call.split(' ')
    const answer = await ask(method, path, body)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([status, 'application/problem+json'])
  })

  it('keeps SQL in texts as text', async () => {
    const { id } = await createAgent('work')
    const name = `Robert'); drop table agent; --`
    await api.changeAgent({ agentId: id, name })
    expect((await api.getAgent({ agentId: id })).agent.name).toBe(name)
    expect((await ask('GET', `/api/sprints/${id}/events?search=${encodeURIComponent("%' or 1=1 --")}`)).status).toBe(
      404,
    )
  })

  it('keeps the alarm of a machine until an admin clears it', async () => {
    const id = randomUUID()
    const row = { id, name: 'odd', status: 'active' as const, alarm: 'its clock is off by 3600 s', createdAt: 1 }
    await backend.database.db.insert(machines).values(row)
    expect(await api.changeMachine({ machineId: id, slots: 2 })).toMatchObject({ slots: 2, alarm: row.alarm })
    expect(await api.changeMachine({ machineId: id, status: 'active' })).not.toHaveProperty('alarm')
    expect(await api.revokeMachine({ machineId: id })).toMatchObject({ status: 'revoked', reachable: false })
  })

  it('updates only connected machines, not the local one, and only to a valid version', async () => {
    const id = randomUUID()
    await backend.database.db.insert(machines).values({ id, name: 'away', status: 'active', createdAt: 1 })
    const own = (await api.listMachines({})).items.find(({ local }) => local)?.id ?? ''
    const refusal = (machineId: string, version?: string) =>
      api.updateMachine({ machineId, version }).catch((error: unknown) => error)
    expect(await refusal(own)).toMatchObject({ code: 'MACHINE_REFUSED' })
    expect(await refusal(id)).toMatchObject({ code: 'MACHINE_UNREACHABLE' })
    expect(await refusal(id, '1.0.0; touch evil')).toMatchObject({ code: 'INVALID_REQUEST' })
    expect(await refusal(randomUUID())).toMatchObject({ code: 'NOT_FOUND' })
  })

  it('accepts bodies up to a limit', async () => {
    expect((await ask('POST', '/api/agents', { name: 'x'.repeat(10_000_000) })).status).toBe(413)
  })

  it('streams events to clients, and replays what they have missed', async () => {
    const { id } = await createAgent('work', 'done')
    const live = await listenTo(backend.origin, token, `/api/events?agentId=${id}`)
    await api.startRalphMode({ agentId: id, taskDescription: 'Say it', doneWhen: [] })
    await waitUntil(
      async () => live.changes(),
      (all) => all.some((one) => one.type === 'agent' && one.row.sprint?.status === 'completed'),
    )
    const types = new Set(live.changes().map(({ type }) => type))
    expect([...types].toSorted()).toEqual(['agent', 'event', 'prompt', 'sprint'])
    const [firstId] = live.ids()
    live.close()
    const again = await listenTo(backend.origin, token, `/api/events?agentId=${id}`, firstId)
    await waitUntil(
      async () => again.ids(),
      (ids) => ids.at(-1) === live.ids().at(-1),
    )
    again.close()
    const seen = (of: typeof live) => of.changes().flatMap((one) => (one.type === 'event' ? [one.event.seq] : []))
    expect(new Set([...seen(again), ...seen(live).slice(0, 1)])).toEqual(new Set(seen(live)))
  }, 120_000)
})

async function waitUntil<T>(look: () => Promise<T>, good: (value: T) => boolean): Promise<T> {
  for (;;) {
    const value = await look()
    if (good(value)) return value
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** A client for server-sent events, like that of a browser. */
async function listenTo(origin: string, token: string, path: string, after?: string) {
  const stop = new AbortController()
  const headers = { authorization: `Bearer ${token}`, ...(after !== undefined && { 'last-event-id': after }) }
  const answer = await fetch(`${origin}${path}`, { headers, signal: stop.signal })
  const frames: { id: string; change: FleetChange }[] = []
  const read = async () => {
    let text = ''
    for await (const part of answer.body ?? []) {
      text += Buffer.from(part).toString()
      const whole = text.split('\n\n')
      text = whole.pop() ?? ''
      for (const frame of whole) {
        const [, id] = /^id: (.*)$/m.exec(frame) ?? []
        const [, data] = /^data: (.*)$/m.exec(frame) ?? []
        if (id !== undefined && data !== undefined) frames.push({ id, change: z.decode(FleetChange, JSON.parse(data)) })
      }
    }
  }
  void read().catch(() => {})
  const changed = () => frames.filter(({ change }) => change.type !== 'here')
  return {
    changes: () => changed().map(({ change }) => change),
    ids: () => changed().map(({ id }) => id),
    close: () => stop.abort(),
  }
}
