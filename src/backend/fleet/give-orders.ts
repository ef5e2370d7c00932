import { and, eq, inArray, sql } from 'drizzle-orm'
import type { Order } from '../../loop/order.ts'
import { promptFor } from '../../loop/protocol.ts'
import { modelFor } from '../../loop/standard/choice.ts'
import { agentPrompts } from '../database/agent-prompt.ts'
import type { Tx } from '../database/database.ts'
import { sprintOrders } from '../database/sprint.ts'
import { announce } from './announce.ts'
import type { Fleet } from './ports.ts'
import { type Held, runningPrompt } from './rows.ts'

/** Who asks for the prompts of the loop. */
export const theLoop = 'ralph'

/** Writes down what is to be done next. What the agent's machine does is begun by `pump`, in the same transaction. */
export async function giveOrders(fleet: Fleet, tx: Tx, held: Held, orders: readonly Order[]): Promise<void> {
  for (const [index, order] of orders.entries()) {
    const id = `${held.sprint.id}:${held.sprint.rev}:${index}`
    if (order.type === 'tell' || order.type === 'notify') continue
    if (order.type === 'abort') await callOff(fleet, tx, held, order.what)
    else if (order.type === 'run-attempt') await queueAttempt(fleet, tx, held, { id, order })
    else await giveOrder(fleet, tx, held, { id, order })
  }
}

type Given<O extends Order = Order> = { readonly id: string; readonly order: O }

async function giveOrder(fleet: Fleet, tx: Tx, { agent, sprint }: Held, { id, order }: Given): Promise<void> {
  const waits = order.type === 'wait' ? { status: 'open' as const, dueAt: order.until } : { status: 'queued' as const }
  await tx.db.insert(sprintOrders).values({
    id,
    sprintId: sprint.id,
    agentId: agent.id,
    type: order.type,
    order,
    ...waits,
    blocking: isBlocking(order, sprint),
    createdAt: fleet.clock.now(),
  })
  if (order.type === 'wait') {
    await fleet.engine.enqueue(tx, { id: `wait:${id}`, kind: 'end-wait', input: { orderId: id }, at: order.until })
  }
}

/** Nobody works in the folder while a check runs in it. Hooks in the background do not mind. */
function isBlocking(order: Order, { progress }: Held['sprint']): boolean {
  if (order.type === 'wait') return false
  if (order.type !== 'run-hook') return true
  return progress.perIterationHooks.some(({ id, parallel }) => id === order.hookId && !parallel)
}

/** Behind what people have asked for meanwhile. One that was parked before it had begun keeps its row. */
async function queueAttempt(
  fleet: Fleet,
  tx: Tx,
  { agent, sprint }: Held,
  { id, order }: Given<Extract<Order, { type: 'run-attempt' }>>,
): Promise<void> {
  const { progress } = sprint
  const { iteration, attempt } = order
  const live = progress.live.find(({ number }) => number === iteration)
  const parked = and(
    eq(agentPrompts.sprintId, sprint.id),
    eq(agentPrompts.iteration, iteration),
    eq(agentPrompts.attempt, attempt),
    eq(agentPrompts.status, 'parked'),
  )
  const at = fleet.clock.now()
  const queued = {
    status: 'queued' as const,
    orderId: id,
    position: await lastPosition(tx, agent.id),
    notBefore: soonest(agent, sprint, at),
    error: null,
  }
  const [again] = await tx.db.update(agentPrompts).set(queued).where(parked).returning({ id: agentPrompts.id })
  const promptId = again?.id ?? fleet.newId()
  if (!again) {
    await tx.db.insert(agentPrompts).values({
      id: promptId,
      agentId: agent.id,
      prompt: live ? promptFor(progress, { ...live, notesFolder: agent.notesFolder ?? undefined }) : '',
      model: (live && modelFor(progress, live)) ?? progress.model ?? agent.model,
      by: theLoop,
      sprintId: sprint.id,
      iteration,
      attempt,
      ...queued,
      createdAt: at,
    })
  }
  const { id: sprintId } = sprint
  const given = { id, sprintId, agentId: agent.id, type: order.type, order, blocking: false, promptId, createdAt: at }
  await tx.db.insert(sprintOrders).values({ ...given, status: 'queued' })
  if (queued.notBefore !== null) await wakeAt(fleet, tx, agent.id, queued.notBefore)
  await announce(fleet, tx, { kind: 'prompt', agentId: agent.id, promptId })
}

/** The minimum interval of Ralph Mode. */
function soonest(agent: Held['agent'], { protocol }: Held['sprint'], at: number): number | null {
  const { ralphModeLastPromptAt: last, ralphModeMinIntervalMs: interval } = agent
  if (protocol !== 'notes' || last === null || interval === 0 || last + interval <= at) return null
  return last + interval
}

/** The agent is looked at again then. */
export const wakeAt = (fleet: Fleet, tx: Tx, agentId: string, at: number): Promise<void> =>
  fleet.engine.enqueue(tx, { id: `pump:${agentId}:${at}`, kind: 'pump', input: { agentId }, at })

export async function lastPosition(tx: Tx, agentId: string): Promise<number> {
  const [row] = await tx.db
    .select({ next: sql<number>`coalesce(max(${agentPrompts.position}), 0) + 1` })
    .from(agentPrompts)
    .where(eq(agentPrompts.agentId, agentId))
  return row?.next ?? 1
}

/** What waits is forgotten, what runs is ended. The machine answers for what it has begun. */
async function callOff(
  fleet: Fleet,
  tx: Tx,
  { agent, sprint }: Held,
  what: 'waits' | 'attempts' | 'all',
): Promise<void> {
  const live = and(eq(sprintOrders.sprintId, sprint.id), inArray(sprintOrders.status, ['queued', 'open']))
  const orders = await tx.db.select().from(sprintOrders).where(live)
  const waits = orders.filter(({ type }) => type === 'wait')
  const unbegun = what === 'all' ? orders.filter(({ status }) => status === 'queued') : []
  const dropped = what === 'attempts' ? [] : [...waits, ...unbegun]
  for (const { id, type } of dropped) if (type === 'wait') fleet.engine.cancel(tx, `wait:${id}`)
  await dropOrders(fleet, tx, dropped)
  if (what === 'waits') return
  const running = await runningPrompt(tx, agent.id)
  const begun = orders.some(({ status, type }) => status === 'open' && type !== 'wait' && type !== 'run-attempt')
  if (running?.sprintId === sprint.id) await interrupt(fleet, tx, agent, running.id)
  else if (what === 'all' && begun && !running) await interrupt(fleet, tx, agent)
}

async function dropOrders(fleet: Fleet, tx: Tx, dropped: readonly (typeof sprintOrders.$inferSelect)[]): Promise<void> {
  if (dropped.length === 0) return
  const endedAt = fleet.clock.now()
  const ids = dropped.map(({ id }) => id)
  await tx.db.update(sprintOrders).set({ status: 'dropped', endedAt }).where(inArray(sprintOrders.id, ids))
  const prompts = dropped.flatMap(({ promptId }) => promptId ?? [])
  if (prompts.length === 0) return
  const cancelled = { status: 'cancelled' as const, endedAt }
  await tx.db.update(agentPrompts).set(cancelled).where(inArray(agentPrompts.id, prompts))
  const changed = dropped.flatMap(({ agentId, promptId }) => (promptId === null ? [] : [{ agentId, promptId }]))
  await announce(fleet, tx, ...changed.map((prompt) => ({ kind: 'prompt' as const, ...prompt })))
}

/** Ends the prompt that runs on the agent, or everything of it. The agent is free when the machine says so. */
export const interrupt = (fleet: Fleet, tx: Tx, { id, machineId }: Held['agent'], promptId?: string): Promise<void> =>
  fleet.machines.send(tx, machineId, {
    id: `interrupt:${promptId ?? fleet.newId()}`,
    type: 'interrupt',
    body: { agentId: id, when: 'now', ...(promptId !== undefined && { promptId }) },
  })
