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
  /** The same for what comes in masses and can wait: few at a time, so that the others find a connection. */
  readonly aside: <T>(run: (tx: Tx) => Promise<T>) => Promise<T>
  readonly close: () => Promise<void>
}

type Place = Omit<Database, 'transaction' | 'aside'>

/** `mustHaveRoom` rejects when nothing more should be written. */
export function databaseOn(opened: Place, mustHaveRoom: () => Promise<void> = async () => {}): Database {
  const transaction: Database['transaction'] = async (run) => {
    await mustHaveRoom()
    return again(() => once(opened, run))
  }
  const inTurn = turns(opened.kind === 'embedded' ? 1 : mostAside)
  return { ...opened, transaction, aside: (run) => inTurn(() => transaction(run)) }
}

const mostAside = 4

/** At most so many at once, first come, first served. */
function turns(most: number): <T>(run: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = []
  let running = 0
  return async (run) => {
    if (running >= most) await new Promise<void>((resolve) => waiting.push(resolve))
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

type Opened = Pick<Database, 'pool'>

async function once<T>({ pool }: Opened, run: (tx: Tx) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  const before: (() => Promise<void>)[] = []
  const after: (() => void)[] = []
  let broken: Error | undefined
  try {
    await client.query('begin')
    const beforeCommit = (then: () => Promise<void>) => void before.push(then)
    const afterCommit = (then: () => void) => void after.push(then)
    const db = queriesOn(client)
    const result = await run({ db, client, beforeCommit, afterCommit })
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

const queriesOfClient = new WeakMap<PoolClient, Queries>()

function queriesOn(client: PoolClient): Queries {
  const queries = queriesOfClient.get(client) ?? drizzle(remembering(client))
  queriesOfClient.set(client, queries)
  return queries
}

const mostStatements = 300
const statements = new Map<string, string>()

/**
 * Most of what a statement costs is to understand and to plan it, again and again. With a name that is done once per connection.
 * Whoever opens a connection to the embedded form makes it forget the names of the one before: they share a session.
 */
export function remembering<T extends Pool | PoolClient>(client: T): T {
  const query = (config: unknown, values?: unknown[]) => {
    const text = isObject(config) && config['name'] === undefined ? config['text'] : undefined
    const name = typeof text === 'string' && values !== undefined && values.length > 0 ? nameOf(text) : undefined
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what drizzle gives it, pg gets
    return client.query((name === undefined ? config : { ...(config as object), name }) as never, values as never)
  }
  return new Proxy(client, { get: (target, key) => (key === 'query' ? query : Reflect.get(target, key)) })
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

function nameOf(text: string): string | undefined {
  const known = statements.get(text)
  if (known !== undefined || statements.size >= mostStatements) return known
  const name = `statement_${statements.size}`
  statements.set(text, name)
  return name
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
