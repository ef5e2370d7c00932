import type { SQL } from 'drizzle-orm'
import type { Tx } from '../database/database.ts'

/** Something to be done, later or elsewhere, that must not be lost. */
export type Work = {
  /** The same id is the same work: it is done once, however often it is asked for. */
  readonly id: string
  /** Which handler does it. */
  readonly kind: string
  /** What it needs to know; JSON. */
  readonly input: unknown
  /** Not before. */
  readonly at?: number
}

/**
 * Does one kind of work. It may be called again for the same work (a process died on the way), so its effect must be one
 * transaction that sees whether it was done already. A throw is tried again, with growing pauses.
 */
export type Handler = (input: unknown) => Promise<void>

/** Durable work: what is enqueued in a transaction is done after its commit by some replica, though any of them may die. */
export interface Engine {
  /** Unique to this start of this process. */
  readonly executorId: string
  /** Commits or rolls back with the transaction. Without `at` it is started in this process as soon as that is committed. */
  readonly enqueue: (tx: Tx, work: Work) => Promise<void>
  /** Nobody waits for it any more. If it has begun, it finds that out by itself. */
  readonly cancel: (tx: Tx, id: string) => void
  /** Whether the executor with this id lives, as a condition. */
  readonly isAlive: (executorId: SQL) => SQL
  /** Takes over what replicas have left behind that are dead; done by itself every second. */
  readonly recover: () => Promise<number>
  /** Waits a moment for what is being done. */
  readonly close: () => Promise<void>
}
