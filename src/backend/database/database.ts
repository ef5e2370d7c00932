import { toError } from '../../contract/errors.ts'
import { drizzle, type NodePgDatabase } from 'drizzle-orm/node-postgres'
import type { Pool, PoolClient } from 'pg'
import { meters } from '../meters/meters.ts'
import { explainOutage } from './database-unavailable.ts'
import type { Signals } from './signals.ts'

/** Queries outside a transaction. */
export type Queries = NodePgDatabase

/** One transaction. Its writes become visible together, or not at all. */
export interface Tx {
  readonly db: Queries
  /** For writers that do not use drizzle (the engine). */
  readonly client: PoolClient
  /** Runs just before the commit, inside the transaction. */
  readonly beforeCommit: (then: () => Promise<void>) => void
  /** Runs after the commit, in order; never after a rollback. Must not throw. */
  readonly afterCommit: (then: () => void) => void
}

export interface Database {
  readonly kind: 'embedded' | 'postgres'
  readonly pool: Pool
  readonly url: string
  /**
   * For reading. The embedded database has one session, so this waits for an open transaction: never use it inside one.
   */
  readonly db: Queries
  readonly signals: Signals
  /** Retries after serialization failures and deadlocks, so `run` must have no effects except through `tx`. */
  readonly transaction: <T>(run: (tx: Tx) => Promise<T>) => Promise<T>
  /** Like `transaction`, for bulk work that can wait: runs few at a time and leaves connections for the others. */
  readonly aside: <T>(run: (tx: Tx) => Promise<T>) => Promise<T>
  /** Copies the embedded database into a new folder, consistently; other queries wait. */
  readonly copyTo?: (folder: string) => Promise<void>
  readonly close: () => Promise<void>
}

/** Required by pg and DBOS, but never dialled: all access goes through the pool. */
export const placeholderUrl = 'postgresql://postgres@localhost/postgres'

type DatabaseHandle = Omit<Database, 'transaction' | 'aside'>

type TransactionHooks = {
  /** Rejects when the disk is too full to write. */
  readonly assertDiskSpace?: () => Promise<void>
  readonly onError: (error: Error) => void
}

export function createDatabase(opened: DatabaseHandle, { assertDiskSpace, onError }: TransactionHooks): Database {
  const transaction: Database['transaction'] = async (run) => {
    const began = performance.now()
    const observe = (result: string) =>
      meters.transactionSeconds.observe({ result }, (performance.now() - began) / 1000)
    try {
      await assertDiskSpace?.()
      const result = await retryConflicts(() => runTransaction(opened, run))
      observe('committed')
      return result
    } catch (error) {
      observe('rolled-back')
      const outage = explainOutage(error)
      if (outage) onError(outage)
      throw error
    }
  }
  const limit = limitTransactions(opened.kind === 'embedded' ? 1 : maxBackground)
  return { ...opened, transaction, aside: (run) => limit(() => transaction(run)) }
}

const maxBackground = 4

/** Limits concurrency to `most`, first come, first served. */
function limitTransactions(max: number): <T>(run: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = []
  let running = 0
  return async (run) => {
    if (running >= max) await new Promise<void>((resolve) => waiting.push(resolve))
    else running++
    try {
      return await run()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else running--
    }
  }
}

type PoolOwner = Pick<Database, 'pool'>

async function runTransaction<T>({ pool }: PoolOwner, run: (tx: Tx) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  const before: (() => Promise<void>)[] = []
  const after: (() => void)[] = []
  let broken: Error | undefined
  try {
    await client.query('begin')
    const beforeCommit = (then: () => Promise<void>) => void before.push(then)
    const afterCommit = (then: () => void) => void after.push(then)
    const db = queriesFor(client)
    const result = await run({ db, client, beforeCommit, afterCommit })
    for (const then of before) await then()
    await client.query('commit')
    for (const then of after) queueMicrotask(then)
    return result
  } catch (error) {
    await client.query('rollback').catch((lost: unknown) => (broken = toError(lost)))
    throw error
  } finally {
    client.release(broken)
  }
}

const queriesByClient = new WeakMap<PoolClient, Queries>()

function queriesFor(client: PoolClient): Queries {
  const queries = queriesByClient.get(client) ?? drizzle(withPreparedStatements(client))
  queriesByClient.set(client, queries)
  return queries
}

const maxStatements = 300
const statementNames = new Map<string, string>()

/**
 * Names statements, so that each connection parses and plans them once, which is most of their cost. New connections to
 * the embedded database must deallocate the names first, because they share one session.
 */
export function withPreparedStatements<T extends Pool | PoolClient>(client: T): T {
  const query = (config: unknown, values?: unknown[]) => {
    const text = isQueryConfig(config) && config['name'] === undefined ? config['text'] : undefined
    const name = typeof text === 'string' && values !== undefined && values.length > 0 ? statementName(text) : undefined
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what drizzle gives it, pg gets
    return client.query((name === undefined ? config : { ...(config as object), name }) as never, values as never)
  }
  return new Proxy(client, { get: (target, key) => (key === 'query' ? query : Reflect.get(target, key)) })
}

const isQueryConfig = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

function statementName(text: string): string | undefined {
  const known = statementNames.get(text)
  if (known !== undefined || statementNames.size >= maxStatements) return known
  const name = `statement_${statementNames.size}`
  statementNames.set(text, name)
  return name
}

/** Retries serialization failures and deadlocks: nothing was written, and the next attempt usually succeeds. */
const retryConflicts = async <T>(attempt: () => Promise<T>, tries = 5): Promise<T> => {
  try {
    return await attempt()
  } catch (error) {
    if (tries <= 1 || !['40001', '40P01'].includes(postgresCode(error) ?? '')) throw error
    return retryConflicts(attempt, tries - 1)
  }
}

/** The code of a Postgres error, even if drizzle has wrapped it. */
function postgresCode(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  if ('code' in error && typeof error.code === 'string') return error.code
  return postgresCode(error.cause)
}

export const isUniqueViolation = (error: unknown): boolean => postgresCode(error) === '23505'
