import { drizzle, type NodePgDatabase } from 'drizzle-orm/node-postgres'
import type { Pool, PoolClient } from 'pg'
import type { Signals } from './signals.ts'

/** Queries outside of a transaction. */
export type Queries = NodePgDatabase

/** One transaction. What it writes is there for everybody at once, or never. */
export interface Tx {
  readonly db: Queries
  /** For whoever writes along without drizzle (the engine). */
  readonly client: PoolClient
  /** Runs at the end, still part of it. */
  readonly beforeCommit: (then: () => Promise<void>) => void
  /** Runs once this is committed, in order; never if it is rolled back. Must not throw. */
  readonly afterCommit: (then: () => void) => void
}

export interface Database {
  readonly kind: 'embedded' | 'postgres'
  readonly pool: Pool
  readonly url: string
  /** For reading. In the embedded form this waits for a transaction that is under way: never use it inside of one. */
  readonly db: Queries
  readonly signals: Signals
  /** Again, if the database says that two got in each other's way; so `run` must have no effect but through `tx`. */
  readonly transaction: <T>(run: (tx: Tx) => Promise<T>) => Promise<T>
  readonly close: () => Promise<void>
}

export const databaseOn = (opened: Omit<Database, 'transaction'>): Database => ({
  ...opened,
  transaction: (run) => again(() => once(opened.pool, run)),
})

async function once<T>(pool: Pool, run: (tx: Tx) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  const before: (() => Promise<void>)[] = []
  const after: (() => void)[] = []
  let broken: Error | undefined
  try {
    await client.query('begin')
    const beforeCommit = (then: () => Promise<void>) => void before.push(then)
    const afterCommit = (then: () => void) => void after.push(then)
    const result = await run({ db: drizzle(client), client, beforeCommit, afterCommit })
    for (const then of before) await then()
    await client.query('commit')
    for (const then of after) queueMicrotask(then)
    return result
  } catch (error) {
    await client
      .query('rollback')
      .catch((lost: unknown) => (broken = lost instanceof Error ? lost : new Error(String(lost))))
    throw error
  } finally {
    client.release(broken)
  }
}

/** Serialization failure and deadlock: nothing was written, and the second time it goes well. */
const again = async <T>(attempt: () => Promise<T>, tries = 5): Promise<T> => {
  try {
    return await attempt()
  } catch (error) {
    if (tries <= 1 || !['40001', '40P01'].includes(codeOf(error) ?? '')) throw error
    return again(attempt, tries - 1)
  }
}

/** Of an error of Postgres, also if drizzle has wrapped it. */
function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  if ('code' in error && typeof error.code === 'string') return error.code
  return codeOf(error.cause)
}

export const isUniqueViolation = (error: unknown): boolean => codeOf(error) === '23505'
