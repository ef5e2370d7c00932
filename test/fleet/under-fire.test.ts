import { mkdirSync } from 'node:fs'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { createRandom, type Random } from '../simulation/random.ts'
import { createTestFolder } from '../support/folder.ts'
import { markedProcesses } from '../support/processes.ts'
import { kinds } from './test-fleet.ts'
import { createTestWorker, type TestWorker } from './test-worker.ts'
import { createToxicProxy, type Toxic } from './machine-toxic-proxy.ts'
import { timeoutOptions } from './real-machines.ts'
import { createServedFleet, type ServedFleet, type ServedMachine } from './served-fleet.ts'

/**
 * `FLEET_SEEDS=500` runs the long form, `FLEET_FIRST=251` starts there, `FLEET_SEED=7` runs only that seed.
 * `FLEET_DATABASE=postgres` runs only that database, and `FLEET_FOLDER` keeps everything, with logs.
 */
const env = process.env
/** The usual sample ends with seed 10, at whose end a network forgets its connections. */
const usualFirst = { embedded: 9, postgres: 10 }
const usualLast = 10
const longTimeout = { ...timeoutOptions, interval: 200 }

const toxics: readonly [Toxic, ...Toxic[]] = [
  { kind: 'delay', ms: 60 },
  { kind: 'throttle', bytesPerSecond: 20_000 },
  { kind: 'cut' },
  { kind: 'half-open' },
]

type Remote = ServedMachine & {
  readonly proxy: Awaited<ReturnType<typeof createToxicProxy>>
  readonly workers: readonly [TestWorker, TestWorker]
}
type FireWorld = { readonly folder: string; readonly fleet: ServedFleet; readonly machines: readonly [Remote, Remote] }
type Sprint = { readonly worker: TestWorker; readonly sprintId: string }

it.each(kinds.filter((kind) => (env['FLEET_DATABASE'] ?? kind) === kind))(
  '%s: every prompt takes effect once while backend, machines and the lines between them fail',
  async (kind) => {
    const usual = env['FLEET_SEEDS'] === undefined ? usualFirst[kind] : 1
    const first = Number(env['FLEET_SEED'] ?? env['FLEET_FIRST'] ?? usual)
    const seeds = env['FLEET_SEED'] === undefined ? Number(env['FLEET_SEEDS'] ?? usualLast - usual + 1) : 1
    const world = await createFireWorld(kind)
    const count: Count = { seeds: 0, prompts: 0, lost: 0, doubled: 0, left: 0, events: 0, healing: [], sinceUp: [] }
    for (let seed = first; seed < first + seeds; seed++) {
      await underFire(world, seed, count).catch((cause: unknown) => {
        const again = `FLEET_DATABASE=${kind} FLEET_SEED=${seed} npx vitest run --project e2e test/fleet/under-fire.test.ts`
        throw new Error(`seed ${seed}, after ${formatCount(count)}; again: ${again}`, { cause })
      })
      if (count.seeds % 25 === 0) console.log(`${kind}, up to seed ${seed}: ${formatCount(count)}`)
    }
    console.log(`${kind}, from seed ${first}: ${formatCount(count)}`)
    expect(count).toMatchObject({ seeds, lost: 0, doubled: 0, left: 0 })
  },
  3_600_000 + Number(env['FLEET_SEEDS'] ?? 0) * 90_000,
)

/** A backend and two machines with two agents each, each in its own process and behind its own network. */
async function createFireWorld(kind: (typeof kinds)[number]): Promise<FireWorld> {
  const folder = env['FLEET_FOLDER'] ?? createTestFolder()
  mkdirSync(folder, { recursive: true })
  const fleet = await createServedFleet(folder, kind)
  const machine = async (name: string): Promise<Remote> => {
    const proxy = await createToxicProxy(fleet.machinePort)
    onTestFinished(proxy.close)
    const joined = await fleet.machine(name, { through: proxy.port })
    const worker = (n: number) =>
      createTestWorker(fleet, { machineId: joined.id, project: join(folder, `${name}-${n}`) })
    return { ...joined, proxy, workers: [await worker(1), await worker(2)] }
  }
  const machines: FireWorld['machines'] = [await machine('m1'), await machine('m2')]
  for (const { workers } of machines) for (const worker of workers) await worker.watch()
  return { folder, fleet, machines }
}

type Count = Record<'seeds' | 'prompts' | 'lost' | 'doubled' | 'left' | 'events', number> & {
  readonly healing: number[]
  readonly sinceUp: number[]
}

async function underFire(world: FireWorld, seed: number, count: Count): Promise<void> {
  const random = createRandom(seed)
  const others = world.machines.map(({ workers: [, other] }) => ({ worker: other, counts: random.chance(0.5) }))
  const counting = others.flatMap(({ worker, counts }) => (counts ? [worker] : []))
  const workers = [...world.machines.map(({ workers: [one] }) => one), ...counting]
  const stopped = others.flatMap(({ worker, counts }) => (counts ? [] : [worker]))
  const sprints: Sprint[] = []
  const begin = async (worker: TestWorker, afterMs: number) => {
    await sleep(afterMs)
    sprints.push({ worker, sprintId: await worker.begin(`count to three (${seed})`) })
  }
  const starts = workers.map((worker) => begin(worker, random.chance(0.5) ? 0 : random.below(1500)))
  const stopping = stopped.map((worker) => startAndStop(worker, seed, random.below(3000)))
  await injectFaults(world, seed, random)
  const { healing, sinceUp } = await reconciled(world, sprints)
  count.healing.push(healing)
  count.sinceUp.push(sinceUp)
  if (healing > 10_000) console.log(`seed ${seed}: ${Math.round(healing)} ms, load ${loadavg()[0]}`)
  await Promise.all(starts)
  for (const { worker, sprintId } of sprints) {
    await expect.poll(() => worker.state(), longTimeout).toEqual({ sprintId, ...worker.atRest })
    const [units, attempts] = [worker.units(), worker.attempts(sprintId)]
    count.prompts += attempts.length
    count.lost += attempts.filter((attempt) => !units.includes(attempt)).length
    count.doubled += units.length - new Set(units).size
    expect(units).toEqual(attempts)
    await expect
      .poll(() => worker.watching(sprintId).catch(String), longTimeout)
      .toEqual({ missed: [], more: [], ...worker.all })
    count.events += worker.watched(sprintId).length
  }
  for (const [index, worker] of stopped.entries()) {
    const sprintId = await stopping[index]
    await expect.poll(() => worker.state(), longTimeout).toMatchObject({ sprintId, ...worker.stopped })
    await expect.poll(() => worker.lock().catch(() => 'unknown'), longTimeout).toBe(false)
    count.prompts += worker.units().length
    expect(worker.attempts(sprintId ?? '').slice(0, 1)).toEqual(expect.arrayContaining(worker.units()))
  }
  await expect.poll(() => markedProcesses(world.folder), longTimeout).toEqual([])
  count.left += markedProcesses(world.folder).length
  const { items } = await world.fleet.api().listAgents({})
  expect(items.map(({ agent }) => agent.state)).toEqual(['idle', 'idle', 'idle', 'idle'])
  count.seeds++
}

/** Starts work that would take a minute per prompt, and stops it soon after. */
async function startAndStop(worker: TestWorker, seed: number, afterMs: number): Promise<string> {
  const sprintId = await worker.begin(`count for ever (${seed})`, 60)
  await sleep(afterMs)
  await worker.stop()
  return sprintId
}

/** Three to five faults, some of them at the same time; then everything heals. */
async function injectFaults({ fleet, machines }: FireWorld, seed: number, random: Random): Promise<void> {
  const crash = async (one: Pick<ServedMachine, 'kill' | 'start'>) => {
    await one.kill()
    await sleep(random.below(300))
    one.start()
  }
  const spoil = async ({ proxy }: Remote) => {
    proxy.set(random.pick(toxics))
    await sleep(100 + random.below(500))
    // Otherwise it stays, whatever else happens.
    if (random.chance(0.7)) proxy.set({ kind: 'pass' })
  }
  const some = () => (random.chance(0.3) ? machines : [random.pick(machines)])
  const faults: readonly [() => Promise<unknown>, ...(() => Promise<unknown>)[]] = [
    () => crash(fleet.backend),
    () => crash(random.pick(machines)),
    () => Promise.all([crash(fleet.backend), ...some().map(crash)]),
    () => spoil(random.pick(machines)),
    () => spoil(random.pick(machines)),
    () => spoil(random.pick(machines)),
    () => Promise.all([spoil(random.pick(machines)), crash(random.pick(machines))]),
  ]
  for (let left = 3 + random.below(3); left > 0; left--) {
    await sleep(random.below(400))
    await random.pick(faults)()
  }
  for (const { proxy } of machines) proxy.set({ kind: 'pass' })
  if (seed % 10 === 0) random.pick(machines).proxy.forget()
}

/** The time until both machines answer and all prompts that ended on them are known, and since the backend answers. */
async function reconciled({ fleet, machines }: FireWorld, sprints: readonly Sprint[]) {
  const healed = performance.now()
  let up: number | undefined
  const ended = sprints.map(({ worker, sprintId }) => ({ sprintId, count: worker.ended(sprintId) }))
  const answers = async ({ workers: [worker] }: Remote) =>
    (await fleet.api().listNotes({ agentId: worker.agentId })).folder !== ''
  const isKnown = async () => {
    await fleet.api().me({})
    up ??= performance.now()
    for (const machine of machines) if (!(await answers(machine))) return false
    const { items } = await fleet.api().listAgents({})
    const known = new Map(items.map(({ sprint }) => [sprint?.id, sprint?.verdicts.filter(({ verdict }) => verdict)]))
    return ended.every(({ sprintId, count }) => (known.get(sprintId)?.length ?? 0) >= count)
  }
  await expect.poll(() => isKnown().catch(() => false), { ...timeoutOptions, interval: 150 }).toBe(true)
  return { healing: performance.now() - healed, sinceUp: performance.now() - (up ?? healed) }
}

function formatCount({ seeds, prompts, lost, doubled, left, events, healing, sinceUp }: Count): string {
  const what = `${prompts} prompts, ${lost} lost, ${doubled} doubled, ${left} processes left, ${events} events seen`
  const when = `${times(healing)} after healing, ${times(sinceUp)} after the backend was up`
  return `${seeds} seeds, ${what}; reconciled ${when}`
}

function times(all: readonly number[]): string {
  const sorted = all.map(Math.round).toSorted((a, b) => a - b)
  return `${sorted[Math.floor(sorted.length / 2)]} ms (median) and ${sorted.at(-1)} ms (slowest)`
}
