import type { Pool } from 'pg'

const everyMs = 3000

/** What Postgres itself does on a server (autovacuum), with its own rule. */
const fullest = `
  select oid::regclass::text as name from pg_class
  where relkind = 'r' and pg_stat_get_dead_tuples(oid) > 50 + 0.2 * greatest(reltuples, 0)
  order by pg_stat_get_dead_tuples(oid) desc limit 1`

/**
 * Clears away the rows that nobody can see any more: nothing else does it in the embedded database, and both the files and the
 * time that a look takes would grow for ever. One table at a time, so that nobody waits for long.
 */
export async function tidy(pool: Pick<Pool, 'query'>): Promise<string | undefined> {
  const { rows } = await pool.query<{ name: string }>(fullest)
  const name = rows[0]?.name
  // The name is one of the database itself, in quotes where it needs them.
  if (name !== undefined) await pool.query(`vacuum (analyze) ${name}`)
  return name
}

export function tidyEvery(pool: Pool, onTrouble: (error: Error) => void): { readonly stop: () => Promise<void> } {
  let running: Promise<unknown> = Promise.resolve()
  const look = () =>
    (running = tidy(pool).catch((error: unknown) =>
      onTrouble(error instanceof Error ? error : new Error(String(error))),
    ))
  const timer = setInterval(() => void look(), everyMs).unref()
  return {
    stop: async () => {
      clearInterval(timer)
      await running
    },
  }
}
