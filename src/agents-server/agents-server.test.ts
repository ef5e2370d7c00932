import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createTestMachineBackend } from '../../test/fleet/machine-backend.ts'
import { buildLive, buildProgress } from '../../test/support/builders.ts'
import { createTestFolder } from '../../test/support/folder.ts'
import { root } from '../../test/support/paths.ts'
import type { RequestBody } from '../contract/fleet/machine-messages.ts'
import { startAgentsServer, type AgentsServerOptions } from './agents-server.ts'

const timeout = { timeout: 20_000, interval: 20 }
const agentScript = join(root, 'test/fleet/machine-agent.sh')

/** Starts a backend in memory and one machine in this process, connected by the same frames as on the wire. */
async function createMachine(disk?: AgentsServerOptions['disk'], update?: string) {
  const folder = createTestFolder()
  const [home, project] = [join(folder, 'home'), join(folder, 'projects', 'one')]
  mkdirSync(project, { recursive: true })
  const backend = await createTestMachineBackend()
  const machineId = backend.memory.add('here')
  const log: string[] = []
  const start = () =>
    startAgentsServer({
      home,
      env: process.env,
      machineId,
      version: '0.1.0',
      disk,
      settings: {
        name: 'here',
        labels: [],
        roots: [join(folder, 'projects')],
        slots: 4,
        notes: `${home}/notes/{agent}`,
        update,
      },
      connect: () => backend.connect(machineId),
      log: (text, about) => void log.push(`${text} ${JSON.stringify(about ?? {})}`),
    })
  let server = await start()
  onTestFinished(async () => {
    await server.close()
    backend.machines.close()
  })
  const agentId = randomUUID()
  const effects = join(folder, 'effects')
  const program = `command:/bin/sh ${agentScript} ${effects}`
  const text = (prompt: string): RequestBody<'prompt'> => ({
    promptId: randomUUID(),
    agentId,
    program,
    asked: { kind: 'text', text: prompt },
    leaseMs: 60_000,
  })
  const created = backend.send(machineId, 'create-workspace', {
    agentId,
    name: 'One',
    workspace: { kind: 'folder', path: project },
  })
  await expect
    .poll(() => backend.reply(machineId, 'create-workspace', created), timeout)
    .toEqual({ success: true, folder: project })
  return {
    backend,
    machineId,
    agentId,
    project,
    folder,
    home,
    program,
    log,
    text,
    effects: () => readFileSync(effects, 'utf8').trim().split('\n'),
    prompt: (body: RequestBody<'prompt'>) => backend.send(machineId, 'prompt', body, `prompt:${body.promptId}`),
    ended: (promptId: string) => backend.promptEnd(machineId, promptId)?.end,
    updated: () => server.updated,
    restart: async () => {
      await server.close()
      server = await start()
    },
  }
}

describe('an agents-server', () => {
  it('runs a prompt, reports its events and its outcome, and runs it once however often it is sent (rows 175, 179)', async () => {
    const { backend, machineId, agentId, text, prompt, ended, effects } = await createMachine()
    const body = text('effect one\nsay hello there')
    prompt(body)
    await expect
      .poll(() => ended(body.promptId), timeout)
      .toMatchObject({ kind: 'outcome', outcome: { status: 'ok', text: 'hello there' } })
    backend.send(machineId, 'prompt', body, 'the same prompt in another message')
    await expect
      .poll(() => backend.events.get(agentId)?.map(({ event }) => event.type === 'agent' && event.event.kind), timeout)
      .toContain('terminal')
    await expect.poll(() => backend.memory.store.outbox(machineId).pending(0, 9), timeout).toEqual([])
    expect(effects()).toEqual(['one'])
    const state = () => backend.machines.call(machineId, 'claude-state', { agentId })
    await expect.poll(state, timeout).toMatchObject({ success: true, isReady: true })
  })

  it('starts nothing while its disk is full, says so, and continues when there is room', async () => {
    let shortage: string | undefined = '3 MB free on the disk'
    const { backend, agentId, text, prompt, ended, effects } = await createMachine(() => ({
      shortage: async () => shortage,
    }))
    const body = text('effect one\nsay hello there')
    prompt(body)
    const notes = () => backend.events.get(agentId)?.flatMap(({ event }) => (event.type === 'note' ? [event.text] : []))
    const paused = 'paused: disk-full: 3 MB free on the disk; resumes when there is space again'
    await expect.poll(notes, timeout).toEqual([paused])
    expect(ended(body.promptId)).toBeUndefined()
    shortage = undefined
    await expect.poll(() => ended(body.promptId), timeout).toMatchObject({ outcome: { status: 'ok' } })
    expect(effects()).toEqual(['one'])
    await expect.poll(notes, timeout).toEqual([paused, 'disk space is available again; resuming'])
  })

  it('runs the attempts and checks of a sprint with the runtime of `ralph run`', async () => {
    const { backend, machineId, agentId, program, prompt, ended } = await createMachine()
    const sprintId = randomUUID()
    const progress = buildProgress({
      status: 'in-progress',
      goal: 'say something',
      live: [buildLive({ number: 1, attempt: 1 })],
      doneWhen: [{ run: 'true', timeout: 10_000, eachIteration: false, protect: false }],
    })
    const promptId = randomUUID()
    const order = { type: 'run-attempt' as const, iteration: 1, attempt: 1 }
    prompt({
      promptId,
      agentId,
      program,
      leaseMs: 60_000,
      asked: { kind: 'order', sprintId, protocol: 'report', order, progress },
    })
    await expect
      .poll(() => ended(promptId), timeout)
      .toMatchObject({
        kind: 'fact',
        fact: { type: 'attempt-ended', iteration: 1, attempt: 1, end: { kind: 'malformed' }, costUsd: 0.01 },
      })
    const orderId = `${sprintId}:4:0`
    const checks = { type: 'run-checks' as const, iteration: 1, names: ['true'] }
    backend.send(
      machineId,
      'carry-out',
      { orderId, agentId, program, sprintId, order: checks, progress },
      `order:${orderId}`,
    )
    await expect
      .poll(() => backend.orderEnd(machineId, orderId)?.fact, timeout)
      .toMatchObject({
        type: 'checks-ended',
        results: [{ name: 'true', passed: true }],
      })
  })

  it('ends a prompt on request, and cancels a waiting one', async () => {
    const { backend, machineId, agentId, text, prompt, ended } = await createMachine()
    const [running, waiting] = [text('effect begun\nsleep 60'), text('effect never')]
    prompt(running)
    prompt(waiting)
    const runs = () => backend.inventories.get(machineId)?.agents[0]?.prompts.map((one) => one.running)
    await expect.poll(runs, timeout).toEqual([true, false])
    backend.send(machineId, 'interrupt', { agentId, when: 'turn' })
    await expect.poll(() => ended(waiting.promptId), timeout).toEqual({ kind: 'cancelled' })
    expect(ended(running.promptId)).toBeUndefined()
    const now = backend.send(machineId, 'interrupt', { agentId, when: 'now' })
    const outcome = { status: 'aborted' }
    await expect.poll(() => ended(running.promptId), timeout).toMatchObject({ kind: 'outcome', outcome })
    expect(backend.reply(machineId, 'interrupt', now)).toEqual({ success: true, interrupted: true })
  })

  it('resumes its work after a restart, and starts nothing twice', async () => {
    const { text, prompt, ended, effects, restart, backend, agentId } = await createMachine()
    const body = text('effect once\nsleep 2\nsay over')
    prompt(body)
    await expect.poll(effects, timeout).toEqual(['once'])
    await restart()
    await expect
      .poll(() => ended(body.promptId), timeout)
      .toMatchObject({ kind: 'outcome', outcome: { status: 'ok', text: 'over' } })
    expect(effects()).toEqual(['once'])
    const texts = () =>
      backend.events.get(agentId)?.filter(({ event }) => event.type === 'agent' && event.event.kind === 'text').length
    await expect.poll(texts, timeout).toBe(1)
  })

  it('does not restart work that was ended on request if it is killed before reporting the end', async () => {
    const { text, prompt, ended, effects, restart, backend, home, agentId } = await createMachine()
    const body = text('effect once\nsleep 30')
    // The state after the kill: the attempt has ended, the daemon is dead, and the prompt is still open.
    const attempt = join(home, 'agents', agentId, 'prompts', 'attempts', body.promptId)
    mkdirSync(attempt, { recursive: true })
    writeFileSync(join(attempt, 'pid'), '999999 none 0\n')
    writeFileSync(join(attempt, 'ended'), 'aborted\n')
    prompt(body)
    await restart()
    const outcome = { status: 'aborted' }
    await expect.poll(() => ended(body.promptId), timeout).toMatchObject({ kind: 'outcome', outcome })
    expect(backend.inventories.size).toBe(1)
    expect(effects).toThrow('ENOENT')
  })

  it('reattaches to its work after a restart without a backend, and starts nothing new', async () => {
    const { text, prompt, ended, effects, restart, backend, machineId } = await createMachine()
    const [first, second] = [text('effect first\nsleep 5'), { ...text('effect second'), leaseMs: 1000 }]
    prompt(first)
    prompt(second)
    await expect.poll(() => backend.memory.store.outbox(machineId).pending(0, 9), timeout).toEqual([])
    await expect.poll(effects, timeout).toEqual(['first'])
    backend.setDown(true)
    await restart()
    await new Promise((resolve) => setTimeout(resolve, 6000))
    expect([ended(first.promptId), ended(second.promptId), effects()]).toEqual([undefined, undefined, ['first']])
    backend.setDown(false)
    await expect
      .poll(() => ended(first.promptId), timeout)
      .toMatchObject({ kind: 'outcome', outcome: { status: 'ok' } })
    await expect.poll(() => ended(second.promptId), timeout).toMatchObject({ kind: 'outcome' })
    expect(effects()).toEqual(['first', 'second'])
  })

  it('follows the seed’s notes protocol: task, lock, outcome, and notes that survive a new start (rows 168, 172, 178, 186)', async () => {
    const { backend, machineId, agentId, home } = await createMachine()
    const setUp = async (taskDescription: string) => {
      const id = backend.send(machineId, 'ralph-mode-setup', { agentId, taskDescription })
      await expect
        .poll(() => backend.reply(machineId, 'ralph-mode-setup', id), timeout)
        .toMatchObject({ success: true })
    }
    const look = () => backend.machines.call(machineId, 'ralph-mode-check-lock', { agentId })
    await setUp('build it')
    const { directory, files } = await backend.machines.call(machineId, 'notes', { agentId })
    expect(directory.startsWith(join(home, 'notes', 'one-'))).toBe(true)
    expect(files[0]?.text).toContain('build it')
    expect(await look()).toMatchObject({ success: true, exists: true })
    writeFileSync(join(directory, 'README.md'), `${files[0]?.text}\nlearned: x\n`)
    writeFileSync(join(directory, 'OUTCOME'), 'stuck: no key for the registry\n')
    backend.send(machineId, 'ralph-mode-end', { agentId })
    await expect.poll(look, timeout).toMatchObject({
      success: true,
      exists: false,
      lock: { state: 'gone', outcome: 'stuck', sentence: 'no key for the registry' },
    })
    await setUp('build it again')
    await setUp('build it again')
    symlinkSync('/etc/hostname', join(directory, 'link.md'))
    const [readme, ...others] = (await backend.machines.call(machineId, 'notes', { agentId })).files
    expect(others).toEqual([])
    expect(readme?.text?.split('## Task')).toHaveLength(3)
    expect(readme?.text).toContain('learned: x')
    expect(await look()).toMatchObject({ exists: true })
  })

  it('removes the lock of an agent that is stopped while starting, even if the start writes it later', async () => {
    let letGo = () => {}
    const held = new Promise<undefined>((resolve) => (letGo = () => resolve(undefined)))
    let calls = 0
    const { backend, machineId, agentId, program, prompt, ended } = await createMachine(() => ({
      shortage: () => {
        calls += 1
        return held
      },
    }))
    const progress = buildProgress({
      status: 'in-progress',
      protocol: 'notes',
      sandbox: 'off',
      live: [buildLive({ number: 1, attempt: 1 })],
    })
    const order = { type: 'run-attempt' as const, iteration: 1, attempt: 1 }
    const promptId = randomUUID()
    const sprintId = randomUUID()
    prompt({
      promptId,
      agentId,
      program,
      leaseMs: 60_000,
      asked: { kind: 'order', sprintId, protocol: 'notes', order, progress },
    })
    await expect.poll(() => calls, timeout).toBe(1)
    const interrupted = backend.send(machineId, 'interrupt', { agentId, promptId, when: 'now' })
    const end = backend.send(machineId, 'ralph-mode-end', { agentId })
    await expect
      .poll(() => backend.reply(machineId, 'interrupt', interrupted), timeout)
      .toMatchObject({ success: true })
    letGo()

    await expect.poll(() => backend.reply(machineId, 'ralph-mode-end', end), timeout).toEqual({ success: true })
    expect(ended(promptId)).toBeDefined()
    const lock = await backend.machines.call(machineId, 'ralph-mode-check-lock', { agentId })
    expect(lock).toMatchObject({ success: true, exists: false })
  })

  it('refuses folders outside its roots, also through a link, and reads nothing there', async () => {
    const { backend, machineId, agentId, folder, project, home } = await createMachine()
    const secret = join(folder, 'secret')
    mkdirSync(secret)
    writeFileSync(join(secret, 'key'), 'k')
    symlinkSync(secret, join(folder, 'projects', 'link'))
    symlinkSync(join(secret, 'key'), join(project, 'key'))
    const tried = async (path: string) => {
      const id = backend.send(machineId, 'create-workspace', {
        agentId: randomUUID(),
        name: 'x',
        workspace: { kind: 'folder', path },
      })
      await expect.poll(() => backend.reply(machineId, 'create-workspace', id), timeout).toBeDefined()
      return backend.reply(machineId, 'create-workspace', id)
    }
    expect([
      await tried(secret),
      await tried(join(folder, 'projects', 'link')),
      await tried(join(folder, 'projects', '..', 'secret')),
      await tried('projects'),
      await tried(join(folder, 'projects', 'nowhere')),
      await tried(home),
    ]).toEqual([
      expect.stringMatching(/^WORKSPACE_REFUSED/),
      expect.stringMatching(/^WORKSPACE_REFUSED/),
      expect.stringMatching(/^WORKSPACE_REFUSED/),
      expect.stringMatching(/^WORKSPACE_REFUSED/),
      expect.stringMatching(/^WORKSPACE_NOT_FOUND/),
      expect.stringMatching(/^WORKSPACE_REFUSED/),
    ])
    const read = (path: string) =>
      backend.machines.call(machineId, 'read-file', { agentId, area: 'workspace', path, offset: 0, length: 10 })
    await expect(read('key')).rejects.toMatchObject({ code: 'FILE_NOT_FOUND' })
    await expect(read('../../secret/key')).rejects.toMatchObject({ code: 'FILE_NOT_FOUND' })
    writeFileSync(join(project, 'open'), 'hello')
    expect(await read('open')).toEqual({ success: true, size: 5, base64: Buffer.from('hello').toString('base64') })
  })

  it('installs another version with its own command, replies, and requests a restart', async () => {
    const { backend, machineId, folder, updated } = await createMachine(
      undefined,
      'echo {version} $HOME >> ../installed',
    )
    const same = backend.send(machineId, 'update', { version: '0.1.0' })
    await expect.poll(() => backend.reply(machineId, 'update', same), timeout).toEqual({ success: true })
    const other = backend.send(machineId, 'update', { version: '0.2.0-rc.1' })
    const late = backend.send(machineId, 'update', { version: '0.3.0' })
    expect(await updated()).toBe('0.2.0-rc.1')
    expect(backend.reply(machineId, 'update', other)).toEqual({ success: true })
    await expect
      .poll(() => backend.reply(machineId, 'update', late), timeout)
      .toMatch(/^MACHINE_REFUSED.*just been installed/)
    expect(readFileSync(join(folder, 'installed'), 'utf8')).toBe(`0.2.0-rc.1 ${process.env['HOME']}\n`)
  })

  it('does not repeat an interrupted install after a restart, because another install may have happened since', async () => {
    const command = 'echo {version} >> ../installed; sleep 1'
    const { backend, machineId, folder, restart } = await createMachine(undefined, command)
    const reply = backend.send(machineId, 'update', { version: '0.2.0' })
    await expect.poll(() => existsSync(join(folder, 'installed')), timeout).toBe(true)
    await restart()
    await expect
      .poll(() => backend.reply(machineId, 'update', reply), timeout)
      .toMatch(/^MACHINE_REFUSED.*interrupted.*try again/)
    expect(readFileSync(join(folder, 'installed'), 'utf8')).toBe('0.2.0\n')
  })

  it('refuses to install if the machine has no update command, reports failures, and accepts only a version', async () => {
    const closed = await createMachine()
    const reply = closed.backend.send(closed.machineId, 'update', { version: '0.2.0' })
    await expect
      .poll(() => closed.backend.reply(closed.machineId, 'update', reply), timeout)
      .toMatch(/^NOT_SUPPORTED.*does not accept updates/)
    const open = await createMachine(undefined, 'echo no such version; exit 3 # {version}')
    const failed = open.backend.send(open.machineId, 'update', { version: '0.2.0' })
    await expect
      .poll(() => open.backend.reply(open.machineId, 'update', failed), timeout)
      .toMatch(/^MACHINE_REFUSED.*exit code 3.*no such version/)
    open.backend.memory.send(open.machineId, { id: 'evil', type: 'update', body: { version: '1.0.0\ntouch evil' } })
    open.backend.machines.wake(open.machineId)
    await expect.poll(() => open.backend.reply(open.machineId, 'update', 'evil'), timeout).toMatch(/^MESSAGE_INVALID/)
  })

  it('replies to unknown requests, and to prompts for unknown agents', async () => {
    const { backend, machineId, text, ended, prompt } = await createMachine()
    const body = { ...text('effect x'), agentId: randomUUID() }
    prompt(body)
    await expect.poll(() => ended(body.promptId), timeout).toMatchObject({ kind: 'refused' })
    backend.memory.send(machineId, { id: 'new', type: 'from-the-future', body: {} })
    backend.machines.wake(machineId)
    await expect.poll(() => backend.reply(machineId, 'update', 'new'), timeout).toMatch(/^VERSION_UNKNOWN/)
  })
})
