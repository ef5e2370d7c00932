import { sql, type SQL } from 'drizzle-orm'
import { toError } from '../../contract/errors.ts'
import { serialize } from '../../platform/async.ts'
import type { Database } from '../database/database.ts'
import { isDatabaseUnavailable } from '../database/database-unavailable.ts'
import { holdLivenessLock, holdsLivenessLock } from './liveness-lock.ts'

const heartbeatMs = 1000
/**
 * A replica not seen for this long, by the clock of the database, is dead even if it holds its liveness lock. Generous,
 * because an overloaded computer is not dead and a takeover makes it worse; killed replicas lose their liveness lock at
 * once.
 */
const deadMs = 20_000
/** A replica seen this recently counts as alive even without its liveness lock, which may be reconnecting. */
const seenMs = 2500

type HeartbeatOptions = {
  readonly executorId: string
  readonly recover: () => Promise<number>
  readonly onLost: (reason: string) => void
  readonly log: (level: 'warning' | 'error', problem: string | Error) => void
}

/**
 * Writes a heartbeat every second, and takes over the tasks of dead replicas: those whose database session has ended
 * (killed processes), and those silent for too long (hanging processes, lost computers). A replica that could not write
 * its own heartbeat for that long must exit, because others have taken over its work.
 */
export async function startHeartbeat(database: Database, { executorId, recover, onLost, log }: HeartbeatOptions) {
  let last = performance.now()
  let lost = false
  /** While the database is down, no replica can take over anything. */
  let isAway = false
  const enqueue = serialize()
  const life = await holdLivenessLock(database.url, executorId, (error) => log('warning', error))
  const beat = async () => {
    await database.db.execute(sql`
      insert into executor (id, last_seen) values (${executorId}, clock_timestamp())
      on conflict (id) do update set last_seen = excluded.last_seen`)
    last = performance.now()
    isAway = false
    const taken = await recover()
    if (taken > 0) log('warning', `took over ${taken} tasks of a dead replica`)
  }
  await database.db.execute(sql`delete from executor where last_seen < clock_timestamp() - interval '1 hour'`)
  await beat()
  const timer = setInterval(() => {
    const silentMs = performance.now() - last
    if (silentMs > deadMs && !lost && !isAway) {
      lost = true
      onLost(`no heartbeat for ${Math.round(silentMs)} ms`)
    }
    enqueue(beat).catch((error: unknown) => {
      isAway = isDatabaseUnavailable(error)
      log('warning', toError(error))
    })
  }, heartbeatMs)
  return {
    stop: async () => {
      clearInterval(timer)
      await enqueue(async () => {})
      await database.db.execute(sql`delete from executor where id = ${executorId}`).catch(() => {})
      await life.end()
    },
  }
}

export type LivenessLimits = { readonly deadMs: number; readonly seenMs: number }

/** An SQL condition: whether the executor is alive. */
export const isExecutorAlive = (id: SQL, limits: LivenessLimits = { deadMs, seenMs }): SQL => sql`(${id} in (
  select id from executor
  where last_seen > clock_timestamp() - make_interval(secs => ${limits.deadMs / 1000})
    and (last_seen > clock_timestamp() - make_interval(secs => ${limits.seenMs / 1000}) or ${holdsLivenessLock(sql`executor.id`)})))`
