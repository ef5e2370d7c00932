import { and, eq } from 'drizzle-orm'
import type { Tx } from '../database/database.ts'
import { sprints } from '../database/sprint.ts'
import { appendEvents, type Told } from './announce.ts'
import type { Fleet } from './ports.ts'

type Own = { readonly sprintId: string; readonly own: readonly Omit<Told, 'seq'>[] }

/** Appends the next events of a sprint. Drops them if the sprint is gone or belongs to another agent. */
export async function appendToSprint(fleet: Fleet, tx: Tx, agentId: string, { sprintId, own }: Own): Promise<void> {
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
