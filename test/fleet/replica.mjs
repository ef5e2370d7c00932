/**
 * One replica of the backend, as a process of its own, whose machines are in the memory of its parent: what the connection would
 * carry goes over the pipe between the two. Started by replicas.test.ts and bench/backend.mjs; needs dist/.
 */
import { randomUUID } from 'node:crypto'
import { and, asc, eq, inArray } from 'drizzle-orm'

const dist = new URL('../../dist/backend/', import.meta.url)
const load = (name) => import(new URL(name, dist).href)
const { openDatabase } = await load('database/open-database.js')
const { machineOutbox } = await load('database/machine.js')
const { openFleet } = await load('open-fleet.js')
const { markConnected, markSeen, createOutbox, outboxTopic, applyInventory } = await load('machines/machine-state.js')
const { handlePromptEnded, handleOrderEnded } = await load('prompts/reports.js')

const migrations = process.env.MIGRATIONS ?? new URL('../../assets/migrations', import.meta.url).pathname
const clock = { now: () => Date.now() }
const reportError = (error, doing) => process.send?.({ type: 'trouble', text: `${doing}: ${error?.message ?? error}` })
const database = await openDatabase({ url: process.env.DATABASE_URL }, { migrations, onError: () => {} })
const fleet = await openFleet({
  database,
  clock,
  logError: reportError,
  newId: randomUUID,
  machines: {
    ...createOutbox({ database, clock }),
    ask: async () => ({ success: true, directory: '/notes', checks: [] }),
  },
  notifier: { notify: async () => {}, deliver: async () => {} },
  compiling: { readWorkflow: () => undefined },
  onLost: (reason) => {
    reportError(new Error(reason), 'lost')
    process.exit(1)
  },
})

/** Machines that are connected here, and rows of theirs that were passed on but not yet acknowledged. */
const connected = new Map()

async function deliver(machineId) {
  const here = connected.get(machineId)
  if (!here) return
  here.again = true
  if (here.busy) return
  here.busy = true
  try {
    while (here.again) {
      here.again = false
      await passOn(machineId, here)
    }
  } finally {
    here.busy = false
  }
}

async function passOn(machineId, here) {
  const own = eq(machineOutbox.machineId, machineId)
  const rows = await database.db.select().from(machineOutbox).where(own).orderBy(asc(machineOutbox.id)).limit(500)
  for (const { id, message } of rows) {
    if (here.sent.has(id)) continue
    here.sent.add(id)
    process.send({ type: 'message', machineId, row: id, message })
  }
}

const onSignal = (machineId) => deliver(machineId).catch((error) => reportError(error, 'deliver'))
database.signals.on(outboxTopic, onSignal)
setInterval(() => {
  for (const machineId of connected.keys()) {
    void onSignal(machineId)
    markSeen(fleet, machineId).catch(() => {})
  }
}, 1000)

const handlers = {
  connect: async (message) => {
    const { machineId, epoch, inventory } = message
    try {
      await applyInventory(fleet, machineId, inventory)
      connected.set(machineId, { sent: new Set(), busy: false, again: false })
      await markConnected(fleet, { machineId, executorId: fleet.engine.executorId, epoch })
    } catch (error) {
      reportError(error, 'connect')
      return void setTimeout(() => void handlers.connect(message).catch((again) => reportError(again, 'connect')), 500)
    }
    await deliver(machineId)
  },
  stored: ({ machineId, rows }) =>
    database.db
      .delete(machineOutbox)
      .where(and(eq(machineOutbox.machineId, machineId), inArray(machineOutbox.id, rows))),
  report: async ({ machineId, report, key }) => {
    if ('orderId' in report) await handleOrderEnded(fleet, machineId, report)
    else await handlePromptEnded(fleet, machineId, report)
    process.send({ type: 'taken', key })
  },
}
process.on('message', (message) => {
  handlers[message.type](message).catch((error) => reportError(error, message.type))
})
process.on('disconnect', () => process.exit(0))
process.send({ type: 'ready' })
