import { and, eq, lt } from 'drizzle-orm'
import { z } from 'zod'
import { sprintOrders } from '../database/sprint.ts'
import type { Handler } from '../engine/engine.ts'
import { openEngine } from '../engine/open-engine.ts'
import type { Fact } from '../../loop/fact.ts'
import { failUnmade } from './agents.ts'
import { forgetConnections, pumpMachine, tellLostMachines, tellLostPrompts, waitingAgents } from './machines.ts'
import type { Fleet } from './ports.ts'
import { pump } from './pump.ts'
import { lockAgent, lockSprint, sprintIn } from './rows.ts'
import { start } from './sprints.ts'
import { takeFact } from './take-fact.ts'
import { takeOverLost } from './take-over.ts'
import { slotTopic } from './take-report.ts'

export type FleetOptions = Omit<Fleet, 'engine' | 'settings'> & {
  readonly settings?: Partial<Fleet['settings']>
  /** Additional kinds of durable tasks. */
  readonly handlers?: Readonly<Record<string, Handler>>
  /** The other replicas consider this one dead: it must exit. */
  readonly onLost: (reason: string) => void
}

const defaultSettings: Fleet['settings'] = { leaseMs: 600_000, silentMs: 90_000, sweepMs: 5000 }

export type OpenFleet = Fleet & { readonly close: () => Promise<void> }

/** Starts the engine, the timers, and the periodic sweep for missed work. */
export async function openFleet({ handlers = {}, onLost, ...options }: FleetOptions): Promise<OpenFleet> {
  const settings = { ...defaultSettings, ...options.settings }
  const own: { fleet?: Fleet } = {}
  const known = (): Fleet => {
    if (!own.fleet) throw new Error('the fleet is not open yet')
    return own.fleet
  }
  const log = (_level: string, text: string) => options.trouble(new Error(text), 'engine')
  const engine = await openEngine(options.database, { handlers: { ...handlers, ...workOf(known) }, onLost, log })
  const fleet: Fleet = { ...options, settings, engine }
  own.fleet = fleet
  await forgetConnections(fleet)
  const sweeping = sweepEvery(fleet)
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
const PumpInput = z.object({ agentId: z.string() })
const StartInput = z.object({ sprintId: z.string(), fact: z.custom<Extract<Fact, { type: 'started' }>>() })

/** The engine handles timers. Everything else happens in the transaction of its cause. */
const workOf = (fleet: () => Fleet): Record<string, Handler> => ({
  'end-wait': (input) => endWait(fleet(), WaitInput.parse(input).orderId),
  pump: (input) => pumpAgent(fleet(), PumpInput.parse(input).agentId),
  'start-sprint': (input) => startLater(fleet(), StartInput.parse(input)),
})

/** Ends a wait that is due. Does nothing if the wait was cancelled. */
const endWait = (fleet: Fleet, orderId: string): Promise<void> =>
  fleet.database.transaction(async (tx) => {
    const [found] = await tx.db.select().from(sprintOrders).where(eq(sprintOrders.id, orderId))
    if (!found) return
    const agent = await lockAgent(tx, found.agentId)
    const [order] = await tx.db.select().from(sprintOrders).where(eq(sprintOrders.id, orderId))
    if (order?.status !== 'open' || order.order.type !== 'wait') return
    const at = fleet.clock.now()
    await tx.db.update(sprintOrders).set({ status: 'done', endedAt: at }).where(eq(sprintOrders.id, orderId))
    const { iteration } = order.order
    const sprint = await sprintIn(tx, order.sprintId)
    const fact = { type: 'wait-ended' as const, at, iteration }
    const held = await takeFact(fleet, tx, { agent, sprint }, { id: `wait:${orderId}`, fact })
    await pump(fleet, tx, held.agent)
  })

const pumpAgent = (fleet: Fleet, agentId: string): Promise<void> =>
  fleet.database.transaction(async (tx) => void (await pump(fleet, tx, await lockAgent(tx, agentId))))

const startLater = (fleet: Fleet, { sprintId, fact }: z.output<typeof StartInput>): Promise<void> =>
  fleet.database.transaction(async (tx) => {
    const held = await lockSprint(tx, sprintId)
    if (held.sprint.status !== 'not-started' || held.agent.sprintId !== sprintId) return
    await start(fleet, tx, held, { id: 'start', fact: { ...fact, at: fleet.clock.now() } })
  })

const graceMs = 5000

/** Waits that should have ended. */
async function overdueWaits({ database, clock }: Fleet): Promise<string[]> {
  const isDue = lt(sprintOrders.dueAt, clock.now() - graceMs)
  const isOpen = and(eq(sprintOrders.type, 'wait'), eq(sprintOrders.status, 'open'), isDue)
  const rows = await database.db.select({ id: sprintOrders.id }).from(sprintOrders).where(isOpen).limit(100)
  return rows.map(({ id }) => id)
}

/**
 * Periodically dispatches agents that wait for a slot, reports silent machines, and resumes work left by dead
 * processes.
 */
function sweepEvery(fleet: Fleet) {
  const { sweepMs } = fleet.settings
  const since = fleet.clock.now()
  let moving: Promise<void> | undefined
  // Not awaited: it calls machines, which takes time.
  const moveLost = () => takeOverLost(fleet, since).catch((error: unknown) => fleet.trouble(error, 'lost machines'))
  let running = Promise.resolve()
  const then = (run: () => Promise<void>, doing: string) =>
    (running = running.then(run).catch((error: unknown) => fleet.trouble(error, doing)))
  const sweep = async () => {
    for (const agentId of await waitingAgents(fleet)) await pumpAgent(fleet, agentId)
    for (const orderId of await overdueWaits(fleet)) await endWait(fleet, orderId)
    await tellLostMachines(fleet)
    await tellLostPrompts(fleet)
    moving ??= moveLost().finally(() => (moving = undefined))
    await failUnmade(fleet)
  }
  const timer = setInterval(() => void then(sweep, 'sweep'), sweepMs)
  return {
    soon: (machineId: string) => void then(() => pumpMachine(fleet, machineId), 'slot'),
    stop: async () => {
      clearInterval(timer)
      await running
    },
  }
}
