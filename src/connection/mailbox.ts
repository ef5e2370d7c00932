import type { DurableMessage } from './session.ts'

export type StoreResult = 'new' | 'seen'

/** Durable state of one side of a line: messages to send, and messages received. Outlives connections and processes. */
export interface Mailbox {
  /** Up to `limit` unacknowledged messages after a position, in order. */
  readonly pending: (after: number, limit: number) => Promise<readonly DurableMessage[]>
  /** The other side has stored everything up to this position, so it is no longer pending. */
  readonly acked: (position: number) => Promise<void>
  /**
   * Resolves once the message is durable. `seen`: a message with this ID was stored before, and must not take effect
   * again.
   */
  readonly store: (message: Omit<DurableMessage, 'position'>) => Promise<StoreResult>
}
