import { and, eq } from 'drizzle-orm'
import type { Tx } from '../database/database.ts'
import { sprints } from '../database/sprint.ts'
import { appendEvents, type NewEvent } from './event-log.ts'
import type { Fleet } from '../fleet/ports.ts'

type SprintEvents = { readonly sprintId: string; readonly newEvents: readonly Omit<NewEvent, 'seq'>[] }

/** Appends the next events of a sprint. Drops them if the sprint is gone or belongs to another agent. */
export async function appendSprintEvents(
  fleet: Fleet,
  tx: Tx,
  agentId: string,
  { sprintId, newEvents: own }: SprintEvents,
): Promise<void> {
  const [sprint] = await tx.db
    .select({ seq: sprints.seq })
    .from(sprints)
    .where(and(eq(sprints.id, sprintId), eq(sprints.agentId, agentId)))
  if (!sprint) return
  const numbered = own.map((event, index) => ({ ...event, seq: sprint.seq + index + 1 }))
  const counted = { seq: sprint.seq + own.length, lastEventAt: fleet.clock.now() }
  await tx.db.update(sprints).set(counted).where(eq(sprints.id, sprintId))
  await appendEvents(fleet, tx, { agentId, sprintId }, numbered)
}
