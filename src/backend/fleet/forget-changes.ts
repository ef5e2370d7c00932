import { and, asc, lt, ne } from 'drizzle-orm'
import { isAny } from '../database/columns.ts'
import type { Database } from '../database/database.ts'
import { events } from '../database/event.ts'

/** Who was away for longer reads everything anew. What agents have said is kept. */
export const changesKeptMs = 24 * 3_600_000

const batch = 1000

/**
 * Takes away what nobody asks for any more: that a row had changed. The last of the old ones stays: whoever comes back from before it
 * finds it, and so knows that more was there.
 */
export async function forgetChanges({ aside }: Pick<Database, 'aside'>, now: number): Promise<void> {
  const isOld = and(ne(events.kind, 'event'), lt(events.at, now - changesKeptMs))
  const someLeft = () =>
    aside(async ({ db }) => {
      const order = [asc(events.tx), asc(events.id)]
      const rows = await db
        .select({ id: events.id })
        .from(events)
        .where(isOld)
        .orderBy(...order)
        .limit(batch + 1)
      const gone = rows.slice(0, -1).map(({ id }) => id)
      await db.delete(events).where(isAny(events.id, gone))
      return gone.length === batch
    })
  while (await someLeft());
}
