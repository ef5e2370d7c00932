import { stripVTControlCharacters } from 'node:util'
import type { FailureClass, Outcome } from '../../contract/outcome.ts'
import type { ReaderState, AgentProblem } from './reader-state.ts'

export type Exit = {
  readonly code: number | null
  readonly signal: string | null
  /** Why the supervisor ended the attempt; absent if it did not. */
  readonly ended?: 'aborted' | 'idle' | 'attempt' | 'after-result' | 'output-cap' | 'disk' | 'budget'
  readonly stderrTail: string
  /** When the process ended: some programs report the end of a limit only as a time of day. */
  readonly at?: number
}

/** The rules for all programs: combines the output with how the process ended. */
export function toOutcome(state: ReaderState, exit: Exit): Outcome {
  const { ended } = exit
  if (ended === 'aborted') return buildOutcome(state, { status: 'aborted', reason: 'the attempt was ended on request' })
  if (ended === 'budget')
    return toFailedOutcome(state, { class: 'budget', reason: 'it used more than its budget allows' })
  if (ended === 'output-cap')
    return toFailedOutcome(state, { class: 'output_cap', reason: 'it printed more than allowed' })
  if (ended === 'disk')
    return toFailedOutcome(state, {
      class: 'output_cap',
      reason: 'it wrote more than the disk limit of its cell allows',
    })
  if (ended === 'idle' || ended === 'attempt') return toTimeoutOutcome(state, ended)
  const { terminal } = state
  if (!terminal) return toFailedOutcome(state, describeMissingResult(state, exit))
  if (!terminal.ok) {
    if (terminal.class === 'aborted') return buildOutcome(state, { status: 'aborted', reason: terminal.reason })
    return toFailedOutcome(state, terminal)
  }
  if (ended === undefined && contradictsSuccess(exit)) {
    return toFailedOutcome(state, {
      class: 'crash',
      reason: `it reported success, but ended with ${describeExit(exit)}`,
    })
  }
  return buildOutcome(state, { status: 'ok' })
}

/**
 * Silence after the end of a turn is a lingering process; silence after a limit is the program waiting for it to end, which is
 * the loop's job. Only the rest is a hang.
 */
function toTimeoutOutcome(state: ReaderState, ended: 'idle' | 'attempt'): Outcome {
  if (ended === 'idle' && state.terminal?.ok) return buildOutcome(state, { status: 'ok' })
  const reason = ended === 'idle' ? 'it printed nothing for too long' : 'it took longer than an attempt may take'
  const { trouble } = state
  if (ended === 'idle' && trouble && isLimit(trouble.class)) {
    return buildOutcome(state, { status: 'timeout', class: trouble.class, reason: `${reason} after ${trouble.reason}` })
  }
  return buildOutcome(state, { status: 'timeout', class: 'hang', reason })
}

const isLimit = (failure: FailureClass | undefined): boolean => failure === 'rate_limit' || failure === 'usage_limit'

function describeMissingResult(state: ReaderState, exit: Exit): AgentProblem {
  if (state.trouble) return { ...state.trouble, reason: `${state.trouble.reason}; it ended with ${describeExit(exit)}` }
  if (!state.understoodAny && exit.code === 127)
    return { class: 'not_found', reason: `the program was not found${describeStderr(exit)}` }
  const stderr = describeStderr(exit)
  return {
    class: missesVariable.test(stderr) ? 'auth' : 'crash',
    reason: `it ended with ${describeExit(exit)} and without a result${stderr}`,
  }
}

/** How programs report a variable that they need: no retry can provide it. */
const missesVariable = /^: (?:error: )?missing environment variable/i

/** A signal after the result ends a lingering process; an exit code is chosen by the program. */
const contradictsSuccess = ({ code, signal }: Exit): boolean =>
  signal === null && code !== null && code !== 0 && !isKilledBySignal(code)
const isKilledBySignal = (code: number): boolean => code === 130 || code === 137 || code === 143

const describeExit = ({ code, signal }: Exit): string =>
  signal ?? (code === null ? 'an unknown exit' : `exit code ${code}`)

/** Shown to users. Classifies nothing but a missing variable: anything may write to stderr. */
function describeStderr({ stderrTail }: Exit): string {
  const lines = stripVTControlCharacters(stderrTail)
    .split('\n')
    .map((text) => text.trim())
    // Node ends the report of an error with its version.
    .filter((text) => text !== '' && !/^Node\.js v\d/.test(text))
  const line = lines.findLast((text) => /^\w*Error\b/.test(text)) ?? lines.at(-1)
  return line ? `: ${line.slice(0, 300)}` : ''
}

const toFailedOutcome = (state: ReaderState, why: AgentProblem & { readonly retryable?: boolean }): Outcome =>
  buildOutcome(state, { status: 'failed', ...why })

type OutcomeDetails = {
  readonly status: Outcome['status']
  readonly class?: FailureClass
  readonly reason?: string
  readonly retryable?: boolean
}

function buildOutcome(state: ReaderState, how: OutcomeDetails): Outcome {
  const { class: failure, reason } = how
  return {
    status: how.status,
    ...(failure && { class: failure }),
    retryable: how.status !== 'ok' && (how.retryable ?? (failure ? isRetryable[failure] : true)),
    ...(isLimit(failure) && state.resetsAt !== undefined && { resetsAt: state.resetsAt }),
    ...(reason && { reason }),
    ...(state.question && failure === 'tool_denied' && { question: state.question }),
    text: state.text,
    ...(state.structured !== undefined && { structured: state.structured }),
    ...(state.sessionId !== undefined && { sessionId: state.sessionId }),
    usage: state.usage,
    ...(state.costUsd !== undefined && { costUsd: state.costUsd }),
    resumable: state.sessionId !== undefined && state.canResume !== false,
  }
}

/** Whether a new attempt with the same prompt may succeed. */
const isRetryable: Readonly<Record<FailureClass, boolean>> = {
  rate_limit: true,
  usage_limit: true,
  overloaded: true,
  auth: false,
  context: false,
  network: true,
  protocol: true,
  tool_denied: false,
  max_turns: true,
  budget: false,
  crash: true,
  hang: true,
  output_cap: false,
  not_found: false,
  unknown: true,
}

/** The failure class of an HTTP status of a model's server. */
export function classifyStatus(status: number): FailureClass {
  if (status === 429) return 'rate_limit'
  if (status === 401 || status === 402 || status === 403) return 'auth'
  if (status === 404) return 'not_found'
  if (status === 408) return 'network'
  if (status === 413) return 'context'
  if (status >= 500) return 'overloaded'
  return 'unknown'
}
