import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { createClient } from '../../src/client/client.ts'
import { randomOf } from '../simulation/random.ts'
import { aFolder } from '../support/folder.ts'
import { ralphProgram, root } from '../support/paths.ts'
import { testPostgres } from '../support/postgres.ts'
import { markedProcesses } from '../support/processes.ts'

/** `FLEET_DATABASE=postgres` has the backend on a Postgres server. */
const databaseUrl =
  process.env['FLEET_DATABASE'] === 'postgres' ? await (await testPostgres()).makeDatabase() : undefined

const patience = { timeout: 60_000, interval: 100 }

/** `ralph` with a home of its own, as a process that can be killed and started again. */
function aProgram(home: string, ...args: readonly string[]) {
  const DATABASE_URL = databaseUrl
  let running: ChildProcess | undefined
  const env = { ...process.env, RALPH_HOME: home, HOME: home, DATABASE_URL }
  const kill = async () => {
    const dying = running
    if (!dying || dying.exitCode !== null || dying.signalCode !== null) return
    const gone = new Promise((resolve) => dying.once('close', resolve))
    dying.kill('SIGKILL')
    await gone
  }
  onTestFinished(kill, 30_000)
  return {
    start: () => void (running = spawn(process.execPath, [ralphProgram, ...args], { env, stdio: 'ignore' })),
    kill,
    /** To its end; what it printed. */
    run: (...more: readonly string[]) =>
      new Promise<string>((resolve, reject) => {
        const child = spawn(process.execPath, [ralphProgram, ...args, ...more], { env })
        let [printed, failed] = ['', '']
        child.stdout.on('data', (text: Buffer) => (printed += text.toString()))
        child.stderr.on('data', (text: Buffer) => (failed += text.toString()))
        child.once('close', (code) => (code === 0 ? resolve(printed) : reject(new Error(failed))))
      }),
  }
}

const freePort = () =>
  new Promise<number>((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })

/** A backend and a machine, each its own process with its own folder; the machine has joined with a token. */
async function aFleet() {
  const folder = aFolder()
  const [backendHome, machineHome, project] = ['backend', 'machine', 'project'].map((name) => join(folder, name))
  if (!backendHome || !machineHome || !project) throw new Error('three names')
  for (const path of [backendHome, machineHome, project]) mkdirSync(path)
  const ports = [String(await freePort()), String(await freePort())] as const
  const served = join(backendHome, 'backend', 'serve.json')
  const listen = [
    '--port',
    ports[0],
    '--machines-port',
    ports[1],
    '--machines-host',
    '127.0.0.1',
    '--no-machine',
    '--json',
  ]
  const backend = aProgram(backendHome, 'serve', ...listen)
  const machine = aProgram(machineHome, 'agents-server', '--json')
  backend.start()
  await expect.poll(() => existsSync(served), patience).toBe(true)
  const api = () => {
    const { origin, token }: { origin: string; token: string } = JSON.parse(readFileSync(served, 'utf8'))
    return createClient({ baseUrl: origin, token })
  }
  const { command } = JSON.parse(await aProgram(backendHome, 'machine', 'token', '--json').run())
  const [, , join_, token] = String(command).split(' ')
  const where = ['--backend', `127.0.0.1:${ports[1]}`, '--roots', folder, '--name', 'm1']
  const joined = JSON.parse(await machine.run(join_ ?? '', token ?? '', ...where))
  machine.start()
  const machineId: string = joined.machineId
  const isThere = async () => (await api().listMachines({})).items.some((one) => one.id === machineId && one.reachable)
  await expect.poll(isThere, patience).toBe(true)
  return { folder, project, backend, machine, api, machineId }
}

/** `FLEET_ROUNDS=100 npx vitest run test/fleet/machine-ralph-mode` kills both sides that often. */
const rounds = Number(process.env['FLEET_ROUNDS'] ?? 1)

it(
  'follows the seed’s diagram: activation, loop, termination and stop, while both sides are killed in between',
  async () => {
    const { folder, project, backend, machine, api, machineId } = await aFleet()
    const program = `command:/bin/sh ${join(root, 'test/fleet/machine-notes-agent.sh')}`
    const workspace = { kind: 'folder' as const, path: project }
    const { id: agentId } = await api().createAgent({ name: 'Counter', machineId, workspace, program })
    const file = (name: string) => join(project, name)
    const units = () => (existsSync(file('units')) ? readFileSync(file('units'), 'utf8').trim().split('\n').length : 0)
    const row = () =>
      api()
        .getAgent({ agentId })
        .catch(() => undefined)
    const agent = async () => (await row())?.agent
    const verdicts = async () => (await row())?.sprint?.verdicts.map(({ verdict }) => verdict)

    for (let round = 1; round <= rounds; round++) {
      const random = randomOf(round)
      rmSync(file('units'), { force: true })
      writeFileSync(file('enough'), '4')
      writeFileSync(file('pace'), '0.5')

      // Activation: notes with the task, the lock, the first prompt.
      const taskDescription = `count to four (${round})`
      await api().startRalphMode({ agentId, taskDescription, doneWhen: [{ run: 'test "$(wc -l <units)" -ge 4' }] })
      expect(await agent()).toMatchObject({ inRalphMode: true, ralphModeTaskDescription: taskDescription })

      // The loop: a fresh conversation each time. Both sides are killed, wherever they are.
      await expect.poll(units, patience).toBeGreaterThanOrEqual(1)
      for (const side of random.chance(0.5) ? [backend, machine] : [machine, backend]) {
        await sleep(random.below(800))
        await side.kill()
        side.start()
      }

      // Termination: the lock is gone, which is a claim; the check agrees.
      await expect.poll(async () => (await row())?.sprint?.status, patience).toBe('completed')
      await expect.poll(agent, patience).toMatchObject({ inRalphMode: false, ralphModeTaskDescription: null })
      expect(units()).toBe(4)
      expect(await verdicts()).toEqual(['continue', 'continue', 'continue', 'accepted'])
    }

    // A person stops it: the turn ends, the lock goes, notes of all tasks stay.
    writeFileSync(file('enough'), '1000')
    writeFileSync(file('pace'), '60')
    await expect.poll(agent, patience).toMatchObject({ state: 'idle' })
    await api().startRalphMode({ agentId, taskDescription: 'count for ever' })
    await expect.poll(units, patience).toBe(5)
    await api().stopRalphMode({ agentId, when: 'now' })
    await expect.poll(agent, patience).toMatchObject({ inRalphMode: false, state: 'idle' })
    const { lock, notes } = await api().listNotes({ agentId })
    expect(lock).toBe(false)
    expect(notes[0]?.text.match(/^count .*$/gm)?.length).toBe(rounds + 1)
    await expect.poll(() => markedProcesses(folder), patience).toEqual([])
    expect(units()).toBe(5)
  },
  180_000 + rounds * 90_000,
)
