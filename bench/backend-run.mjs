/**
 * One run of bench/backend.mjs: a whole backend in this process, with simulated machines (they read the outbox with the code of
 * the connection, and report); viewers of the page are a separate process. Prints one line of JSON.
 */
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { agents } from '../dist/backend/database/agent.js'
import { machines } from '../dist/backend/database/machine.js'
import { markConnected, outboxTopic, saveMachineEvents } from '../dist/backend/machines/machine-state.js'
import { createNotesProgress } from '../dist/backend/sprints/new-progress.js'
import { createFleetSprint } from '../dist/backend/sprints/sprints.js'
import { handlePromptEnded } from '../dist/backend/prompts/reports.js'
import { createDatabaseStore } from '../dist/backend/machines/database-store.js'
import { openBackend } from '../dist/backend/open-backend.js'

const { values } = parseArgs({
  options: {
    agents: { type: 'string', default: '100' },
    'prompt-ms': { type: 'string', default: '3000' },
    seconds: { type: 'string', default: '20' },
    /** Agent events per second, in batches as machines send them. */
    events: { type: 'string', default: '0' },
    batch: { type: 'string', default: '200' },
    viewers: { type: 'string', default: '0' },
    slots: { type: 'string', default: '25' },
  },
})
const option = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, Number(value)]))
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
const folder = await mkdtemp(join(tmpdir(), 'ralph-bench-'))
const backend = await openBackend({
  host: '127.0.0.1',
  port: 0,
  place: process.env.DATABASE_URL
    ? { url: process.env.DATABASE_URL }
    : { dataFolder: folder, template: new URL('../bin/database.br', import.meta.url).pathname },
  migrations: new URL('../assets/migrations', import.meta.url).pathname,
  page: new URL('../dist/web', import.meta.url).pathname,
  version: '0',
  userName: 'bench',
  compiling: { readWorkflow: () => undefined },
  log: (level, text) => level === 'warn' && console.error(text),
  onLost: (reason) => console.error(reason),
})
const { fleet, database } = backend
const store = createDatabaseStore(database, {
  now: Date.now,
  newId: randomUUID,
  replicaId: () => fleet.engine.executorId,
  onChange: async () => {},
})

const seen = { prompts: 0, waits: [], refused: 0, isOver: false }
const idleSince = new Map()
const usage = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 }
const report = { status: 'continue', summary: 'did a part', completedStepIds: [], pendingSteps: [] }

function work(machineId, { promptId, agentId, asked }) {
  const since = idleSince.get(agentId)
  if (since !== undefined) seen.waits.push(performance.now() - since)
  seen.prompts++
  const { iteration, attempt } = asked.order
  const ended = { iteration, attempt, end: { kind: 'report', report }, usage, costUsd: 0, changed: true, random: 0 }
  const end = { kind: 'fact', fact: { type: 'attempt-ended', at: 0, ...ended } }
  // The first ones end one by one, so that the rest is spread as well.
  const ms = option['prompt-ms'] * (since === undefined ? Math.random() : 0.75 + Math.random() / 2)
  setTimeout(() => {
    if (seen.isOver) return
    idleSince.set(agentId, performance.now())
    void untilTaken(() => handlePromptEnded(fleet, machineId, { promptId, agentId, endedAt: 0, end }))
  }, ms)
}

/** A machine keeps a report until it is stored. */
const untilTaken = (tell) =>
  tell().catch(async (error) => {
    if (seen.isOver) return
    seen.refused++
    if (seen.refused < 5) console.error(error.message)
    await pause(200)
    return untilTaken(tell)
  })

const lines = new Map()
async function deliver(machineId) {
  const line = seen.isOver ? undefined : lines.get(machineId)
  if (!line) return
  line.again = true
  if (line.busy) return
  line.busy = true
  while (line.again && !seen.isOver) {
    line.again = false
    for (const { position, type, body } of await line.outbox.pending(line.last, 200)) {
      line.last = position
      if (type === 'prompt') work(machineId, body)
    }
    await line.outbox.acked(line.last)
  }
  line.busy = false
}
database.signals.on(outboxTopic, (machineId) => void deliver(machineId).catch((error) => console.error(error)))

/** A silent machine would be considered lost. */
setInterval(
  () => lines.forEach((_, machineId) => void store.confirmConnection(machineId, 1).catch(() => {})),
  20_000,
).unref()

const known = []
for (let index = 0; index < option.agents; index++) {
  const isFirst = index % option.slots === 0
  const machineId = isFirst ? randomUUID() : known.at(-1).machineId
  if (isFirst) {
    lines.set(machineId, { outbox: store.outbox(machineId), last: 0, busy: false, again: false })
    const machine = { id: machineId, name: 'm', status: 'active', slots: option.slots, createdAt: Date.now() }
    await database.db.insert(machines).values(machine)
    await markConnected(fleet, { machineId, executorId: fleet.engine.executorId, epoch: 1 })
  }
  const id = randomUUID()
  const sprintId = randomUUID()
  known.push({ id, machineId, sprintId, seq: 0 })
  const workspace = { kind: 'folder', path: '/' }
  const agent = { id, name: 'a', machineId, workspace, program: 'claude', account: id, state: 'idle' }
  await database.db.insert(agents).values({ ...agent, createdAt: Date.now() })
  const options = { taskDescription: 'work', ifBusy: 'queue', doneWhen: [], limits: {} }
  const progress = { ...createNotesProgress(sprintId, options), checkpoint: false }
  await createFleetSprint(fleet, id, { id: sprintId, progress, by: { name: 'bench' } })
}

console.error(`    ${option.agents} agents after ${Math.round(performance.now() / 1000)} s`)

const text = 'x'.repeat(200)
const event = { type: 'agent', iteration: 1, attempt: 1, event: { kind: 'text', text } }
let stored = 0
let turn = 0
async function sendBatch() {
  const agent = known[turn++ % known.length]
  const { id: agentId, machineId, sprintId } = agent
  const events = Array.from({ length: option.batch }, () => ({ seq: ++agent.seq, at: Date.now(), sprintId, event }))
  await saveMachineEvents(fleet, machineId, { agentId, events })
  stored += events.length
}
/** As many as are due by now, at most 20 at the same time. */
async function sendEvents() {
  const from = performance.now()
  let sent = 0
  const sending = new Set()
  while (!seen.isOver) {
    const due = ((performance.now() - from) / 1000) * option.events - sent
    if (due < option.batch || sending.size >= 20) {
      await Promise.race([pause(5), ...sending])
      continue
    }
    sent += option.batch
    const one = sendBatch().catch((error) => seen.isOver || console.error(error))
    sending.add(one)
    void one.finally(() => sending.delete(one))
  }
}

const watching = option.viewers > 0 ? await startViewers() : undefined
async function startViewers() {
  const script = new URL('backend-viewers.mjs', import.meta.url).pathname
  const args = [script, `${option.viewers}`, backend.origin, await backend.commandToken()]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] })
  await new Promise((resolve) => child.once('message', resolve))
  return child
}
if (option.events > 0) void sendEvents()

await pause(5000)
Object.assign(seen, { prompts: 0, waits: [] })
stored = 0
const cpu = process.cpuUsage()
const from = performance.now()
await pause(option.seconds * 1000)
const seconds = (performance.now() - from) / 1000
const used = process.cpuUsage(cpu)
const viewed = watching && (await new Promise((resolve) => (watching.once('message', resolve), watching.send('tell'))))
watching?.kill()
const sorted = seen.waits.toSorted((a, b) => a - b)
const at = (share) => Math.round((sorted[Math.floor(sorted.length * share)] ?? 0) * 10) / 10
globalThis.gc?.()
const memory = process.memoryUsage()
console.log(
  JSON.stringify({
    database: database.kind,
    agents: option.agents,
    promptMs: option['prompt-ms'],
    promptsPerSecond: Math.round((seen.prompts / seconds) * 10) / 10,
    p50: at(0.5),
    p99: at(0.99),
    max: at(0.9999),
    cpuMsPerPrompt: Math.round(((used.user + used.system) / 1000 / seen.prompts) * 10) / 10,
    cpuShare: Math.round(((used.user + used.system) / 1e6 / seconds) * 100) / 100,
    ...(seen.refused > 0 && { refused: seen.refused }),
    eventsPerSecond: Math.round(stored / seconds),
    ...(viewed && { viewers: option.viewers, framesPerViewer: viewed.frames }),
    rssMb: Math.round(memory.rss / 1e6),
    heapMb: Math.round((memory.heapUsed + memory.external) / 1e6),
  }),
)
seen.isOver = true
await Promise.race([backend.close(), pause(5000)])
await rm(folder, { recursive: true, force: true })
process.exit(0)
