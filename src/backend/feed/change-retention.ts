import { and, asc, lt, ne } from 'drizzle-orm'
import { equalsAny } from '../database/columns.ts'
import type { Database } from '../database/database.ts'
import { events } from '../database/event.ts'

/** Clients that were disconnected for longer reload everything. Events of agents are kept. */
export const changeRetentionMs = 24 * 3_600_000

const deleteBatchSize = 1000

/**
 * Deletes old row changes. Keeps the newest of them, so that a client with an older position can tell that it missed
 * some.
 */
export async function deleteOldChanges({ aside }: Pick<Database, 'aside'>, now: number): Promise<void> {
  const isOld = and(ne(events.kind, 'event'), lt(events.at, now - changeRetentionMs))
  const deleteBatch = () =>
    aside(async ({ db }) => {
      const order = [asc(events.tx), asc(events.id)]
      const rows = await db
        .select({ id: events.id })
        .from(events)
        .where(isOld)
        .orderBy(...order)
        .limit(deleteBatchSize + 1)
      const gone = rows.slice(0, -1).map(({ id }) => id)
      await db.delete(events).where(equalsAny(events.id, gone))
      return gone.length === deleteBatchSize
    })
  while (await deleteBatch());
}
