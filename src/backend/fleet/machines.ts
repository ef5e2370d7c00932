import { and, asc, eq, inArray, isNotNull, lt, ne, not, or, sql, type SQL } from 'drizzle-orm'
import type { Inventory, InventoryAgent, ReportBody, ReportReply } from '../../contract/fleet/channel.ts'
import { agents, type AgentRow } from '../database/agent.ts'
import { agentPrompts, type PromptRow } from '../database/agent-prompt.ts'
import type { Tx } from '../database/database.ts'
import { machineOutbox, machines } from '../database/machine.ts'
import { sprintOrders } from '../database/sprint.ts'
import { announce, appendEvents } from './announce.ts'
import { appendToSprint } from './append-to-sprint.ts'
import { interrupt } from './give-orders.ts'
import type { Fleet, Machines } from './ports.ts'
import { pump } from './pump.ts'
import { lockAgent, runningPrompt } from './rows.ts'
import { refuseStrangers } from './take-late.ts'

/** Signals the replica that holds the machine's connection; the key is the machine ID. */
export const outboxTopic = 'outbox'

/** The part of `Machines` that only writes rows; the replica with the connection delivers them. */
export function outbox({ database, clock }: Pick<Fleet, 'database' | 'clock'>): Pick<Machines, 'send' | 'withdraw'> {
  return {
    send: async (tx, machineId, { id, type, body }) => {
      const row = { machineId, messageId: id, message: { type, body }, createdAt: clock.now() }
      await tx.db.insert(machineOutbox).values(row).onConflictDoNothing()
      tx.afterCommit(() => database.signals.give(outboxTopic, machineId))
    },
    withdraw: async (tx, machineId, id) => {
      const own = and(eq(machineOutbox.machineId, machineId), eq(machineOutbox.messageId, id))
      await tx.db.delete(machineOutbox).where(own)
    },
  }
}

export type Connection = { readonly machineId: string; readonly executorId: string; readonly epoch: number }

/** The machine is connected and its inventory was applied: start dispatching work to its agents. */
export async function machineConnected(fleet: Fleet, { machineId, executorId, epoch }: Connection): Promise<void> {
  const now = fleet.clock.now()
  await fleet.database.transaction(async (tx) => {
    const here = { connectedTo: executorId, connectedAt: now, epoch, lastSeenAt: now }
    const newer = and(eq(machines.id, machineId), sql`${machines.epoch} <= ${epoch}`)
    await tx.db.update(machines).set(here).where(newer)
    await announce(fleet, tx, { kind: 'machine', machineId })
    await noLongerLost(fleet, tx, machineId)
  })
  await pumpMachine(fleet, machineId)
}

/** Clears the notes about its absence from its agents. */
async function noLongerLost(fleet: Fleet, tx: Tx, machineId: string): Promise<void> {
  const said = and(
    eq(agents.machineId, machineId),
    isNotNull(agents.reason),
    inArray(agents.state, ['idle', 'running']),
  )
  const freed = await tx.db.update(agents).set({ reason: null }).where(said).returning({ agentId: agents.id })
  await announce(fleet, tx, ...freed.map(({ agentId }) => ({ kind: 'agent' as const, agentId })))
}

/**
 * Marks the machine disconnected unless a newer connection exists. Running prompts keep running; their state is
 * unknown.
 */
export const machineDisconnected = (fleet: Fleet, { machineId, epoch }: Connection): Promise<void> =>
  fleet.database.transaction(async (tx) => {
    const same = and(eq(machines.id, machineId), eq(machines.epoch, epoch), isNotNull(machines.connectedTo))
    const { rowCount } = await tx.db.update(machines).set({ connectedTo: null }).where(same)
    if (rowCount) await announce(fleet, tx, { kind: 'machine', machineId })
  })

/** Called every few seconds by the replica that holds the connection. */
export async function machineSeen({ database, clock }: Fleet, machineId: string): Promise<void> {
  await database.db.update(machines).set({ lastSeenAt: clock.now() }).where(eq(machines.id, machineId))
}

/** Dispatches the waiting work of the machine's agents, one transaction each. */
export async function pumpMachine(fleet: Fleet, machineId: string): Promise<void> {
  for (const agentId of await waitingAgents(fleet, machineId)) {
    await fleet.database.transaction(async (tx) => void (await pump(fleet, tx, await lockAgent(tx, agentId))))
  }
}

/** Agents with queued prompts and none running. */
export async function waitingAgents(fleet: Fleet, machineId?: string): Promise<string[]> {
  const now = new Date(fleet.clock.now()).toISOString()
  const { rows } = await fleet.database.db.execute<{ id: string }>(sql`
    select agent.id from agent join machine on machine.id = agent.machine_id
    where agent.state in ('idle', 'running') and machine.connected_to is not null
      ${machineId === undefined ? sql`` : sql`and agent.machine_id = ${machineId}`}
      and not exists (select 1 from agent_prompt where agent_id = agent.id and status = 'running')
      and (exists (select 1 from agent_prompt where agent_id = agent.id and status in ('queued', 'parked')
             and (not_before is null or not_before <= ${now}::timestamptz))
        or exists (select 1 from sprint_order where agent_id = agent.id and status = 'queued' and type <> 'run-attempt'))
    order by (select min(created_at) from agent_prompt where agent_id = agent.id and status = 'queued') limit 1000`)
  return rows.map(({ id }) => id)
}

/**
 * Reconciles the inventory of a machine with the database. Prompts that should run but are unknown to the machine are
 * sent again; if the machine has them after all, it joins them. Prompts that should not run are ended.
 */
export async function takeInventory(
  fleet: Fleet,
  machineId: string,
  inventory: Inventory,
): Promise<ReportReply<'inventory'>> {
  await noteInventory(fleet, machineId, inventory)
  const own = await fleet.database.db.select().from(agents).where(eq(agents.machineId, machineId))
  for (const { id } of own) {
    const said = inventory.agents.find(({ agentId }) => agentId === id)
    await fleet.database.transaction(async (tx) => {
      const agent = await lockAgent(tx, id)
      if (agent.machineId === machineId) await reconcile(fleet, tx, agent, said)
    })
  }
  const moved = await movedFrom(fleet, machineId, inventory)
  const stored = own.filter(({ id }) => !moved.includes(id)).map(({ id, eventsSeq }) => [id, eventsSeq] as const)
  return { success: true, stored: Object.fromEntries(stored), ...(moved.length > 0 && { moved }) }
}

/** Stores what the machine reports about itself, except its agents. */
export async function noteInventory(fleet: Fleet, machineId: string, inventory: Inventory): Promise<void> {
  const { version, platform, programs, roots, diskFreeBytes, at, slots: offers } = inventory
  const now = fleet.clock.now()
  await fleet.database.transaction(async (tx) => {
    const known = { version, platform, roots, offers, lastSeenAt: now, clockSkewMs: Math.round(at - now) }
    // The latest change wins: the machine's, or the admin's.
    const slots = sql`case when ${machines.offers} is distinct from ${offers} then ${offers} else ${machines.slots} end`
    const given = { ...(programs && { programs }), ...(diskFreeBytes !== undefined && { diskFreeBytes }) }
    await tx.db
      .update(machines)
      .set({ ...known, ...given, slots })
      .where(eq(machines.id, machineId))
    await announce(fleet, tx, { kind: 'machine', machineId })
  })
}

/** Agents still on this machine that another one has taken over. */
async function movedFrom({ database }: Fleet, machineId: string, inventory: Inventory): Promise<string[]> {
  const here = inventory.agents.filter(({ state }) => state !== 'archived').map(({ agentId }) => agentId)
  if (here.length === 0) return []
  const elsewhere = and(inArray(agents.id, here), ne(agents.machineId, machineId))
  const rows = await database.db.select({ id: agents.id }).from(agents).where(elsewhere)
  return rows.map(({ id }) => id)
}

async function reconcile(fleet: Fleet, tx: Tx, agent: AgentRow, said: InventoryAgent | undefined): Promise<void> {
  const running = (await runningPrompt(tx, agent.id)) ?? (await sentAfterAll(fleet, tx, agent, said))
  if (running) {
    const has = said?.prompts.some(({ promptId }) => promptId === running.id) ?? false
    const leaseUntil = fleet.clock.now() + fleet.settings.leaseMs
    const stored = { leaseUntil, error: null, ...(has && running.storedAt === null && { storedAt: fleet.clock.now() }) }
    await tx.db.update(agentPrompts).set(stored).where(eq(agentPrompts.id, running.id))
    if (!has) await sendAgain(fleet, tx, agent, running.id)
  }
  const isOpen = and(eq(sprintOrders.agentId, agent.id), eq(sprintOrders.status, 'open'))
  const orders = await tx.db.select().from(sprintOrders).where(isOpen)
  for (const { id, type } of orders) {
    if (type !== 'wait' && type !== 'run-attempt' && !said?.orders.includes(id)) {
      await tx.db.update(sprintOrders).set({ status: 'queued' }).where(eq(sprintOrders.id, id))
    }
  }
  for (const { promptId } of said?.prompts ?? []) {
    if (promptId !== running?.id) await interrupt(fleet, tx, agent, promptId)
  }
}

/** Queues the prompt again under the same ID; if the machine has it already, it joins it. */
async function sendAgain(fleet: Fleet, tx: Tx, { id: agentId }: AgentRow, promptId: string): Promise<void> {
  const again = { status: 'queued' as const, storedAt: null, leaseUntil: null }
  await tx.db.update(agentPrompts).set(again).where(eq(agentPrompts.id, promptId))
  await tx.db.update(sprintOrders).set({ status: 'queued' }).where(eq(sprintOrders.promptId, promptId))
  await announce(fleet, tx, { kind: 'prompt', agentId, promptId })
}

/** The prompt was queued for a resend, but the first message has arrived. Ending it would do its work twice. */
async function sentAfterAll(
  fleet: Fleet,
  tx: Tx,
  { id: agentId }: AgentRow,
  said: InventoryAgent | undefined,
): Promise<PromptRow | undefined> {
  const ids = said?.prompts.map(({ promptId }) => promptId) ?? []
  if (ids.length === 0) return undefined
  const waits = and(eq(agentPrompts.agentId, agentId), eq(agentPrompts.status, 'queued'), inArray(agentPrompts.id, ids))
  const [row] = await tx.db.select().from(agentPrompts).where(waits).orderBy(asc(agentPrompts.position)).limit(1)
  if (!row) return undefined
  await tx.db.update(agentPrompts).set({ status: 'running' }).where(eq(agentPrompts.id, row.id))
  await tx.db.update(sprintOrders).set({ status: 'open' }).where(eq(sprintOrders.promptId, row.id))
  await tx.db.update(agents).set({ state: 'running' }).where(eq(agents.id, agentId))
  await announce(fleet, tx, { kind: 'prompt', agentId, promptId: row.id }, { kind: 'agent', agentId })
  return { ...row, status: 'running' }
}

/** Stores events of a machine in order, and skips known ones. */
export const takeEvents = (
  fleet: Fleet,
  machineId: string,
  { agentId, events }: ReportBody<'events'>,
): Promise<ReportReply<'events'>> =>
  fleet.database.aside(async (tx) => {
    const agent = await lockAgent(tx, agentId)
    if (agent.machineId !== machineId) {
      await refuseStrangers(tx, agentId, machineId)
      // They remain in its transcripts.
      return { success: true, stored: events.at(-1)?.seq ?? 0 }
    }
    const fresh = events.filter(({ seq }) => seq > agent.eventsSeq)
    const stored = fresh.at(-1)?.seq ?? agent.eventsSeq
    if (fresh.length === 0) return { success: true, stored }
    await tx.db.update(agents).set({ eventsSeq: stored }).where(eq(agents.id, agentId))
    const ids = new Set(fresh.map(({ sprintId }) => sprintId))
    for (const sprintId of ids) {
      const own = fresh.filter((event) => event.sprintId === sprintId)
      if (sprintId === undefined) await appendEvents(fleet, tx, { agentId, sprintId: null }, own)
      else await appendToSprint(fleet, tx, agentId, { sprintId, own })
    }
    return { success: true, stored }
  })

/** Marks machines disconnected whose replica died and that have not reconnected. */
export async function tellLostMachines(fleet: Fleet): Promise<void> {
  const { clock, settings, engine } = fleet
  const isSilent = lt(machines.lastSeenAt, clock.now() - settings.silentMs)
  await letGo(fleet, or(isSilent, not(engine.isAlive(sql`${machines.connectedTo}`))))
}

/**
 * The embedded database belongs to one process, which has just started, so no machine is connected yet. Stale rows
 * would make requests hang.
 */
export async function forgetConnections(fleet: Fleet): Promise<void> {
  if (fleet.database.kind === 'embedded') await letGo(fleet, sql`true`)
}

async function letGo(fleet: Fleet, isGone: SQL | undefined): Promise<void> {
  const { database } = fleet
  const isLost = and(isNotNull(machines.connectedTo), isGone)
  const lost = await database.db.select({ id: machines.id }).from(machines).where(isLost).limit(mostLost)
  for (const { id: machineId } of lost) {
    await database.transaction(async (tx) => {
      const { rowCount } = await tx.db
        .update(machines)
        .set({ connectedTo: null })
        .where(and(isLost, eq(machines.id, machineId)))
      if (rowCount === 1) await announce(fleet, tx, { kind: 'machine', machineId })
    })
  }
  if (lost.length === mostLost) await letGo(fleet, isGone)
}

const mostLost = 100

/**
 * Reports prompts whose machine has been silent for longer than their lease. They may still run, so nothing is ended.
 */
export async function tellLostPrompts(fleet: Fleet): Promise<void> {
  const longAgo = new Date(fleet.clock.now() - fleet.settings.leaseMs).toISOString()
  const { rows } = await fleet.database.db.execute<{ id: string; agentId: string }>(sql`
    select agent_prompt.id, agent.id as "agentId" from agent_prompt
    join agent on agent.id = agent_prompt.agent_id join machine on machine.id = agent.machine_id
    where agent_prompt.status = 'running' and lease_until is not null and started_at < ${longAgo}::timestamptz
      and (last_seen_at is null or last_seen_at < ${longAgo}::timestamptz) limit 100`)
  for (const { id, agentId } of rows) await fleet.database.transaction((tx) => tellLost(fleet, tx, agentId, id))
}

async function tellLost(fleet: Fleet, tx: Tx, agentId: string, promptId: string): Promise<void> {
  const agent = await lockAgent(tx, agentId)
  const still = and(
    eq(agentPrompts.id, promptId),
    eq(agentPrompts.status, 'running'),
    isNotNull(agentPrompts.leaseUntil),
  )
  const error = 'its machine is silent; the prompt may still be running'
  const { rowCount } = await tx.db.update(agentPrompts).set({ error, leaseUntil: null }).where(still)
  if (rowCount !== 1) return
  await announce(fleet, tx, { kind: 'prompt', agentId, promptId }, { kind: 'agent', agentId })
  const text = `${agent.name}: ${error}`
  await fleet.notifications.tell(tx, { event: 'machine-lost', text, agentId, machineId: agent.machineId })
}
