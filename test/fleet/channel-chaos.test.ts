import { spawn, type ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { makeJoinToken } from '../../src/backend/machines/admission.ts'
import { listenForMachines } from '../../src/backend/machines/listener.ts'
import { ralphProgram, root } from '../support/paths.ts'
import { markedProcesses } from '../support/processes.ts'
import { randomOf } from '../simulation/random.ts'
import { aBackend } from './machine-backend.ts'
import { toxicProxy, type Toxic } from './machine-toxic-proxy.ts'

/** `FLEET_SEEDS=500 npx vitest run test/fleet/channel-chaos` is the long form. */
const seeds = Number(process.env['FLEET_SEEDS'] ?? 2)
const patience = { timeout: 60_000, interval: 50 }
const stepsPerSeed = 4
const promptsPerSeed = 6

const toxics: readonly [Toxic, ...Toxic[]] = [
  { kind: 'delay', ms: 60 },
  { kind: 'throttle', bytesPerSecond: 20_000 },
  { kind: 'cut' },
  { kind: 'half-open' },
]

type Backend = Awaited<ReturnType<typeof aBackend>>

/** A machine of its own process and data folder, behind a network of its own. */
async function aRemoteMachine(backend: Backend, port: number, folder: string) {
  const home = join(folder, 'home')
  const projects = join(folder, 'projects')
  mkdirSync(projects, { recursive: true })
  const proxy = await toxicProxy(port)
  const env = { ...process.env, RALPH_HOME: home, HOME: folder }
  const { token } = await makeJoinToken({}, backend.base)
  const where = ['--backend', `127.0.0.1:${proxy.port}`, '--roots', projects, '--json']
  const joined = spawn(process.execPath, [ralphProgram, 'agents-server', 'join', token, ...where], { env })
  let printed = ''
  joined.stdout.on('data', (text: Buffer) => (printed += text.toString()))
  await new Promise((resolve) => joined.once('close', resolve))
  const { machineId }: { machineId: string } = JSON.parse(printed)
  let daemon: ChildProcess | undefined
  const start = () =>
    (daemon = spawn(process.execPath, [ralphProgram, 'agents-server', '--json'], { env, stdio: 'ignore' }))
  const kill = async () => {
    const dying = daemon
    if (!dying || dying.exitCode !== null || dying.signalCode !== null) return
    const gone = new Promise((resolve) => dying.once('close', resolve))
    dying.kill('SIGKILL')
    await gone
  }
  const effects = join(folder, 'effects')
  const program = `command:/bin/sh ${join(root, 'test/fleet/machine-agent.sh')} ${effects}`
  return {
    machineId,
    proxy,
    start,
    kill,
    folder,
    effects: () => (existsSync(effects) ? readFileSync(effects, 'utf8').trim().split('\n').toSorted() : []),
    agent: async (name: string) => {
      const agentId = randomUUID()
      const path = join(projects, name)
      mkdirSync(path, { recursive: true })
      const id = backend.send(machineId, 'create-workspace', { agentId, name, workspace: { kind: 'folder', path } })
      await expect
        .poll(() => backend.reply(machineId, 'create-workspace', id), patience)
        .toMatchObject({ success: true })
      return agentId
    },
    prompt: (agentId: string, text: string) => {
      const promptId = randomUUID()
      const asked = { kind: 'text' as const, text: `effect ${promptId}\n${text}` }
      backend.send(machineId, 'prompt', { promptId, agentId, program, asked, leaseMs: 600_000 }, `prompt:${promptId}`)
      return promptId
    },
  }
}

type Remote = Awaited<ReturnType<typeof aRemoteMachine>>

it(
  'has every effect once, loses no report and leaves no process, while daemons are killed and the network fails',
  async () => {
    const backend = await aBackend({ pingMs: 1000, silenceMs: 4000, tickMs: 200 })
    const listener = await listenForMachines({
      ...backend.base,
      machines: backend.machines,
      host: '127.0.0.1',
      port: 0,
    })
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'ralph-test-')))
    // Thousands of small files, in the long form.
    onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }), 300_000)
    const machines: [Remote, Remote] = [
      await aRemoteMachine(backend, listener.port, join(folder, 'm1')),
      await aRemoteMachine(backend, listener.port, join(folder, 'm2')),
    ]
    onTestFinished(async () => {
      for (const machine of machines) {
        await machine.kill()
        machine.proxy.close()
      }
      backend.machines.close()
      await listener.close()
    })
    for (const machine of machines) machine.start()
    const agents = await Promise.all(machines.map((machine) => machine.agent('one')))
    const sent = machines.map((): string[] => [])
    const healing: number[] = []

    for (let seed = 1; seed <= seeds; seed++) {
      const random = randomOf(seed)
      for (const [index, machine] of machines.entries()) {
        for (let n = 0; n < promptsPerSeed; n++) {
          sent[index]?.push(machine.prompt(agents[index] ?? '', `sleep 0.${random.below(4)}`))
        }
      }
      for (let step = 0; step < stepsPerSeed; step++) {
        const machine = random.pick(machines)
        if (random.chance(0.5)) {
          await sleep(random.below(600))
          await machine.kill()
          await sleep(random.below(200))
          machine.start()
        } else {
          machine.proxy.set(random.pick(toxics))
          await sleep(200 + random.below(1000))
          machine.proxy.set({ kind: 'pass' })
        }
      }
      const healed = performance.now()
      for (const { machineId } of machines)
        await expect.poll(() => backend.machines.isReachable(machineId), patience).toBe(true)
      healing.push(performance.now() - healed)
      for (const [index, { machineId }] of machines.entries()) {
        const ends = () => sent[index]?.map((promptId) => backend.promptEnd(machineId, promptId)?.end.kind)
        await expect.poll(ends, patience).toEqual(sent[index]?.map(() => 'outcome'))
      }
      if (seed % 25 === 0) console.log(`${seed} seeds, ${told(sent, machines, healing)}`)
    }

    expect(machines.map((machine) => machine.effects())).toEqual(sent.map((ids) => ids.toSorted()))
    await expect.poll(() => markedProcesses(folder), patience).toEqual([])
    console.log(`${seeds} seeds, ${told(sent, machines, healing)}, 0 processes left`)
  },
  60_000 + seeds * 60_000,
)

function told(sent: readonly (readonly string[])[], machines: readonly Remote[], healing: readonly number[]): string {
  const effects = machines.flatMap((machine) => machine.effects())
  const doubled = effects.length - new Set(effects).size
  const lost = sent.flat().filter((id) => !effects.includes(id)).length
  const sorted = healing.map(Math.round).toSorted((a, b) => a - b)
  const healed = `${sorted[Math.floor(sorted.length / 2)]} ms (median), ${sorted.at(-1)} ms (slowest)`
  return `${sent.flat().length} prompts, ${lost} lost, ${doubled} doubled; reconciled after ${healed}`
}
