import { isNotesProtocol } from '../../contract/way.ts'
import { and, eq, inArray, isNotNull, sql, type SQL } from 'drizzle-orm'
import type { LiveIteration, Progress } from '../../contract/progress.ts'
import type { Fact } from '../../loop/core/fact.ts'
import type { Order } from '../../loop/core/order.ts'
import { buildAttemptPrompt } from '../../loop/prompts.ts'
import { chooseModel } from '../../loop/way-queries.ts'
import type { AgentRow } from '../database/agent.ts'
import { agentPrompts } from '../database/agent-prompt.ts'
import { jsonValue, timestampMs } from '../database/columns.ts'
import { sprintOrders, type OrderRow, type SprintRow } from '../database/sprint.ts'
import { recordRowChanges } from '../feed/event-log.ts'
import { findRunningPrompt, type AgentTransaction, type Transaction } from '../fleet/transaction.ts'

/** The requester of the loop's prompts. */
const loopRequester = 'ralph'

type OrderBatch = { readonly orders: readonly Order[]; readonly because: Fact['type'] }

/** Stores the orders of the loop. `dispatchNext` dispatches those for the machine in the same transaction. */
export async function enqueueOrders(
  t: AgentTransaction,
  sprint: SprintRow,
  { orders, because }: OrderBatch,
): Promise<void> {
  for (const [index, order] of orders.entries()) {
    const id = `${sprint.id}:${sprint.rev}:${index}`
    if (order.type === 'tell' || order.type === 'notify') continue
    if (order.type === 'abort') await cancelOrders(t, sprint, order.what)
    else if (order.type === 'run-attempt') await enqueueAttempt(t, sprint, { id, order, because })
    else {
      const dueAt = order.type === 'wait' ? order.until : undefined
      const row = {
        id,
        sprintId: sprint.id,
        agentId: t.agent.id,
        type: order.type,
        order,
        createdAt: t.fleet.clock.now(),
      }
      const status = dueAt === undefined ? ('queued' as const) : ('open' as const)
      await t.tx.db.insert(sprintOrders).values({ ...row, status, dueAt, blocking: isBlockingOrder(order, sprint) })
      if (dueAt === undefined) continue
      await t.fleet.engine.enqueue(t.tx, { id: `wait:${id}`, kind: 'end-wait', input: { orderId: id }, at: dueAt })
    }
  }
}

/** Only one order may work in the folder at a time. Background hooks do not count. */
function isBlockingOrder(order: Order, { progress }: SprintRow): boolean {
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
  t: AgentTransaction,
  sprint: SprintRow,
  { id, order, because }: AttemptOrder,
): Promise<void> {
  const at = t.fleet.clock.now()
  const notBefore = earliestStart(t.agent, sprint, at)
  const parked = because === 'wait-ended' ? await unparkAttempt(t, sprint, { id, order, notBefore }) : undefined
  const promptId = parked ?? t.fleet.newId()
  const { text, model } = attemptPromptFields(t.agent, sprint, order.iteration)
  const isNew = parked === undefined
  await t.tx.db.execute(sql`
    with queued as (
      insert into agent_prompt
        (id, agent_id, prompt, status, model, by, sprint_id, iteration, attempt, order_id, not_before, position, created_at)
      select ${promptId}, ${t.agent.id}, ${text}, 'queued', ${model}, ${loopRequester}, ${sprint.id}, ${order.iteration}::int,
        ${order.attempt}::int, ${id}, ${notBefore === null ? null : timestampMs.literal(notBefore)},
        ${lastPosition(t.agent.id)}, ${timestampMs.literal(at)}
      where ${isNew}
    )
    insert into sprint_order (id, sprint_id, agent_id, type, "order", status, blocking, prompt_id, created_at)
    values (${id}, ${sprint.id}, ${t.agent.id}, ${order.type}, ${jsonValue(order)}, 'queued', false, ${promptId}, ${timestampMs.literal(at)})`)
  if (notBefore !== null) await scheduleDispatch(t, notBefore)
  await recordRowChanges(t, { kind: 'prompt', agentId: t.agent.id, promptId })
}

function attemptPromptFields(agent: AgentRow, { progress }: SprintRow, iteration: number) {
  const live = progress.live.find(({ number }) => number === iteration)
  const model = (live && chooseModel(progress, live)) ?? progress.model ?? agent.model
  return {
    model,
    text: live ? forecastPrompt(agent, progress, live) : '',
  }
}

/**
 * The prompt as far as the backend knows it. The machine adds what the sprint learned there; once the attempt starts, it
 * reports the prompt that the agent received, which replaces this one.
 */
export const forecastPrompt = ({ notesFolder }: AgentRow, progress: Progress, live: LiveIteration): string =>
  buildAttemptPrompt(progress, live, { notesFolder: notesFolder ?? undefined }).prompt

type UnparkTarget = Pick<AttemptOrder, 'id' | 'order'> & { readonly notBefore: number | null }

async function unparkAttempt(
  t: AgentTransaction,
  sprint: SprintRow,
  { id, order, notBefore }: UnparkTarget,
): Promise<string | undefined> {
  const parked = and(
    eq(agentPrompts.sprintId, sprint.id),
    eq(agentPrompts.iteration, order.iteration),
    eq(agentPrompts.attempt, order.attempt),
    eq(agentPrompts.status, 'parked'),
  )
  const again = { status: 'queued' as const, orderId: id, notBefore, error: null, position: lastPosition(t.agent.id) }
  const [row] = await t.tx.db.update(agentPrompts).set(again).where(parked).returning({ id: agentPrompts.id })
  return row?.id
}

/** Behind the agent's unfinished prompts; does not scan its history. */
export const lastPosition = (agentId: string): SQL<number> => sql<number>`(1 + greatest(0,
  (select max(position) from agent_prompt where agent_id = ${agentId} and status in ('queued', 'parked')),
  (select position from agent_prompt where agent_id = ${agentId} and status = 'running')))`

/** Respects the minimum interval of Ralph Mode. */
function earliestStart(agent: AgentRow, { protocol }: SprintRow, at: number): number | null {
  const { ralphModeLastPromptAt: last, ralphModeMinIntervalMs: interval } = agent
  if (!isNotesProtocol(protocol) || last === null || interval === 0 || last + interval <= at) return null
  return last + interval
}

/** Schedules another dispatch for this agent. */
export const scheduleDispatch = ({ fleet, tx, agent: { id: agentId } }: AgentTransaction, at: number): Promise<void> =>
  fleet.engine.enqueue(tx, { id: `pump:${agentId}:${at}`, kind: 'pump', input: { agentId }, at })

/** Drops queued work and aborts running work. The machine reports the end of what it has started. */
async function cancelOrders(t: AgentTransaction, sprint: SprintRow, what: 'waits' | 'attempts' | 'all'): Promise<void> {
  const live = and(eq(sprintOrders.sprintId, sprint.id), inArray(sprintOrders.status, ['queued', 'open']))
  const orders = await t.tx.db.select().from(sprintOrders).where(live)
  const waits = orders.filter(({ type }) => type === 'wait')
  const unbegun = what === 'all' ? orders.filter(({ status }) => status === 'queued') : []
  const dropped = what === 'attempts' ? [] : [...waits, ...unbegun]
  for (const { id, type } of dropped) if (type === 'wait') t.fleet.engine.cancel(t.tx, `wait:${id}`)
  await dropOrders(t, dropped)
  for (const promptId of await findResentPrompts(t, dropped)) await interruptPrompt(t, promptId)
  if (what === 'waits') return
  const running = await findRunningPrompt(t)
  const hasOpenOrder = orders.some(({ status, type }) => status === 'open' && type !== 'wait' && type !== 'run-attempt')
  if (running?.sprintId === sprint.id) await interruptPrompt(t, running.id)
  else if (what === 'all' && hasOpenOrder && !running) await interruptPrompt(t)
}

/** Prompts queued for a resend: the machine may have received the first message. */
async function findResentPrompts(t: Transaction, dropped: readonly OrderRow[]): Promise<string[]> {
  const ids = dropped.flatMap(({ promptId }) => promptId ?? [])
  if (ids.length === 0) return []
  const sent = and(inArray(agentPrompts.id, ids), isNotNull(agentPrompts.startedAt))
  return (await t.tx.db.select({ id: agentPrompts.id }).from(agentPrompts).where(sent)).map(({ id }) => id)
}

async function dropOrders(t: AgentTransaction, dropped: readonly OrderRow[]): Promise<void> {
  if (dropped.length === 0) return
  const endedAt = t.fleet.clock.now()
  const ids = dropped.map(({ id }) => id)
  await t.tx.db.update(sprintOrders).set({ status: 'dropped', endedAt }).where(inArray(sprintOrders.id, ids))
  const prompts = dropped.flatMap(({ promptId }) => promptId ?? [])
  if (prompts.length === 0) return
  const cancelled = { status: 'cancelled' as const, endedAt }
  await t.tx.db.update(agentPrompts).set(cancelled).where(inArray(agentPrompts.id, prompts))
  const changed = dropped.flatMap(({ agentId, promptId }) => (promptId === null ? [] : [{ agentId, promptId }]))
  await recordRowChanges(t, ...changed.map((prompt) => ({ kind: 'prompt' as const, ...prompt })))
}

/**
 * Asks the machine to end the agent's running prompt, or everything of a sprint. The agent is free once the machine
 * reports the end.
 */
export const interruptPrompt = ({ fleet, tx, agent }: AgentTransaction, promptId?: string): Promise<void> =>
  fleet.machines.send(tx, agent.machineId, {
    id: `interrupt:${promptId ?? fleet.newId()}`,
    type: 'interrupt',
    body: { agentId: agent.id, when: 'now', ...(promptId !== undefined && { promptId }) },
  })
