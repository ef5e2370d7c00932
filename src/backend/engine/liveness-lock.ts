import { toError } from '../../contract/errors.ts'
import { sql, type SQL } from 'drizzle-orm'
import { Client } from 'pg'

/** Arbitrary advisory lock class. */
const livenessLockClass = 722_684_203
const reconnectMs = 500

/**
 * Holds an advisory lock in a session of its own as proof that this process is alive. When the process dies, however it
 * dies, the server ends the session and releases the lock at once. A session lost for another reason is reopened.
 */
export async function holdLivenessLock(url: string, executorId: string, onError: (error: Error) => void) {
  let ended = false
  let held: Client | undefined
  const hold = async (): Promise<void> => {
    const client = new Client({ connectionString: url, keepAlive: true, application_name: 'ralph life' })
    held = client
    const lost = (error: Error) => {
      if (ended || held !== client) return
      held = undefined
      onError(error)
      void endQuietly(client)
      setTimeout(() => void hold(), reconnectMs).unref()
    }
    client.on('error', lost)
    client.on('end', () => lost(new Error('the liveness session has ended')))
    try {
      await client.connect()
      await client.query('select pg_advisory_lock($1, hashtext($2))', [livenessLockClass, executorId])
    } catch (error) {
      lost(toError(error))
    }
  }
  await hold()
  return {
    end: async () => {
      ended = true
      await endQuietly(held)
    },
  }
}

const endQuietly = (client: Client | undefined): Promise<void> | undefined => client?.end().catch(() => {})

/** An SQL condition: whether the executor holds its liveness lock. */
export const holdsLivenessLock = (id: SQL): SQL => sql`exists (
  select 1 from pg_locks where locktype = 'advisory' and granted and classid = ${livenessLockClass}::oid and objsubid = 2
    and database = (select oid from pg_database where datname = current_database())
    and objid::bigint = hashtext(${id})::bigint & 4294967295)`
