import { type FailureClass, noUsage, type AgentQuestion, type Usage } from '../../contract/outcome.ts'

/** How the turn ended, as reported by the program. */
export type Terminal =
  | { readonly ok: true }
  | { readonly ok: false; readonly class: FailureClass; readonly reason: string; readonly retryable?: boolean }
  | { readonly ok: false; readonly class: 'aborted'; readonly reason: string }

export type AgentProblem = { readonly class: FailureClass; readonly reason: string }

/** The state of a reader; drivers extend it. */
export type ReaderState = {
  /** The final message so far. */
  text: string
  usage: Usage
  structured?: unknown
  sessionId?: string | undefined
  costUsd?: number | undefined
  resetsAt?: number | undefined
  /** The last one, if the program printed several. */
  terminal?: Terminal | undefined
  /** The last problem that the program reported: the best guess if there is no terminal event. */
  trouble?: AgentProblem | undefined
  /** A decision that the agent needs from the user. */
  question?: AgentQuestion | undefined
  /** Whether a later attempt can resume the session, if the program says so. */
  canResume?: boolean | undefined
  /** Whether the reader understood any line. */
  understoodAny: boolean
}

export const createReaderState = (): ReaderState => ({ text: '', usage: noUsage, understoodAny: false })
