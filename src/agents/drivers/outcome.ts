import { stripVTControlCharacters } from 'node:util'
import type { FailureClass, Outcome } from '../../contract/outcome.ts'
import type { Exit } from './driver.ts'
import type { Seen, Trouble } from './seen.ts'

/** The rules for all programs: combines the output with how the process ended. */
export function conclude(seen: Seen, exit: Exit): Outcome {
  const { ended } = exit
  if (ended === 'aborted') return outcome(seen, { status: 'aborted', reason: 'the attempt was ended on request' })
  if (ended === 'budget') return failed(seen, { class: 'budget', reason: 'it used more than its budget allows' })
  if (ended === 'output-cap') return failed(seen, { class: 'output_cap', reason: 'it printed more than allowed' })
  if (ended === 'idle' || ended === 'attempt') return timedOut(seen, ended)
  const { terminal } = seen
  if (!terminal) return failed(seen, withoutTerminal(seen, exit))
  if (!terminal.ok) {
    if (terminal.class === 'aborted') return outcome(seen, { status: 'aborted', reason: terminal.reason })
    return failed(seen, terminal)
  }
  if (ended === undefined && contradicts(exit)) {
    return failed(seen, { class: 'crash', reason: `it reported success, but ended with ${howItEnded(exit)}` })
  }
  return outcome(seen, { status: 'ok' })
}

/**
 * Silence after the end of a turn is a lingering process; silence after a limit is the program waiting for it to end, which is
 * the loop's job. Only the rest is a hang.
 */
function timedOut(seen: Seen, ended: 'idle' | 'attempt'): Outcome {
  if (ended === 'idle' && seen.terminal?.ok) return outcome(seen, { status: 'ok' })
  const reason = ended === 'idle' ? 'it printed nothing for too long' : 'it took longer than an attempt may take'
  const { trouble } = seen
  if (ended === 'idle' && trouble && isLimit(trouble.class)) {
    return outcome(seen, { status: 'timeout', class: trouble.class, reason: `${reason} after ${trouble.reason}` })
  }
  return outcome(seen, { status: 'timeout', class: 'hang', reason })
}

const isLimit = (failure: FailureClass | undefined): boolean => failure === 'rate_limit' || failure === 'usage_limit'

function withoutTerminal(seen: Seen, exit: Exit): Trouble {
  if (seen.trouble) return { ...seen.trouble, reason: `${seen.trouble.reason}; it ended with ${howItEnded(exit)}` }
  if (!seen.spoke && exit.code === 127) return { class: 'not_found', reason: `the program was not found${said(exit)}` }
  return { class: 'crash', reason: `it ended with ${howItEnded(exit)} and without a result${said(exit)}` }
}

/** A signal after the result ends a lingering process; an exit code is chosen by the program. */
const contradicts = ({ code, signal }: Exit): boolean =>
  signal === null && code !== null && code !== 0 && !killedBySignal(code)
const killedBySignal = (code: number): boolean => code === 130 || code === 137 || code === 143

const howItEnded = ({ code, signal }: Exit): string =>
  signal ?? (code === null ? 'an unknown exit' : `exit code ${code}`)

/** Shown to users; never used to classify. */
function said({ stderrTail }: Exit): string {
  const line = stripVTControlCharacters(stderrTail).trimEnd().split('\n').at(-1)?.trim()
  return line ? `: ${line.slice(0, 300)}` : ''
}

const failed = (seen: Seen, why: Trouble & { readonly retryable?: boolean }): Outcome =>
  outcome(seen, { status: 'failed', ...why })

type How = {
  readonly status: Outcome['status']
  readonly class?: FailureClass
  readonly reason?: string
  readonly retryable?: boolean
}

function outcome(seen: Seen, how: How): Outcome {
  const { class: failure, reason } = how
  return {
    status: how.status,
    ...(failure && { class: failure }),
    retryable: how.status !== 'ok' && (how.retryable ?? (failure ? canRetry[failure] : true)),
    ...(isLimit(failure) && seen.resetsAt !== undefined && { resetsAt: seen.resetsAt }),
    ...(reason && { reason }),
    ...(seen.question && failure === 'tool_denied' && { question: seen.question }),
    text: seen.text,
    ...(seen.structured !== undefined && { structured: seen.structured }),
    ...(seen.sessionId !== undefined && { sessionId: seen.sessionId }),
    usage: seen.usage,
    ...(seen.costUsd !== undefined && { costUsd: seen.costUsd }),
    resumable: seen.sessionId !== undefined && seen.canResume !== false,
  }
}

/** Whether a new attempt with the same prompt may succeed. */
const canRetry: Readonly<Record<FailureClass, boolean>> = {
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
export function classOfStatus(status: number): FailureClass {
  if (status === 429) return 'rate_limit'
  if (status === 401 || status === 402 || status === 403) return 'auth'
  if (status === 404) return 'not_found'
  if (status === 408) return 'network'
  if (status === 413) return 'context'
  if (status >= 500) return 'overloaded'
  return 'unknown'
}
