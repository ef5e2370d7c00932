import { DBOS } from '@dbos-inc/dbos-sdk'
import { sql } from 'drizzle-orm'
import type { Database } from '../database/database.ts'
import { queueName } from './engine.ts'
import { isExecutorAlive, type LivenessLimits } from './heartbeat.ts'

/** Arbitrary advisory lock. */
const recoveryLock = 722_684_204
const maxTasks = 1000

/** Queues the tasks of dead replicas again, and returns their number. One replica at a time does this. */
export async function recoverTasks(database: Database): Promise<number> {
  if ((await listDeadTasks(database)).length === 0) return 0
  // The embedded database has one session and no other process.
  if (database.kind === 'embedded') return queueDeadTasks(database)
  return database.transaction(async ({ db }) => {
    const { rows } = await db.execute<{ locked: boolean }>(
      sql`select pg_try_advisory_xact_lock(${recoveryLock}) as locked`,
    )
    // Read again under the lock: a task that another replica has just resumed must not start a second time.
    return rows[0]?.locked ? queueDeadTasks(database) : 0
  })
}

async function queueDeadTasks(database: Database): Promise<number> {
  const ids = await listDeadTasks(database)
  if (ids.length > 0) await DBOS.resumeWorkflows([...ids], { queueName })
  return ids.length
}

/** Started tasks whose replica is dead. */
export async function listDeadTasks({ db }: Database, limits?: LivenessLimits): Promise<readonly string[]> {
  const started = await DBOS.listWorkflows({ status: 'PENDING', limit: maxTasks, loadInput: false, loadOutput: false })
  const executors = [...new Set(started.map(({ executorId = '' }) => executorId))]
  if (executors.length === 0) return []
  const { rows } = await db.execute<{ id: string }>(sql`
    select id from jsonb_array_elements_text(${JSON.stringify(executors)}::jsonb) as started (id)
    where not ${isExecutorAlive(sql`started.id`, limits)}`)
  const dead = new Set(rows.map(({ id }) => id))
  return started.filter(({ executorId = '' }) => dead.has(executorId)).map(({ workflowID }) => workflowID)
}
