import { DBOS, DBOSClient, type DLogger } from '@dbos-inc/dbos-sdk'
import { sql } from 'drizzle-orm'
import { RalphError, errorMessage, toError } from '../../contract/errors.ts'
import { placeholderUrl, type Database } from '../database/database.ts'
import { queueName, type Engine, type TaskHandler, type EngineTask } from './engine.ts'
import { isExecutorAlive, startHeartbeat } from './heartbeat.ts'
import { recoverTasks } from './recover-tasks.ts'

export type EngineOptions = {
  readonly handlers: Readonly<Record<string, TaskHandler>>
  /** The other replicas consider this process dead, or it could not reach the database for that long: it must exit. */
  readonly onLost: (reason: string) => void
  readonly log?: (level: 'warning' | 'error', problem: string | Error) => void
}

const application = 'ralph'
/** Every version executes tasks of every version: handler inputs only ever gain fields. */
const applicationVersion = 'ralph-1'
const workflowName = 'work'
const maxAttempts = { retriesAllowed: true, maxAttempts: 20, intervalSeconds: 1, backoffRate: 2 }
/** DBOS looks for due timers and for new tasks at this interval, so a task starts at most two intervals late. */
const pollIntervalMs = 1000
const drainMs = 2000
const cleanupIntervalMs = 3_600_000
const finishedRetentionMs = 24 * 3_600_000

/** Runs DBOS on the pool of the database. DBOS keeps its state in globals, so a process has one engine. */
export async function openEngine(database: Database, options: EngineOptions): Promise<Engine> {
  if (DBOS.isInitialized()) throw new RalphError('INTERNAL', 'a process can have only one engine')
  const { handlers, onLost, log = () => {} } = options
  // An embedded database has no other process, so unfinished tasks are ours.
  const executorId = database.kind === 'embedded' ? 'embedded' : crypto.randomUUID()
  registerWorkflow(handlers)
  // DBOS refuses URLs that pg accepts, such as those of a socket.
  const shared = { systemDatabaseUrl: placeholderUrl, systemDatabasePool: database.pool, logger: createDbosLogger(log) }
  DBOS.setConfig({
    ...shared,
    name: application,
    executorID: executorId,
    applicationVersion,
    enablePatching: true,
    useListenNotify: false,
  })
  await DBOS.launch()
  await DBOS.registerQueue(queueName, { workerConcurrency: 32, minPollingIntervalMs: pollIntervalMs })
  const client = await DBOSClient.create({ ...shared, applicationName: application })
  const recover = () => recoverTasks(database)
  const heart =
    database.kind === 'embedded' ? undefined : await startHeartbeat(database, { executorId, recover, onLost, log })
  const cleaning = setInterval(
    () => void deleteFinishedTasks().catch((error: unknown) => log('warning', toError(error))),
    cleanupIntervalMs,
  )
  cleaning.unref()
  return {
    executorId,
    enqueue: async (tx, work) => {
      await client.enqueueInTransaction(tx.client, workflowOptions(work), work.kind, work.input)
    },
    cancel: (tx, id) => tx.afterCommit(() => void DBOS.cancelWorkflow(id).catch(() => {})),
    isAlive: (id) => (database.kind === 'embedded' ? sql`(${id} = ${executorId})` : isExecutorAlive(id)),
    recover,
    close: async () => {
      clearInterval(cleaning)
      await heart?.stop()
      await DBOS.shutdown({ deregister: true, workflowCompletionTimeoutMS: drainMs })
      await client.destroy()
    },
  }
}

function registerWorkflow(handlers: EngineOptions['handlers']): void {
  const work = async (kind: string, input: unknown): Promise<void> => {
    const handler = handlers[kind]
    if (!handler) throw new RalphError('INTERNAL', `no handler for ${kind}`)
    await DBOS.runStep(() => handler(input), { name: kind, ...maxAttempts })
  }
  DBOS.registerWorkflow(work, { name: workflowName, maxRecoveryAttempts: 1_000_000 })
}

const workflowOptions = ({ id, at }: EngineTask) => ({
  workflowName,
  queueName,
  workflowID: id,
  appVersion: applicationVersion,
  ...(at !== undefined && { delaySeconds: Math.max(0, (at - Date.now()) / 1000) }),
})

/** Deletes finished tasks after a day. */
async function deleteFinishedTasks(): Promise<void> {
  const completedBefore = new Date(Date.now() - finishedRetentionMs).toISOString()
  for (;;) {
    const some = await DBOS.listWorkflows({ completedBefore, limit: 500, loadInput: false, loadOutput: false })
    if (some.length === 0) return
    await DBOS.deleteWorkflows(some.map(({ workflowID }) => workflowID))
  }
}

const createDbosLogger = (log: NonNullable<EngineOptions['log']>): DLogger => ({
  info: () => {},
  debug: () => {},
  warn: (entry) => log('warning', String(entry)),
  error: (entry) => log('error', errorMessage(entry)),
})
