import { type FailureClass, noUsage, type Question, type Usage } from '../../contract/outcome.ts'

/** How the program itself said that its turn ended. */
export type Terminal =
  | { readonly ok: true }
  | { readonly ok: false; readonly class: FailureClass; readonly reason: string; readonly retryable?: boolean }
  | { readonly ok: false; readonly class: 'aborted'; readonly reason: string }

export type Trouble = { readonly class: FailureClass; readonly reason: string }

/** What a reader has gathered so far; drivers add what else they must remember. */
export type Seen = {
  /** The final message, so far as there is one. */
  text: string
  usage: Usage
  structured?: unknown
  sessionId?: string | undefined
  costUsd?: number | undefined
  resetsAt?: number | undefined
  /** The last one, if the program gave several. */
  terminal?: Terminal | undefined
  /** What the program was struggling with when it was last heard: the best guess if there is no terminal event. */
  trouble?: Trouble | undefined
  /** It wanted something that only a person can decide. */
  question?: Question | undefined
  /** Whether an earlier session can be gone on with, if the program told. */
  canResume?: boolean | undefined
  /** Whether any line was understood. */
  spoke: boolean
}

export const nothingSeen = (): Seen => ({ text: '', usage: noUsage, spoke: false })
