import { and, eq } from 'drizzle-orm'
import { sprints } from '../database/sprint.ts'
import { appendEvents, type NewEvent } from './event-log.ts'
import type { AgentTransaction } from '../fleet/transaction.ts'

type SprintEvents = { readonly sprintId: string; readonly newEvents: readonly Omit<NewEvent, 'seq'>[] }

/** Appends the next events of a sprint. Drops them if the sprint is gone or belongs to another agent. */
export async function appendSprintEvents(
  t: AgentTransaction,
  { sprintId, newEvents: own }: SprintEvents,
): Promise<void> {
  const { id: agentId } = t.agent
  const [sprint] = await t.tx.db
    .select({ seq: sprints.seq })
    .from(sprints)
    .where(and(eq(sprints.id, sprintId), eq(sprints.agentId, agentId)))
  if (!sprint) return
  const numbered = own.map((event, index) => ({ ...event, seq: sprint.seq + index + 1 }))
  const counted = { seq: sprint.seq + own.length, lastEventAt: t.fleet.clock.now() }
  await t.tx.db.update(sprints).set(counted).where(eq(sprints.id, sprintId))
  await appendEvents(t, { agentId, sprintId }, numbered)
  t.tx.afterCommit(() => t.fleet.traces?.observe({ id: sprintId }, numbered))
}
