import { and, asc, eq, inArray, isNull, lte, sql } from 'drizzle-orm'
import { CarriedOut } from '../../contract/fleet/channel-work.ts'
import { noUsage } from '../../contract/outcome.ts'
import type { Progress } from '../../contract/progress.ts'
import { promptFor } from '../../loop/protocol.ts'
import { agents, type AgentRow } from '../database/agent.ts'
import { agentPrompts, type PromptRow } from '../database/agent-prompt.ts'
import type { Tx } from '../database/database.ts'
import { machines } from '../database/machine.ts'
import { sprintOrders, type OrderRow } from '../database/sprint.ts'
import { accountLimits } from '../database/usage.ts'
import { announce } from './announce.ts'
import { wakeAt } from './give-orders.ts'
import type { Fleet } from './ports.ts'
import { runningPrompt, sprintIn } from './rows.ts'
import { takeFact } from './take-fact.ts'

/**
 * Whatever the agent can begin now is begun: checks and hooks first, then the next prompt of its queue. Called at the end of
 * every transaction that could have made something possible; the agent is locked.
 */
export async function pump(fleet: Fleet, tx: Tx, agent: AgentRow): Promise<AgentRow> {
  if (agent.state !== 'idle' && agent.state !== 'running') return agent
  if (await runningPrompt(tx, agent.id)) return withState(fleet, tx, agent, { state: 'running' })
  if (await carryOutOrders(fleet, tx, agent)) return withState(fleet, tx, agent, { state: 'running' })
  const next = await nextPrompt(fleet, tx, agent)
  if (!next || !(await isFree(tx, agent))) return withState(fleet, tx, agent, { state: 'idle' })
  const limit = await limitOf(fleet, tx, agent)
  if (limit) return park(fleet, tx, agent, { prompt: next, ...limit })
  return begin(fleet, tx, agent, next)
}

/** True: nobody may work in the folder before these are done. */
async function carryOutOrders(fleet: Fleet, tx: Tx, agent: AgentRow): Promise<boolean> {
  const isLive = and(eq(sprintOrders.agentId, agent.id), inArray(sprintOrders.status, ['queued', 'open']))
  const live = await tx.db.select().from(sprintOrders).where(isLive).orderBy(asc(sprintOrders.createdAt))
  for (const row of live)
    if (row.status === 'queued' && row.type !== 'run-attempt') await carryOut(fleet, tx, agent, row)
  return live.some(({ blocking }) => blocking)
}

async function carryOut(fleet: Fleet, tx: Tx, agent: AgentRow, row: OrderRow): Promise<void> {
  const { progress } = await sprintIn(tx, row.sprintId)
  const order = CarriedOut.parse(row.order)
  const body = { orderId: row.id, agentId: agent.id, program: agent.program, sprintId: row.sprintId, order }
  const request = { id: `order:${row.id}`, type: 'carry-out' as const, body: { ...body, progress: trimmed(progress) } }
  await fleet.machines.send(tx, agent.machineId, request)
  await tx.db.update(sprintOrders).set({ status: 'open' }).where(eq(sprintOrders.id, row.id))
}

/** A machine needs no history. */
export const trimmed = (progress: Progress): Progress => ({
  ...progress,
  iterations: progress.iterations.slice(-1),
  hookTasks: progress.hookTasks.filter(({ status }) => status === 'running'),
})

async function nextPrompt(fleet: Fleet, tx: Tx, agent: AgentRow): Promise<PromptRow | undefined> {
  const queued = and(eq(agentPrompts.agentId, agent.id), eq(agentPrompts.status, 'queued'))
  const now = fleet.clock.now()
  const isDue = and(isNull(agentPrompts.sprintId), eq(agentPrompts.status, 'parked'), lte(agentPrompts.notBefore, now))
  const again = { status: 'queued' as const, notBefore: null, error: null }
  await tx.db
    .update(agentPrompts)
    .set(again)
    .where(and(eq(agentPrompts.agentId, agent.id), isDue))
  const queue = await tx.db.select().from(agentPrompts).where(queued).orderBy(asc(agentPrompts.position)).limit(100)
  return queue.find(({ notBefore }) => notBefore === null || notBefore <= now)
}

/** Its machine can be reached, takes new work, and has a slot. */
async function isFree(tx: Tx, { machineId }: AgentRow): Promise<boolean> {
  const [machine] = await tx.db.select().from(machines).where(eq(machines.id, machineId)).for('no key update')
  if (!machine || machine.connectedTo === null) return false
  if (machine.status !== 'active' && machine.status !== 'cordoned') return false
  const [{ running } = { running: 0 }] = await tx.db
    .select({ running: sql<number>`count(*)::int` })
    .from(agentPrompts)
    .innerJoin(agents, eq(agents.id, agentPrompts.agentId))
    .where(and(eq(agentPrompts.status, 'running'), eq(agents.machineId, machineId)))
  return running < machine.slots
}

type Limit = { readonly until: number; readonly reason: string }

async function limitOf(fleet: Fleet, tx: Tx, { account }: AgentRow): Promise<Limit | undefined> {
  const [limit] = await tx.db.select().from(accountLimits).where(eq(accountLimits.account, account))
  return limit && limit.until > fleet.clock.now() ? limit : undefined
}

/** Another agent of the account has met its limit: this one does not try. A sprint is told, and waits by its own rules. */
async function park(
  fleet: Fleet,
  tx: Tx,
  agent: AgentRow,
  { prompt, until, reason }: Limit & { readonly prompt: PromptRow },
): Promise<AgentRow> {
  const parked = { status: 'parked' as const, notBefore: until, error: reason }
  await tx.db.update(agentPrompts).set(parked).where(eq(agentPrompts.id, prompt.id))
  await announce(fleet, tx, { kind: 'prompt', agentId: agent.id, promptId: prompt.id })
  await wakeAt(fleet, tx, agent.id, until)
  const { sprintId, iteration, orderId, attempt } = prompt
  if (sprintId === null || iteration === null || orderId === null) return pump(fleet, tx, agent)
  const at = fleet.clock.now()
  await tx.db.update(sprintOrders).set({ status: 'done', endedAt: at }).where(eq(sprintOrders.id, orderId))
  const why = { class: 'usage_limit', reason, retryable: true, resetsAt: until, notStarted: true } as const
  const ended = { iteration, attempt, end: { kind: 'failed' as const, ...why }, usage: noUsage, costUsd: 0, random: 0 }
  const sprint = await sprintIn(tx, sprintId)
  const fact = { type: 'attempt-ended' as const, at, ...ended }
  const held = await takeFact(fleet, tx, { agent, sprint }, { id: `limit:${orderId}`, fact })
  return pump(fleet, tx, held.agent)
}

/** From here on it is the machine's: the prompt waits in its outbox and is begun once, whatever happens to us. */
async function begin(fleet: Fleet, tx: Tx, agent: AgentRow, prompt: PromptRow): Promise<AgentRow> {
  const now = fleet.clock.now()
  const leaseUntil = now + fleet.settings.leaseMs
  const { asked, text } = await askedOf(tx, agent, prompt)
  const attempt = prompt.sprintId === null ? prompt.attempt + 1 : prompt.attempt
  const running = { status: 'running' as const, prompt: text, attempt, startedAt: now, leaseUntil, notBefore: null }
  await tx.db.update(agentPrompts).set(running).where(eq(agentPrompts.id, prompt.id))
  if (prompt.orderId !== null) {
    await tx.db.update(sprintOrders).set({ status: 'open' }).where(eq(sprintOrders.id, prompt.orderId))
  }
  const { id: agentId, program } = agent
  const body = { promptId: prompt.id, agentId, program, asked, leaseMs: fleet.settings.leaseMs }
  await fleet.machines.send(tx, agent.machineId, { id: `prompt:${prompt.id}`, type: 'prompt', body })
  await announce(fleet, tx, { kind: 'prompt', agentId, promptId: prompt.id })
  const isRalph = asked.kind === 'order' && asked.protocol === 'notes'
  return withState(fleet, tx, agent, { state: 'running', ...(isRalph && { ralphModeLastPromptAt: now }) })
}

async function askedOf(tx: Tx, agent: AgentRow, { sprintId, iteration, attempt, prompt, model }: PromptRow) {
  if (sprintId === null || iteration === null) {
    const resume = agent.inConversation
    return { text: prompt, asked: { kind: 'text' as const, text: prompt, resume, ...(model !== null && { model }) } }
  }
  const { progress, protocol } = await sprintIn(tx, sprintId)
  const live = progress.live.find(({ number }) => number === iteration)
  const order = { type: 'run-attempt' as const, iteration, attempt }
  return {
    text: live ? promptFor(progress, { ...live, notesFolder: agent.notesFolder ?? undefined }) : prompt,
    asked: { kind: 'order' as const, sprintId, protocol, order, progress: trimmed(progress) },
  }
}

type Fields = Partial<Pick<AgentRow, 'state' | 'ralphModeLastPromptAt'>>

/** Only what is another one is written, and told. */
async function withState(fleet: Fleet, tx: Tx, agent: AgentRow, { state, ...more }: Fields): Promise<AgentRow> {
  const fields: Fields = { ...more, ...(state !== undefined && state !== agent.state && { state }) }
  if (Object.keys(fields).length === 0) return agent
  await tx.db.update(agents).set(fields).where(eq(agents.id, agent.id))
  await announce(fleet, tx, { kind: 'agent', agentId: agent.id })
  return { ...agent, ...fields }
}
