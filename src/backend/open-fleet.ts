import { and, eq, lt } from 'drizzle-orm'
import { z } from 'zod'
import { serialize } from '../platform/async.ts'
import { machineSilentMs } from './database/machine.ts'
import { sprintOrders } from './database/sprint.ts'
import type { TaskHandler } from './engine/engine.ts'
import { openEngine } from './engine/open-engine.ts'
import type { Fact } from '../loop/core/fact.ts'
import { failStaleCreations } from './agents/agents.ts'
import {
  clearConnections,
  dispatchMachine,
  notifyLostMachines,
  notifyLostPrompts,
  listWaitingAgents,
} from './machines/machine-state.ts'
import type { Fleet } from './fleet/fleet.ts'
import { dispatchNext } from './sprints/dispatch.ts'
import { applyFact } from './sprints/facts.ts'
import { agentTransaction, lockAgent, readSprintRow, sprintTransaction, transaction } from './fleet/transaction.ts'
import { endWait } from './sprints/waits.ts'
import { moveLostSprints } from './machines/takeover.ts'
import { slotTopic } from './prompts/reports.ts'

export type FleetOptions = Omit<Fleet, 'engine' | 'settings'> & {
  readonly settings?: Partial<Fleet['settings']>
  /** The other replicas consider this one dead: it must exit. */
  readonly onLost: (reason: string) => void
}

const defaultSettings: Fleet['settings'] = { leaseMs: 600_000, silentMs: machineSilentMs, sweepMs: 5000 }

export type OpenFleet = Fleet & { readonly close: () => Promise<void> }

/** Starts the engine, the timers, and the periodic sweep for missed work. */
export async function openFleet({ onLost, ...options }: FleetOptions): Promise<OpenFleet> {
  const settings = { ...defaultSettings, ...options.settings }
  const own: { fleet?: Fleet } = {}
  const known = (): Fleet => {
    if (!own.fleet) throw new Error('the fleet is not open yet')
    return own.fleet
  }
  const log = (_level: string, problem: string | Error) =>
    options.logError(problem instanceof Error ? problem : new Error(problem), 'engine')
  const engine = await openEngine(options.database, {
    handlers: createTaskHandlers(known),
    onLost,
    log,
  })
  const fleet: Fleet = { ...options, settings, engine }
  own.fleet = fleet
  await clearConnections(fleet)
  const sweeping = startSweep(fleet)
  const stopListening = fleet.database.signals.on(slotTopic, (machineId) => sweeping.soon(machineId))
  return {
    ...fleet,
    close: async () => {
      stopListening()
      await sweeping.stop()
      await engine.close()
    },
  }
}

const WaitInput = z.object({ orderId: z.string() })
const DispatchInput = z.object({ agentId: z.string() })
const DeliveryInput = z.object({ id: z.string(), at: z.number() })
const StartInput = z.object({ sprintId: z.string(), fact: z.custom<Extract<Fact, { type: 'started' }>>() })

/** The engine handles timers and deliveries. Everything else happens in the transaction of its cause. */
const createTaskHandlers = (fleet: () => Fleet): Record<string, TaskHandler> => ({
  'end-wait': (input) => endDueWait(fleet(), WaitInput.parse(input).orderId),
  pump: (input) => dispatchAgent(fleet(), DispatchInput.parse(input).agentId),
  deliver: (input) => fleet().notifier.deliver(DeliveryInput.parse(input)),
  'start-sprint': (input) => startScheduledSprint(fleet(), StartInput.parse(input)),
})

/** Ends a wait that is due. Does nothing if the wait was cancelled. */
const endDueWait = (fleet: Fleet, orderId: string): Promise<void> =>
  transaction(fleet, async ({ tx }) => {
    const [found] = await tx.db.select().from(sprintOrders).where(eq(sprintOrders.id, orderId))
    if (!found) return
    const t = await lockAgent({ fleet, tx }, found.agentId)
    const [order] = await t.tx.db.select().from(sprintOrders).where(eq(sprintOrders.id, orderId))
    if (order?.status !== 'open' || order.order.type !== 'wait') return
    await endWait(t, await readSprintRow(t, order.sprintId), order)
    await dispatchNext(t)
  })

const dispatchAgent = (fleet: Fleet, agentId: string): Promise<void> =>
  agentTransaction(fleet, agentId, (t) => dispatchNext(t))

const startScheduledSprint = (fleet: Fleet, { sprintId, fact }: z.output<typeof StartInput>): Promise<void> =>
  sprintTransaction(fleet, sprintId, async (t, sprint) => {
    if (sprint.status !== 'not-started' || t.agent.sprintId !== sprintId) return
    await applyFact(t, sprint, { id: 'start', fact: { ...fact, at: fleet.clock.now() } })
    await dispatchNext(t)
  })

const graceMs = 5000

/** Waits that should have ended. */
async function listOverdueWaits({ database, clock }: Fleet): Promise<string[]> {
  const isDue = lt(sprintOrders.dueAt, clock.now() - graceMs)
  const isOpen = and(eq(sprintOrders.type, 'wait'), eq(sprintOrders.status, 'open'), isDue)
  const rows = await database.db.select({ id: sprintOrders.id }).from(sprintOrders).where(isOpen).limit(100)
  return rows.map(({ id }) => id)
}

/**
 * Periodically dispatches agents that wait for a slot, reports silent machines, and resumes work left by dead
 * processes.
 */
function startSweep(fleet: Fleet) {
  const { sweepMs } = fleet.settings
  const since = fleet.clock.now()
  let moving: Promise<void> | undefined
  // Not awaited: it calls machines, which takes time.
  const moveLost = () => moveLostSprints(fleet, since).catch((error: unknown) => fleet.logError(error, 'lost machines'))
  const enqueue = serialize()
  const then = (run: () => Promise<void>, doing: string) =>
    enqueue(run).catch((error: unknown) => fleet.logError(error, doing))
  const sweep = async () => {
    for (const agentId of await listWaitingAgents(fleet)) await dispatchAgent(fleet, agentId)
    for (const orderId of await listOverdueWaits(fleet)) await endDueWait(fleet, orderId)
    await notifyLostMachines(fleet)
    await notifyLostPrompts(fleet)
    moving ??= moveLost().finally(() => (moving = undefined))
    await failStaleCreations(fleet)
  }
  const timer = setInterval(() => void then(sweep, 'sweep'), sweepMs)
  return {
    soon: (machineId: string) => void then(() => dispatchMachine(fleet, machineId), 'slot'),
    stop: async () => {
      clearInterval(timer)
      await enqueue(async () => {})
    },
  }
}
