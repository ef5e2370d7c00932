import { toError } from '../../../contract/errors.ts'
import type { Pool } from 'pg'

const vacuumIntervalMs = 3000

/** The threshold that autovacuum uses on a server. */
const selectFullestTable = `
  select oid::regclass::text as name from pg_class
  where relkind = 'r' and pg_stat_get_dead_tuples(oid) > 50 + 0.2 * greatest(reltuples, 0)
  order by pg_stat_get_dead_tuples(oid) desc limit 1`

/**
 * Vacuums the table with the most dead rows. The embedded database has no autovacuum, so files and query times would
 * grow forever. One table per call keeps the pause short.
 */
export async function vacuumFullestTable(pool: Pick<Pool, 'query'>): Promise<string | undefined> {
  const { rows } = await pool.query<{ name: string }>(selectFullestTable)
  const name = rows[0]?.name
  // The name comes from the catalog, quoted where necessary.
  if (name !== undefined) await pool.query(`vacuum (analyze) ${name}`)
  return name
}

export function startVacuum(pool: Pool, onError: (error: Error) => void): { readonly stop: () => Promise<void> } {
  let running: Promise<unknown> = Promise.resolve()
  const look = () => (running = vacuumFullestTable(pool).catch((error: unknown) => onError(toError(error))))
  const timer = setInterval(() => void look(), vacuumIntervalMs).unref()
  return {
    stop: async () => {
      clearInterval(timer)
      await running
    },
  }
}
