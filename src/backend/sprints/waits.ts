import { and, eq, sql } from 'drizzle-orm'
import { formatBudgetReason } from '../../contract/fleet/budget.ts'
import { agentPrompts } from '../database/agent-prompt.ts'
import { sprintOrders, sprints, type OrderRow, type SprintRow } from '../database/sprint.ts'
import type { Fleet } from '../fleet/fleet.ts'
import { agentTransaction, readSprintRow, type AgentTransaction } from '../fleet/transaction.ts'
import { dispatchNext } from './dispatch.ts'
import { applyFact } from './facts.ts'

/** Marks an open wait as done and applies `wait-ended`. The caller dispatches what comes next. */
export async function endWait(
  t: AgentTransaction,
  sprint: SprintRow,
  { id, order }: Pick<OrderRow, 'id' | 'order'>,
): Promise<SprintRow> {
  if (order.type !== 'wait') return sprint
  const at = t.fleet.clock.now()
  await t.tx.db.update(sprintOrders).set({ status: 'done', endedAt: at }).where(eq(sprintOrders.id, id))
  const fact = { type: 'wait-ended' as const, at, iteration: order.iteration }
  return applyFact(t, sprint, { id: `wait:${id}`, fact })
}

/** Ends all open waits of a sprint. The caller dispatches what comes next. */
export async function endOpenWaits(t: AgentTransaction, sprint: SprintRow): Promise<SprintRow> {
  const openWaitFilter = and(eq(sprintOrders.sprintId, sprint.id), sql`type = 'wait' and status = 'open'`)
  let ended = sprint
  for (const order of await t.tx.db.select().from(sprintOrders).where(openWaitFilter))
    ended = await endWait(t, ended, order)
  return ended
}

/** Matches the reason of every budget, for LIKE. */
const budgetReasonPattern = formatBudgetReason('%')

/** Call it after a budget was raised or removed. Retries the sprints and prompts that a budget parked; those still over budget park again. */
export async function retryBudgetWaits(fleet: Fleet): Promise<void> {
  const { rows } = await fleet.database.db.execute<{ id: string }>(sql`
    select agent_id as id from sprint where status = 'parked' and progress->'parked'->>'reason' like ${budgetReasonPattern}
    union select agent_id from agent_prompt
      where status = 'parked' and sprint_id is null and error like ${budgetReasonPattern}`)
  for (const { id } of rows) await agentTransaction(fleet, id, retryParkedWork)
}

async function retryParkedWork(t: AgentTransaction): Promise<void> {
  const parkedPromptFilter = sql`sprint_id is null and status = 'parked' and error like ${budgetReasonPattern}`
  await t.tx.db
    .update(agentPrompts)
    .set({ notBefore: t.fleet.clock.now() })
    .where(and(eq(agentPrompts.agentId, t.agent.id), parkedPromptFilter))
  const parkedSprintFilter = sql`status = 'parked' and progress->'parked'->>'reason' like ${budgetReasonPattern}`
  const parked = await t.tx.db
    .select({ id: sprints.id })
    .from(sprints)
    .where(and(eq(sprints.agentId, t.agent.id), parkedSprintFilter))
  for (const { id } of parked) await endOpenWaits(t, await readSprintRow(t, id))
  await dispatchNext(t)
}
