/**
 * How long an agent of the fleet is idle between two prompts, as far as the backend is to blame; how many agents it can serve;
 * how many events it takes. Machines are simulated in this process; everything else is real.
 *
 *   node bench/backend.mjs [--agents 100] [--prompt-ms 2000] [--seconds 20] [--events]     embedded database
 *   DATABASE_URL=postgresql://… node bench/backend.mjs …                                    Postgres (an empty database)
 */
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { asc, eq, inArray } from 'drizzle-orm'
import { agents } from '../dist/backend/database/agent.js'
import { machineOutbox, machines } from '../dist/backend/database/machine.js'
import { openDatabase } from '../dist/backend/database/open-database.js'
import { machineConnected, outbox, outboxTopic, takeEvents } from '../dist/backend/fleet/machines.js'
import { notesProgress } from '../dist/backend/fleet/new-progress.js'
import { openFleet } from '../dist/backend/fleet/open-fleet.js'
import { beginSprint } from '../dist/backend/fleet/sprints.js'
import { takePromptEnded } from '../dist/backend/fleet/take-report.js'

const { values } = parseArgs({
  options: {
    agents: { type: 'string', default: '100' },
    'prompt-ms': { type: 'string', default: '2000' },
    seconds: { type: 'string', default: '20' },
    events: { type: 'boolean', default: false },
  },
})
const count = Number(values.agents)
const promptMs = Number(values['prompt-ms'])
const perMachine = 25

const folder = await mkdtemp(join(tmpdir(), 'ralph-bench-'))
const place = process.env.DATABASE_URL ? { url: process.env.DATABASE_URL } : { dataFolder: folder }
const migrations = new URL('../assets/migrations', import.meta.url).pathname
const database = await openDatabase(place, { migrations })
const clock = { now: () => Date.now() }
const fleet = await openFleet({
  database,
  clock,
  newId: randomUUID,
  machines: { ...outbox({ database, clock }), ask: async () => ({ success: true }) },
  notifications: { tell: async () => {} },
  compiling: { readWorkflow: () => undefined },
  trouble: (error, doing) => console.error(doing, error.message),
  onLost: (reason) => console.error(reason),
})

const idleSince = new Map()
const waits = []
let prompts = 0
let isOver = false
const usage = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 }
const report = { status: 'continue', summary: 'did a part', completedStepIds: [], pendingSteps: [] }

function work(machineId, { promptId, agentId, asked }) {
  const since = idleSince.get(agentId)
  if (since !== undefined) waits.push(performance.now() - since)
  prompts++
  const { iteration, attempt } = asked.order
  const ended = { iteration, attempt, end: { kind: 'report', report }, usage, costUsd: 0, changed: true, random: 0 }
  const end = { kind: 'fact', fact: { type: 'attempt-ended', at: 0, ...ended } }
  setTimeout(
    () => {
      if (isOver) return
      idleSince.set(agentId, performance.now())
      takePromptEnded(fleet, machineId, { promptId, agentId, endedAt: 0, end }).catch((error) => console.error(error))
    },
    promptMs * (0.75 + Math.random() / 2),
  )
}

/** As the channel does: a signal, a look into the outbox, and the row goes once the machine has it. */
const reading = new Map()
async function read(machineId) {
  const rows = await database.db
    .select()
    .from(machineOutbox)
    .where(eq(machineOutbox.machineId, machineId))
    .orderBy(asc(machineOutbox.id))
    .limit(200)
  const seen = reading.get(machineId).seen
  const fresh = rows.filter(({ id }) => !seen.has(id))
  for (const { id, message } of fresh) {
    seen.add(id)
    if (message.type === 'prompt') work(machineId, message.body)
  }
  if (fresh.length > 0)
    await database.db.delete(machineOutbox).where(
      inArray(
        machineOutbox.id,
        fresh.map(({ id }) => id),
      ),
    )
}
database.signals.on(outboxTopic, async (machineId) => {
  const here = isOver ? undefined : reading.get(machineId)
  if (!here || here.busy) return void (here && (here.again = true))
  here.busy = true
  do {
    here.again = false
    await read(machineId)
  } while (here.again)
  here.busy = false
})

const machineIds = Array.from({ length: Math.ceil(count / perMachine) }, () => randomUUID())
for (const id of machineIds) {
  reading.set(id, { seen: new Set(), busy: false, again: false })
  const machine = { id, name: 'm', status: 'active', slots: perMachine, createdAt: Date.now() }
  await database.db.insert(machines).values(machine)
  await machineConnected(fleet, { machineId: id, executorId: 'bench', epoch: 1 })
}
const agentIds = []
for (let index = 0; index < count; index++) {
  const id = randomUUID()
  agentIds.push(id)
  const machineId = machineIds[Math.floor(index / perMachine)]
  const workspace = { kind: 'folder', path: '/' }
  const agent = { id, name: 'a', machineId, workspace, program: 'claude', account: id, state: 'idle' }
  await database.db.insert(agents).values({ ...agent, createdAt: Date.now() })
  const sprintId = randomUUID()
  const wanted = { taskDescription: 'work', ifBusy: 'queue', doneWhen: [], limits: {} }
  const progress = { ...notesProgress(sprintId, wanted), checkpoint: false }
  await beginSprint(fleet, id, { id: sprintId, progress, by: { name: 'bench' } })
}

await new Promise((resolve) => setTimeout(resolve, promptMs))
waits.length = 0
prompts = 0
const cpu = process.cpuUsage()
const from = performance.now()
await new Promise((resolve) => setTimeout(resolve, Number(values.seconds) * 1000))
const seconds = (performance.now() - from) / 1000
const used = process.cpuUsage(cpu)
const sorted = waits.toSorted((a, b) => a - b)
const at = (share) => Math.round(sorted[Math.floor(sorted.length * share)] * 10) / 10
console.log(
  JSON.stringify({
    database: database.kind,
    agents: count,
    promptMs,
    promptsPerSecond: Math.round((prompts / seconds) * 10) / 10,
    idleToNextPromptMs: { p50: at(0.5), p90: at(0.9), p99: at(0.99), max: at(0.9999) },
    cpuMsPerPrompt: Math.round((used.user + used.system) / 1000 / prompts),
    rssMb: Math.round(process.memoryUsage.rss() / 1e6),
  }),
)
isOver = true
await new Promise((resolve) => setTimeout(resolve, 500))

if (values.events) {
  const event = { type: 'agent', iteration: 1, attempt: 1, event: { kind: 'text', text: 'x'.repeat(200) } }
  const begin = performance.now()
  let stored = 0
  await Promise.all(
    agentIds.slice(0, 50).map(async (agentId, index) => {
      const machineId = machineIds[Math.floor(index / perMachine)]
      for (let batch = 0; batch < 10; batch++) {
        const events = Array.from({ length: 200 }, (_, n) => ({ seq: batch * 200 + n + 1, at: Date.now(), event }))
        await takeEvents(fleet, machineId, { agentId, events })
        stored += events.length
      }
    }),
  )
  const perSecond = Math.round(stored / ((performance.now() - begin) / 1000))
  console.log(JSON.stringify({ database: database.kind, events: stored, eventsPerSecond: perSecond }))
}
await fleet.close()
await database.close()
await rm(folder, { recursive: true, force: true })
process.exit(0)
