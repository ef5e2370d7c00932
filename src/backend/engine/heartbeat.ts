import { sql, type SQL } from 'drizzle-orm'
import type { Database } from '../database/database.ts'
import { isDatabaseGone } from '../database/database-gone.ts'
import { holdLife, isAlive } from './life.ts'

const beatMs = 1000
/**
 * Who was not seen for this long is dead, by the clock of the database, whatever its session says. Long, since a computer that
 * has too much to do is not dead, and giving up makes it worse; those that were killed are known by their session.
 */
const deadMs = 20_000
/** Who was seen within this time lives, also without the session that stands for its life: that may have to be made anew. */
const seenMs = 2500

type Heart = {
  readonly executorId: string
  readonly recover: () => Promise<number>
  readonly onLost: (reason: string) => void
  readonly log: (level: 'warning' | 'error', text: string) => void
}

/**
 * Says every second that this replica lives, and takes over the work of those that are dead: whose session with the database
 * is gone (a process that was killed), or who have said nothing for too long (one that hangs, a computer that is gone). Whoever
 * could not say it for as long as that takes is out: others do its work already.
 */
export async function startHeartbeat(database: Database, { executorId, recover, onLost, log }: Heart) {
  let last = performance.now()
  let lost = false
  /** Nobody can take anything over while the database is away. */
  let isAway = false
  let beating = Promise.resolve()
  const life = await holdLife(database.url, executorId, (error) => log('warning', `heartbeat: ${error.message}`))
  const beat = async () => {
    await database.db.execute(sql`
      insert into executor (id, last_seen) values (${executorId}, clock_timestamp())
      on conflict (id) do update set last_seen = excluded.last_seen`)
    last = performance.now()
    isAway = false
    const taken = await recover()
    if (taken > 0) log('warning', `took over ${taken} of a replica that is gone`)
  }
  await database.db.execute(sql`delete from executor where last_seen < clock_timestamp() - interval '1 hour'`)
  await beat()
  const timer = setInterval(() => {
    const silentMs = performance.now() - last
    if (silentMs > deadMs && !lost && !isAway) {
      lost = true
      onLost(`no heartbeat for ${Math.round(silentMs)} ms`)
    }
    beating = beating.then(beat).catch((error: unknown) => {
      isAway = isDatabaseGone(error)
      log('warning', `heartbeat: ${String(error)}`)
    })
  }, beatMs)
  return {
    stop: async () => {
      clearInterval(timer)
      await beating
      await database.db.execute(sql`delete from executor where id = ${executorId}`).catch(() => {})
      await life.end()
    },
  }
}

/** Those who have begun something and are not there any more. */
export async function deadExecutors({ db }: Database, limits?: Limits): Promise<string[]> {
  const { rows } = await db.execute<{ id: string }>(sql`
    select distinct executor_id as id from dbos.workflow_status
    where status = 'PENDING' and not ${isLiving(sql`executor_id`, limits)}`)
  return rows.map(({ id }) => id)
}

type Limits = { readonly deadMs: number; readonly seenMs: number }

/** Whether the executor of this id is there, as far as the database can tell. */
export const isLiving = (id: SQL, limits: Limits = { deadMs, seenMs }): SQL => sql`(${id} in (
  select id from executor
  where last_seen > clock_timestamp() - make_interval(secs => ${limits.deadMs / 1000})
    and (last_seen > clock_timestamp() - make_interval(secs => ${limits.seenMs / 1000}) or ${isAlive(sql`executor.id`)})))`
