import { type ChildProcess, fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { cp, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eq } from 'drizzle-orm'
import { expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { agents } from '../../src/backend/database/agent.ts'
import { machines } from '../../src/backend/database/machine.ts'
import { openDatabase } from '../../src/backend/database/open-database.ts'
import { createNotesProgress } from '../../src/backend/sprints/new-progress.ts'
import { createOutbox } from '../../src/backend/machines/machine-state.ts'
import { openFleet } from '../../src/backend/open-fleet.ts'
import { createFleetSprint } from '../../src/backend/sprints/sprints.ts'
import { startPostgres, type TestPostgres } from '../support/postgres.ts'
import { migrations, waitUntil } from './test-fleet.ts'

/**
 * How many times a replica is killed, and how much work runs during it. `npm run test:more -- replicas` kills a hundred times.
 */
const kills = Number(process.env['REPLICA_KILLS'] ?? 1)
const crashes = Number(process.env['POSTGRES_CRASHES'] ?? 0)
const count = { agents: Number(process.env['REPLICA_AGENTS'] ?? 20), machines: 4 }
const promptMs = 100

const ReplicaMessage = z.discriminatedUnion('type', [
  z.object({ type: z.literal('ready') }),
  z.object({ type: z.literal('trouble'), text: z.string() }),
  z.object({ type: z.literal('taken'), key: z.string() }),
  z.object({
    type: z.literal('message'),
    machineId: z.string(),
    row: z.number(),
    message: z.looseObject({ type: z.string(), body: z.looseObject({ agentId: z.string() }) }),
  }),
])

type Machine = {
  readonly id: string
  epoch: number
  replica: number
  readonly prompts: Map<string, { readonly agentId: string; isRunning: boolean }>
  readonly reports: Map<string, unknown>
}

/** The machines and their observations: prompts started twice, two at a time, and how long an agent was idle. */
function machineRoom(ids: readonly string[], send: (replica: number, message: object) => boolean) {
  const room = new Map<string, Machine>()
  for (const id of ids) room.set(id, { id, epoch: 0, replica: -1, prompts: new Map(), reports: new Map() })
  const seen = { prompts: 0, repeated: 0, overlaps: 0, longestIdleMs: 0, takeovers: 0, longestTakeoverMs: 0 }
  /** When machines lost their replica and have started nothing since. */
  const lostSince = new Map<string, number>()
  const idleSince = new Map<string, number>()
  /** The iterations that each agent has started. */
  const startsByPrompt = new Map<string, number[]>()

  const report = (machine: Machine, key: string, body: object) => {
    machine.reports.set(key, body)
    send(machine.replica, { type: 'report', machineId: machine.id, key, report: body })
  }
  const begin = (machine: Machine, promptId: string, body: { agentId: string; asked: unknown }) => {
    const known = machine.prompts.get(promptId)
    if (known) return void seen.repeated++
    const { agentId } = body
    if ([...machine.prompts.values()].some((other) => other.agentId === agentId && other.isRunning)) seen.overlaps++
    seen.prompts++
    const lost = lostSince.get(machine.id)
    if (lost !== undefined) {
      seen.takeovers++
      seen.longestTakeoverMs = Math.max(seen.longestTakeoverMs, Date.now() - lost)
      lostSince.delete(machine.id)
    }
    const since = idleSince.get(agentId)
    if (since !== undefined) seen.longestIdleMs = Math.max(seen.longestIdleMs, Date.now() - since)
    const prompt = { agentId, isRunning: true }
    machine.prompts.set(promptId, prompt)
    const { iteration, attempt } = Order.parse(body.asked).order
    startsByPrompt.set(agentId, [...(startsByPrompt.get(agentId) ?? []), iteration])
    const end = { kind: 'report', report: { status: 'continue', summary: '', completedStepIds: [], pendingSteps: [] } }
    const usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 }
    const fact = { type: 'attempt-ended', at: 0, iteration, attempt, end, usage, costUsd: 0, changed: true, random: 0 }
    setTimeout(() => {
      prompt.isRunning = false
      idleSince.set(agentId, Date.now())
      report(machine, `prompt:${promptId}`, { promptId, agentId, endedAt: 0, end: { kind: 'fact', fact } })
    }, promptMs)
  }
  const carryOut = (machine: Machine, orderId: string, body: { agentId: string; order: unknown }) => {
    const { agentId } = body
    const fact = { type: 'checkpoint-made', at: 0, iteration: Iteration.parse(body.order).iteration }
    report(machine, `order:${orderId}`, { orderId, agentId, endedAt: 0, fact })
  }
  return {
    seen,
    begun: startsByPrompt,
    /** A machine keeps a report until it is stored, and sends it again. */
    tellAgain: () => {
      for (const machine of room.values()) {
        for (const [key, body] of machine.reports) {
          send(machine.replica, { type: 'report', machineId: machine.id, key, report: body })
        }
      }
    },
    /** The replica with the most machines. */
    holder: () => [...room.values()][0]?.replica ?? 0,
    /** Machines of a dead replica connect to another one. */
    move: (from: number, to: number) => {
      for (const machine of room.values()) {
        if (from !== -1 && machine.replica !== from) continue
        machine.replica = to
        machine.epoch++
        lostSince.set(machine.id, Date.now())
        send(to, { type: 'connect', machineId: machine.id, epoch: machine.epoch, inventory: createInventory(machine) })
        for (const [key, body] of machine.reports) {
          send(to, { type: 'report', machineId: machine.id, key, report: body })
        }
      }
    },
    taken: (key: string) => {
      for (const machine of room.values()) machine.reports.delete(key)
    },
    onMessage: (
      replica: number,
      { machineId, row, message }: Extract<z.output<typeof ReplicaMessage>, { type: 'message' }>,
    ) => {
      const machine = room.get(machineId)
      if (!machine || machine.replica !== replica) return
      const { promptId, orderId } = Ids.parse(message.body)
      if (message.type === 'prompt') begin(machine, promptId ?? '', { asked: undefined, ...message.body })
      if (message.type === 'carry-out') carryOut(machine, orderId ?? '', { order: undefined, ...message.body })
      send(replica, { type: 'stored', machineId, rows: [row] })
    },
  }
}

const Order = z.object({ order: z.object({ iteration: z.number(), attempt: z.number() }) })
const Iteration = z.object({ iteration: z.number() })
const Ids = z.looseObject({ promptId: z.string().optional(), orderId: z.string().optional() })

const createInventory = ({ prompts }: Machine) => {
  const running = [...prompts].filter(([, { isRunning }]) => isRunning)
  const of = [...new Set(running.map(([, { agentId }]) => agentId))]
  const known = { version: '0', platform: 'test', bootEpoch: 1, at: Date.now(), name: 'm', labels: [], slots: 1000 }
  const listed = of.map((agentId) => ({
    agentId,
    state: 'running',
    workspace: { kind: 'folder', path: '/' },
    folder: '/',
    prompts: running
      .filter(([, other]) => other.agentId === agentId)
      .map(([promptId]) => ({ promptId, running: true })),
    orders: [],
    lastEventSeq: 0,
  }))
  return { ...known, roots: [], agents: listed, waiting: 0 }
}

type OnReplicaMessage = (replica: number, message: z.output<typeof ReplicaMessage>) => void
type SupervisorHandlers = { readonly onMessage: OnReplicaMessage; readonly moved: (from: number, to: number) => void }

/** Migrations of the next version; both versions use its database. */
async function newerMigrations(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'ralph-newer-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  await cp(migrations, folder, { recursive: true })
  const number = `${(await readdir(folder)).length + 1}`.padStart(4, '0')
  const step = `
    create table mood (agent_id uuid primary key references agent on delete cascade, name text not null);
    alter table agent_prompt add column mood text;
    alter table sprint add column moods jsonb not null default '[]';
    create index agent_prompt_mood on agent_prompt (mood) where mood is not null;`
  await writeFile(join(folder, `${number}-mood.sql`), step)
  return folder
}

/**
 * Two replicas, and a supervisor that restarts one that exits: killed by the test, or because it declared itself lost.
 * Every other one is a newer version.
 */
function superviseReplicas(url: string, newer: string, { onMessage, moved }: SupervisorHandlers) {
  const living = new Map<number, ChildProcess>()
  const state = { next: 0, isOver: false, gaveUp: 0 }
  const start = () =>
    new Promise<void>((resolve) => {
      const number = state.next++
      const env = { ...process.env, DATABASE_URL: url, ...(number % 2 === 1 && { MIGRATIONS: newer }) }
      const child = fork(new URL('replica.mjs', import.meta.url), {
        env,
        stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      })
      child.on('exit', (code) => {
        living.delete(number)
        if (state.isOver) return
        if (code !== null) state.gaveUp++
        void start()
        const [other] = living.keys()
        if (other !== undefined) moved(number, other)
      })
      child.on('message', (message) => {
        const received = ReplicaMessage.parse(message)
        if (received.type === 'ready') {
          const wasAlone = living.size === 0
          living.set(number, child)
          if (wasAlone) moved(-1, number)
          resolve()
        }
        onMessage(number, received)
      })
    })
  return {
    state,
    living,
    start,
    send: (number: number, message: object): boolean => living.get(number)?.send(message, () => {}) ?? false,
    stop: () => {
      state.isOver = true
      for (const child of living.values()) child.kill('SIGKILL')
    },
  }
}

type Disturbance = {
  readonly times: number
  readonly server: TestPostgres
  readonly disturb: (parts: { holder: () => ChildProcess | undefined }) => Promise<void>
}

/** Work continues through all disturbances, and every agent gets each of its prompts once, in order. */
async function surviveDisturbances({ times, server, disturb }: Disturbance) {
  onTestFinished(server.stop)
  const url = await server.makeDatabase()
  const machineIds = await createBusyFleet(url)
  const troubles: string[] = []
  const room = machineRoom(machineIds, (replica, message) => processes.send(replica, message))
  const onMessage: OnReplicaMessage = (replica, received) => {
    if (received.type === 'trouble') troubles.push(received.text)
    if (received.type === 'taken') room.taken(received.key)
    if (received.type === 'message') room.onMessage(replica, received)
  }
  const processes = superviseReplicas(url, await newerMigrations(), { onMessage, moved: room.move })
  onTestFinished(processes.stop)
  const again = setInterval(room.tellAgain, 1000)
  onTestFinished(() => clearInterval(again))
  await processes.start()
  // The newer version migrates the database while the older one works.
  await processes.start()
  const goesOn = async (prompts: number) => {
    const goal = room.seen.prompts + prompts
    const look = async () => ({
      ...room.seen,
      ...processes.state,
      living: processes.living.size,
      last: troubles.at(-1),
    })
    await waitUntil(look, (seen) => seen.prompts > goal && seen.living === 2, 300_000)
  }
  for (let time = 0; time < times; time++) {
    await goesOn(count.agents)
    await disturb({ holder: () => processes.living.get(room.holder()) })
  }
  const before = new Map([...room.begun].map(([agentId, iterations]) => [agentId, iterations.length]))
  const stuck = () => [...room.begun].filter(([agentId, all]) => all.length < (before.get(agentId) ?? 0) + 2)
  await waitUntil(
    async () => stuck().length,
    (some) => some === 0 && room.begun.size === count.agents,
    120_000,
  ).catch(() => {})
  const starts = [...room.begun.values()]
  console.log(JSON.stringify({ times, agents: starts.length, ...room.seen, ...processes.state }))
  return {
    agents: starts.length,
    overlaps: room.seen.overlaps,
    lostOrDoubled: starts.filter((iterations) => iterations.some((number, index) => number !== index + 1)),
    stuck: stuck(),
  }
}

const noHarm = { agents: count.agents, overlaps: 0, lostOrDoubled: [], stuck: [] }

const times = (often: number) => (often === 1 ? 'once' : `${often} times`)

it(`loses and repeats nothing when one of two replicas, of two versions, is killed ${times(kills)}`, async () => {
  const server = await startPostgres()
  const disturb: Disturbance['disturb'] = async ({ holder }) => void holder()?.kill('SIGKILL')
  expect(await surviveDisturbances({ times: kills, server, disturb })).toEqual(noHarm)
}, 3_600_000)

it.skipIf(crashes === 0)(
  `loses nothing when Postgres crashes as in a power cut, ${times(crashes)}`,
  async () => {
    const server = await startPostgres({ isDurable: true })
    const disturb = async () => {
      await server.crash()
      await server.restart()
    }
    expect(await surviveDisturbances({ times: crashes, server, disturb })).toEqual(noHarm)
  },
  3_600_000,
)

/** Sprints that never end, started but not yet sent, because no machine is connected. */
async function createBusyFleet(url: string) {
  const database = await openDatabase({ url }, { migrations })
  onTestFinished(() => database.close())
  const clock = { now: () => Date.now() }
  const unused = async () => {
    throw new Error('machines are not called here')
  }
  const fleet = await openFleet({
    database,
    clock,
    newId: randomUUID,
    machines: { ...createOutbox({ database, clock }), ask: unused },
    notifier: { notify: async () => {}, deliver: async () => {} },
    compiling: { readWorkflow: () => undefined },
    logError: () => {},
    onLost: () => {},
  })
  const machineIds = Array.from({ length: count.machines }, () => randomUUID())
  const agentIds = Array.from({ length: count.agents }, () => randomUUID())
  const createdAt = Date.now()
  for (const id of machineIds) {
    await database.db.insert(machines).values({ id, name: 'm', status: 'active', slots: 1000, createdAt })
  }
  for (const [index, id] of agentIds.entries()) {
    const machineId = machineIds[index % machineIds.length] ?? ''
    const workspace = { kind: 'folder' as const, path: '/' }
    const agent = { id, name: 'a', machineId, workspace, program: 'claude', account: id, state: 'idle' as const }
    await database.db.insert(agents).values({ ...agent, createdAt })
    const sprintId = randomUUID()
    const options = { taskDescription: 'work', ifBusy: 'queue' as const, doneWhen: [] }
    const progress = { ...createNotesProgress(sprintId, options), checkpoint: false }
    await createFleetSprint(fleet, id, { id: sprintId, progress, by: { name: 'test' } })
  }
  await fleet.close()
  expect(await database.db.select().from(agents).where(eq(agents.state, 'running'))).toEqual([])
  return machineIds
}
