import { and, asc, eq, inArray, isNotNull, isNull, lt, ne, not, or, sql, type SQL } from 'drizzle-orm'
import type { Inventory, InventoryAgent, ReportBody, ReportReply } from '../../contract/fleet/machine-messages.ts'
import type { LoggedEvent } from '../../contract/events.ts'
import { agents } from '../database/agent.ts'
import { agentPrompts, type PromptRow } from '../database/agent-prompt.ts'
import { machineOutbox, machines } from '../database/machine.ts'
import { sprintOrders } from '../database/sprint.ts'
import { recordRowChanges, appendEvents } from '../feed/event-log.ts'
import { appendSprintEvents } from '../feed/sprint-events.ts'
import { interruptPrompt } from '../sprints/orders.ts'
import type { Fleet } from '../fleet/fleet.ts'
import type { MachineGateway } from '../fleet/machine-gateway.ts'
import { dispatchNext } from '../sprints/dispatch.ts'
import { assertMachineOwnedAgent } from '../prompts/late-reports.ts'
import {
  agentTransaction,
  findRunningPrompt,
  lockAgent,
  transaction,
  updateAgent,
  type AgentTransaction,
  type Transaction,
} from '../fleet/transaction.ts'

/** Signals the replica that holds the machine's connection; the key is the machine ID. */
export const outboxTopic = 'outbox'

/** The part of `Machines` that only writes rows; the replica with the connection delivers them. */
export function createOutbox({
  database,
  clock,
}: Pick<Fleet, 'database' | 'clock'>): Pick<MachineGateway, 'send' | 'withdraw'> {
  return {
    send: async (tx, machineId, { id, type, body }) => {
      const row = { machineId, messageId: id, message: { type, body }, createdAt: clock.now() }
      await tx.db.insert(machineOutbox).values(row).onConflictDoNothing()
      tx.afterCommit(() => database.signals.emit(outboxTopic, machineId))
    },
    withdraw: async (tx, machineId, id) => {
      const own = and(eq(machineOutbox.machineId, machineId), eq(machineOutbox.messageId, id))
      await tx.db.delete(machineOutbox).where(own)
    },
  }
}

export type ConnectionInfo = { readonly machineId: string; readonly executorId: string; readonly epoch: number }

/** The machine is connected and its inventory was applied: start dispatching work to its agents. */
export async function markConnected(fleet: Fleet, { machineId, executorId, epoch }: ConnectionInfo): Promise<void> {
  const now = fleet.clock.now()
  await transaction(fleet, async (t) => {
    const here = { connectedTo: executorId, connectedAt: now, epoch, lastSeenAt: now }
    const newer = and(eq(machines.id, machineId), sql`${machines.epoch} <= ${epoch}`)
    await t.tx.db.update(machines).set(here).where(newer)
    await recordRowChanges(t, { kind: 'machine', machineId })
    await clearLostReasons(t, machineId)
  })
  await dispatchMachine(fleet, machineId)
}

/** Clears the notes about its absence from its agents. */
async function clearLostReasons(t: Transaction, machineId: string): Promise<void> {
  const condition = and(
    eq(agents.machineId, machineId),
    isNotNull(agents.reason),
    inArray(agents.state, ['idle', 'running']),
  )
  const freed = await t.tx.db.update(agents).set({ reason: null }).where(condition).returning({ agentId: agents.id })
  await recordRowChanges(t, ...freed.map(({ agentId }) => ({ kind: 'agent' as const, agentId })))
}

/**
 * Marks the machine disconnected unless a newer connection exists. Running prompts keep running; their state is
 * unknown.
 */
export const markDisconnected = (fleet: Fleet, { machineId, epoch }: ConnectionInfo): Promise<void> =>
  transaction(fleet, async (t) => {
    const same = and(eq(machines.id, machineId), eq(machines.epoch, epoch), isNotNull(machines.connectedTo))
    const { rowCount } = await t.tx.db.update(machines).set({ connectedTo: null }).where(same)
    if (rowCount) await recordRowChanges(t, { kind: 'machine', machineId })
  })

/** Called every few seconds by the replica that holds the connection. */
export async function markSeen({ database, clock }: Fleet, machineId: string): Promise<void> {
  await database.db.update(machines).set({ lastSeenAt: clock.now() }).where(eq(machines.id, machineId))
}

/** Dispatches the waiting work of the machine's agents, one transaction each. */
export async function dispatchMachine(fleet: Fleet, machineId: string): Promise<void> {
  for (const agentId of await listWaitingAgents(fleet, machineId)) {
    await agentTransaction(fleet, agentId, (t) => dispatchNext(t))
  }
}

/** Agents with queued prompts and none running. */
export async function listWaitingAgents(fleet: Fleet, machineId?: string): Promise<string[]> {
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
export async function applyInventory(
  fleet: Fleet,
  machineId: string,
  inventory: Inventory,
): Promise<ReportReply<'inventory'>> {
  await saveInventory(fleet, machineId, inventory)
  const own = await fleet.database.db.select().from(agents).where(eq(agents.machineId, machineId))
  for (const { id } of own) {
    const reportedAgent = inventory.agents.find(({ agentId }) => agentId === id)
    await agentTransaction(fleet, id, async (t) => {
      if (t.agent.machineId === machineId) await reconcileAgent(t, reportedAgent)
    })
  }
  const moved = await listMovedAgents(fleet, machineId, inventory)
  const stored = own.filter(({ id }) => !moved.includes(id)).map(({ id, eventsSeq }) => [id, eventsSeq] as const)
  return { success: true, stored: Object.fromEntries(stored), ...(moved.length > 0 && { moved }) }
}

/** Stores what the machine reports about itself, except its agents. */
export async function saveInventory(fleet: Fleet, machineId: string, inventory: Inventory): Promise<void> {
  const { version, platform, programs, roots, diskFreeBytes, at, slots: offers } = inventory
  const now = fleet.clock.now()
  await transaction(fleet, async (t) => {
    const known = { version, platform, roots, offers, lastSeenAt: now, clockSkewMs: Math.round(at - now) }
    // The latest change wins: the machine's, or the admin's.
    const slots = sql`case when ${machines.offers} is distinct from ${offers} then ${offers} else ${machines.slots} end`
    const reported = { ...(programs && { programs }), ...(diskFreeBytes !== undefined && { diskFreeBytes }) }
    await t.tx.db
      .update(machines)
      .set({ ...known, ...reported, slots })
      .where(eq(machines.id, machineId))
    await recordRowChanges(t, { kind: 'machine', machineId })
  })
}

/** Agents still on this machine that another one has taken over. */
async function listMovedAgents({ database }: Fleet, machineId: string, inventory: Inventory): Promise<string[]> {
  const here = inventory.agents.filter(({ state }) => state !== 'archived').map(({ agentId }) => agentId)
  if (here.length === 0) return []
  const elsewhere = and(inArray(agents.id, here), ne(agents.machineId, machineId))
  const rows = await database.db.select({ id: agents.id }).from(agents).where(elsewhere)
  return rows.map(({ id }) => id)
}

async function reconcileAgent(t: AgentTransaction, reported: InventoryAgent | undefined): Promise<void> {
  const running = (await findRunningPrompt(t)) ?? (await cancelResends(t, reported))
  if (running) {
    const has = reported?.prompts.some(({ promptId }) => promptId === running.id) ?? false
    const leaseUntil = t.fleet.clock.now() + t.fleet.settings.leaseMs
    const stored = {
      leaseUntil,
      error: null,
      ...(has && running.storedAt === null && { storedAt: t.fleet.clock.now() }),
    }
    await t.tx.db.update(agentPrompts).set(stored).where(eq(agentPrompts.id, running.id))
    if (!has) await requeuePrompt(t, running.id)
  }
  const isOpen = and(eq(sprintOrders.agentId, t.agent.id), eq(sprintOrders.status, 'open'))
  const orders = await t.tx.db.select().from(sprintOrders).where(isOpen)
  for (const { id, type } of orders) {
    if (type !== 'wait' && type !== 'run-attempt' && !reported?.orders.includes(id)) {
      await t.tx.db.update(sprintOrders).set({ status: 'queued' }).where(eq(sprintOrders.id, id))
    }
  }
  for (const { promptId } of reported?.prompts ?? []) {
    if (promptId !== running?.id) await interruptPrompt(t, promptId)
  }
}

/** Queues the prompt again under the same ID; if the machine has it already, it joins it. */
async function requeuePrompt(t: AgentTransaction, promptId: string): Promise<void> {
  const again = { status: 'queued' as const, storedAt: null, leaseUntil: null }
  await t.tx.db.update(agentPrompts).set(again).where(eq(agentPrompts.id, promptId))
  await t.tx.db.update(sprintOrders).set({ status: 'queued' }).where(eq(sprintOrders.promptId, promptId))
  await recordRowChanges(t, { kind: 'prompt', agentId: t.agent.id, promptId })
}

/** The prompt was queued for a resend, but the first message has arrived. Ending it would do its work twice. */
async function cancelResends(
  t: AgentTransaction,
  reported: InventoryAgent | undefined,
): Promise<PromptRow | undefined> {
  const { id: agentId } = t.agent
  const ids = reported?.prompts.map(({ promptId }) => promptId) ?? []
  if (ids.length === 0) return undefined
  const waits = and(eq(agentPrompts.agentId, agentId), eq(agentPrompts.status, 'queued'), inArray(agentPrompts.id, ids))
  const [row] = await t.tx.db.select().from(agentPrompts).where(waits).orderBy(asc(agentPrompts.position)).limit(1)
  if (!row) return undefined
  await t.tx.db.update(agentPrompts).set({ status: 'running' }).where(eq(agentPrompts.id, row.id))
  await t.tx.db.update(sprintOrders).set({ status: 'open' }).where(eq(sprintOrders.promptId, row.id))
  await updateAgent(t, { state: 'running' })
  await recordRowChanges(t, { kind: 'prompt', agentId, promptId: row.id }, { kind: 'agent', agentId })
  return { ...row, status: 'running' }
}

/** Stores events of a machine in order, and skips known ones. */
export const saveMachineEvents = (
  fleet: Fleet,
  machineId: string,
  { agentId, events }: ReportBody<'events'>,
): Promise<ReportReply<'events'>> =>
  fleet.database.aside(async (tx) => {
    const t = await lockAgent({ fleet, tx }, agentId)
    if (t.agent.machineId !== machineId) {
      await assertMachineOwnedAgent(t, machineId)
      // They remain in its transcripts.
      return { success: true, stored: events.at(-1)?.seq ?? 0 }
    }
    const fresh = events.filter(({ seq }) => seq > t.agent.eventsSeq)
    const stored = fresh.at(-1)?.seq ?? t.agent.eventsSeq
    if (fresh.length === 0) return { success: true, stored }
    await updateAgent(t, { eventsSeq: stored })
    const ids = new Set(fresh.map(({ sprintId }) => sprintId))
    await saveSentPrompts(t, fresh)
    for (const sprintId of ids) {
      const own = fresh.filter((event) => event.sprintId === sprintId).map(({ prompt: _prompt, ...event }) => event)
      if (sprintId === undefined) await appendEvents(t, { agentId, sprintId: null }, own)
      else await appendSprintEvents(t, { sprintId, newEvents: own })
    }
    return { success: true, stored }
  })

/** Stores the prompts that agents received in place of those that the backend expected. */
async function saveSentPrompts(t: AgentTransaction, events: readonly LoggedEvent[]): Promise<void> {
  const { id: agentId } = t.agent
  for (const { promptId, prompt } of events) {
    if (promptId === undefined || prompt === undefined) continue
    const differs = and(
      eq(agentPrompts.id, promptId),
      eq(agentPrompts.agentId, agentId),
      ne(agentPrompts.prompt, prompt),
    )
    const isRunning = isNull(agentPrompts.endedAt)
    const { rowCount } = await t.tx.db.update(agentPrompts).set({ prompt }).where(and(differs, isRunning))
    if (rowCount !== 0) await recordRowChanges(t, { kind: 'prompt', agentId, promptId })
  }
}

/** Marks machines disconnected whose replica died and that have not reconnected. */
export async function notifyLostMachines(fleet: Fleet): Promise<void> {
  const { clock, settings, engine } = fleet
  const isSilent = lt(machines.lastSeenAt, clock.now() - settings.silentMs)
  await disconnectMachines(fleet, or(isSilent, not(engine.isAlive(sql`${machines.connectedTo}`))))
}

/**
 * The embedded database belongs to one process, which has just started, so no machine is connected yet. Stale rows
 * would make requests hang.
 */
export async function clearConnections(fleet: Fleet): Promise<void> {
  if (fleet.database.kind === 'embedded') await disconnectMachines(fleet, sql`true`)
}

async function disconnectMachines(fleet: Fleet, isGone: SQL | undefined): Promise<void> {
  const { database } = fleet
  const isLost = and(isNotNull(machines.connectedTo), isGone)
  const lost = await database.db.select({ id: machines.id }).from(machines).where(isLost).limit(maxLostPerSweep)
  for (const { id: machineId } of lost) {
    await transaction(fleet, async (t) => {
      const { rowCount } = await t.tx.db
        .update(machines)
        .set({ connectedTo: null })
        .where(and(isLost, eq(machines.id, machineId)))
      if (rowCount === 1) await recordRowChanges(t, { kind: 'machine', machineId })
    })
  }
  if (lost.length === maxLostPerSweep) await disconnectMachines(fleet, isGone)
}

const maxLostPerSweep = 100

/**
 * Reports prompts whose machine has been silent for longer than their lease. They may still run, so nothing is ended.
 */
export async function notifyLostPrompts(fleet: Fleet): Promise<void> {
  const longAgo = new Date(fleet.clock.now() - fleet.settings.leaseMs).toISOString()
  const { rows } = await fleet.database.db.execute<{ id: string; agentId: string }>(sql`
    select agent_prompt.id, agent.id as "agentId" from agent_prompt
    join agent on agent.id = agent_prompt.agent_id join machine on machine.id = agent.machine_id
    where agent_prompt.status = 'running' and lease_until is not null and started_at < ${longAgo}::timestamptz
      and (last_seen_at is null or last_seen_at < ${longAgo}::timestamptz) limit 100`)
  for (const { id, agentId } of rows) await agentTransaction(fleet, agentId, (t) => notifyLostPrompt(t, id))
}

async function notifyLostPrompt(t: AgentTransaction, promptId: string): Promise<void> {
  const { id: agentId } = t.agent
  const still = and(
    eq(agentPrompts.id, promptId),
    eq(agentPrompts.status, 'running'),
    isNotNull(agentPrompts.leaseUntil),
  )
  const error = 'its machine is silent; the prompt may still be running'
  const { rowCount } = await t.tx.db.update(agentPrompts).set({ error, leaseUntil: null }).where(still)
  if (rowCount !== 1) return
  await recordRowChanges(t, { kind: 'prompt', agentId, promptId }, { kind: 'agent', agentId })
  const text = `${t.agent.name}: ${error}`
  await t.fleet.notifier.notify(t.tx, { event: 'machine-lost', text, agentId, machineId: t.agent.machineId })
}
