import type { SQL } from 'drizzle-orm'
import type { Tx } from '../database/database.ts'

/** The queue of all tasks. */
export const queueName = 'work'

/** A durable task, executed later or by another replica. */
export type EngineTask = {
  /** Deduplicates: tasks with the same ID run once. */
  readonly id: string
  /** Selects the handler. */
  readonly kind: string
  /** JSON input of the handler. */
  readonly input: unknown
  /** Earliest time to run. */
  readonly at?: number
}

/**
 * Executes one kind of task. May be called again for the same task after a crash, so its effect must be one transaction
 * that detects a repetition. Errors are retried with growing delays.
 */
export type TaskHandler = (input: unknown) => Promise<void>

/** Durable tasks: a task enqueued in a transaction runs after the commit on some replica, even if others crash. */
export interface Engine {
  /** Unique to this start of this process. */
  readonly executorId: string
  /** Commits or rolls back with the transaction. The task starts on any replica, within two seconds after it is due. */
  readonly enqueue: (tx: Tx, work: EngineTask) => Promise<void>
  /** The result is no longer needed. A task that already runs must notice this itself. */
  readonly cancel: (tx: Tx, id: string) => void
  /** An SQL condition: whether the executor is alive. */
  readonly isAlive: (executorId: SQL) => SQL
  /** Takes over the tasks of dead replicas; also runs every second. */
  readonly recover: () => Promise<number>
  /** Waits briefly for running tasks. */
  readonly close: () => Promise<void>
}
