import type { KeptMessage } from './session.ts'

export type Stored = 'new' | 'seen'

/** What one side keeps of the line to another: what waits to be sent, and what has come. It outlives connections and processes. */
export interface Mailbox {
  /** The messages behind a position that nobody has acknowledged, in order, at most so many. */
  readonly pending: (after: number, most: number) => Promise<readonly KeptMessage[]>
  /** Everything up to this position is stored over there, and is not pending any more. */
  readonly acked: (position: number) => Promise<void>
  /** Resolves when the message can no longer be lost. `seen`: a message of this id has come before, and has its effect already. */
  readonly store: (message: Omit<KeptMessage, 'position'>) => Promise<Stored>
}
