import { isNotesProtocol } from '../../contract/way.ts'
import { and, eq, inArray, isNotNull, sql, type SQL } from 'drizzle-orm'
import type { Fact } from '../../loop/core/fact.ts'
import type { Order } from '../../loop/core/order.ts'
import { buildIterationPrompt } from '../../loop/prompts.ts'
import { chooseModel } from '../../loop/way-queries.ts'
import { agentPrompts } from '../database/agent-prompt.ts'
import { jsonValue, timestampMs } from '../database/columns.ts'
import type { Tx } from '../database/database.ts'
import { sprintOrders, type OrderRow } from '../database/sprint.ts'
import { recordRowChanges } from '../feed/event-log.ts'
import type { Fleet } from '../fleet/ports.ts'
import { type LockedSprint, findRunningPrompt } from '../database/locked-rows.ts'

/** The requester of the loop's prompts. */
const loopRequester = 'ralph'

type OrderBatch = { readonly orders: readonly Order[]; readonly because: Fact['type'] }

/** Stores the orders of the loop. `pump` dispatches those for the machine in the same transaction. */
export async function enqueueOrders(
  fleet: Fleet,
  tx: Tx,
  locked: LockedSprint,
  { orders, because }: OrderBatch,
): Promise<void> {
  for (const [index, order] of orders.entries()) {
    const id = `${locked.sprint.id}:${locked.sprint.rev}:${index}`
    if (order.type === 'tell' || order.type === 'notify') continue
    if (order.type === 'abort') await cancelOrders(fleet, tx, locked, order.what)
    else if (order.type === 'run-attempt') await enqueueAttempt(fleet, tx, locked, { id, order, because })
    else await enqueueOrder(fleet, tx, locked, { id, order })
  }
}

type NewOrder<O extends Order = Order> = { readonly id: string; readonly order: O }

async function enqueueOrder(
  fleet: Fleet,
  tx: Tx,
  { agent, sprint }: LockedSprint,
  { id, order }: NewOrder,
): Promise<void> {
  const waits = order.type === 'wait' ? { status: 'open' as const, dueAt: order.until } : { status: 'queued' as const }
  await tx.db.insert(sprintOrders).values({
    id,
    sprintId: sprint.id,
    agentId: agent.id,
    type: order.type,
    order,
    ...waits,
    blocking: isBlockingOrder(order, sprint),
    createdAt: fleet.clock.now(),
  })
  if (order.type === 'wait') {
    await fleet.engine.enqueue(tx, { id: `wait:${id}`, kind: 'end-wait', input: { orderId: id }, at: order.until })
  }
}

/** Only one order may work in the folder at a time. Background hooks do not count. */
function isBlockingOrder(order: Order, { progress }: LockedSprint['sprint']): boolean {
  if (order.type === 'wait') return false
  if (order.type !== 'run-hook') return true
  return progress.perIterationHooks.some(({ id, parallel }) => id === order.hookId && !parallel)
}

type AttemptOrder = {
  readonly id: string
  readonly order: Extract<Order, { type: 'run-attempt' }>
  readonly because: Fact['type']
}

/** Queues the attempt behind the prompts of users. A prompt that was parked before it started keeps its row. */
async function enqueueAttempt(
  fleet: Fleet,
  tx: Tx,
  locked: LockedSprint,
  { id, order, because }: AttemptOrder,
): Promise<void> {
  const { agent, sprint } = locked
  const at = fleet.clock.now()
  const notBefore = earliestStart(agent, sprint, at)
  const parked = because === 'wait-ended' ? await unparkAttempt(tx, locked, { id, order, notBefore }) : undefined
  const promptId = parked ?? fleet.newId()
  const { text, model } = attemptPromptFields(locked, order.iteration)
  const isNew = parked === undefined
  await tx.db.execute(sql`
    with queued as (
      insert into agent_prompt
        (id, agent_id, prompt, status, model, by, sprint_id, iteration, attempt, order_id, not_before, position, created_at)
      select ${promptId}, ${agent.id}, ${text}, 'queued', ${model}, ${loopRequester}, ${sprint.id}, ${order.iteration}::int,
        ${order.attempt}::int, ${id}, ${notBefore === null ? null : timestampMs.literal(notBefore)},
        ${lastPosition(agent.id)}, ${timestampMs.literal(at)}
      where ${isNew}
    )
    insert into sprint_order (id, sprint_id, agent_id, type, "order", status, blocking, prompt_id, created_at)
    values (${id}, ${sprint.id}, ${agent.id}, ${order.type}, ${jsonValue(order)}, 'queued', false, ${promptId}, ${timestampMs.literal(at)})`)
  if (notBefore !== null) await scheduleDispatch(fleet, tx, agent.id, notBefore)
  await recordRowChanges(fleet, tx, { kind: 'prompt', agentId: agent.id, promptId })
}

function attemptPromptFields({ agent, sprint: { progress } }: LockedSprint, iteration: number) {
  const live = progress.live.find(({ number }) => number === iteration)
  const model = (live && chooseModel(progress, live)) ?? progress.model ?? agent.model
  return {
    model,
    text: live ? buildIterationPrompt(progress, { ...live, notesFolder: agent.notesFolder ?? undefined }) : '',
  }
}

type UnparkTarget = Pick<AttemptOrder, 'id' | 'order'> & { readonly notBefore: number | null }

async function unparkAttempt(
  tx: Tx,
  { agent, sprint }: LockedSprint,
  { id, order, notBefore }: UnparkTarget,
): Promise<string | undefined> {
  const parked = and(
    eq(agentPrompts.sprintId, sprint.id),
    eq(agentPrompts.iteration, order.iteration),
    eq(agentPrompts.attempt, order.attempt),
    eq(agentPrompts.status, 'parked'),
  )
  const again = { status: 'queued' as const, orderId: id, notBefore, error: null, position: lastPosition(agent.id) }
  const [row] = await tx.db.update(agentPrompts).set(again).where(parked).returning({ id: agentPrompts.id })
  return row?.id
}

/** Behind the agent's unfinished prompts; does not scan its history. */
export const lastPosition = (agentId: string): SQL<number> => sql<number>`(1 + greatest(0,
  (select max(position) from agent_prompt where agent_id = ${agentId} and status in ('queued', 'parked')),
  (select position from agent_prompt where agent_id = ${agentId} and status = 'running')))`

/** Respects the minimum interval of Ralph Mode. */
function earliestStart(agent: LockedSprint['agent'], { protocol }: LockedSprint['sprint'], at: number): number | null {
  const { ralphModeLastPromptAt: last, ralphModeMinIntervalMs: interval } = agent
  if (!isNotesProtocol(protocol) || last === null || interval === 0 || last + interval <= at) return null
  return last + interval
}

/** Schedules another dispatch for this agent. */
export const scheduleDispatch = (fleet: Fleet, tx: Tx, agentId: string, at: number): Promise<void> =>
  fleet.engine.enqueue(tx, { id: `pump:${agentId}:${at}`, kind: 'pump', input: { agentId }, at })

/** Drops queued work and aborts running work. The machine reports the end of what it has started. */
async function cancelOrders(
  fleet: Fleet,
  tx: Tx,
  { agent, sprint }: LockedSprint,
  what: 'waits' | 'attempts' | 'all',
): Promise<void> {
  const live = and(eq(sprintOrders.sprintId, sprint.id), inArray(sprintOrders.status, ['queued', 'open']))
  const orders = await tx.db.select().from(sprintOrders).where(live)
  const waits = orders.filter(({ type }) => type === 'wait')
  const unbegun = what === 'all' ? orders.filter(({ status }) => status === 'queued') : []
  const dropped = what === 'attempts' ? [] : [...waits, ...unbegun]
  for (const { id, type } of dropped) if (type === 'wait') fleet.engine.cancel(tx, `wait:${id}`)
  await dropOrders(fleet, tx, dropped)
  for (const promptId of await findResentPrompts(tx, dropped)) await interruptPrompt(fleet, tx, agent, promptId)
  if (what === 'waits') return
  const running = await findRunningPrompt(tx, agent.id)
  const begun = orders.some(({ status, type }) => status === 'open' && type !== 'wait' && type !== 'run-attempt')
  if (running?.sprintId === sprint.id) await interruptPrompt(fleet, tx, agent, running.id)
  else if (what === 'all' && begun && !running) await interruptPrompt(fleet, tx, agent)
}

/** Prompts queued for a resend: the machine may have received the first message. */
async function findResentPrompts(tx: Tx, dropped: readonly OrderRow[]): Promise<string[]> {
  const ids = dropped.flatMap(({ promptId }) => promptId ?? [])
  if (ids.length === 0) return []
  const sent = and(inArray(agentPrompts.id, ids), isNotNull(agentPrompts.startedAt))
  return (await tx.db.select({ id: agentPrompts.id }).from(agentPrompts).where(sent)).map(({ id }) => id)
}

async function dropOrders(fleet: Fleet, tx: Tx, dropped: readonly OrderRow[]): Promise<void> {
  if (dropped.length === 0) return
  const endedAt = fleet.clock.now()
  const ids = dropped.map(({ id }) => id)
  await tx.db.update(sprintOrders).set({ status: 'dropped', endedAt }).where(inArray(sprintOrders.id, ids))
  const prompts = dropped.flatMap(({ promptId }) => promptId ?? [])
  if (prompts.length === 0) return
  const cancelled = { status: 'cancelled' as const, endedAt }
  await tx.db.update(agentPrompts).set(cancelled).where(inArray(agentPrompts.id, prompts))
  const changed = dropped.flatMap(({ agentId, promptId }) => (promptId === null ? [] : [{ agentId, promptId }]))
  await recordRowChanges(fleet, tx, ...changed.map((prompt) => ({ kind: 'prompt' as const, ...prompt })))
}

/**
 * Asks the machine to end the agent's running prompt, or everything of a sprint. The agent is free once the machine
 * reports the end.
 */
export const interruptPrompt = (
  fleet: Fleet,
  tx: Tx,
  { id, machineId }: LockedSprint['agent'],
  promptId?: string,
): Promise<void> =>
  fleet.machines.send(tx, machineId, {
    id: `interrupt:${promptId ?? fleet.newId()}`,
    type: 'interrupt',
    body: { agentId: id, when: 'now', ...(promptId !== undefined && { promptId }) },
  })
