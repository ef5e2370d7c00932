import type { SprintEvent } from '../contract/events.ts'
import type { SprintStatus } from '../contract/progress.ts'
import type { WorkRef } from '../contract/phases.ts'
import { formatAge, formatDurationShort } from './durations.ts'
import { formatUsd } from './money.ts'
import { lastLine, toOneLine } from './text.ts'
import { statusWords } from './status.ts'
import type { Tone } from './tone.ts'
import { verdictBadge } from './verdict.ts'

/** What Ralph says about an event, as a line between the agent's messages. */
export type EventSentence = {
  readonly tone: Tone
  readonly title: string
  readonly detail?: string | undefined
  /** At the right end: an exit code, a cost. */
  readonly aside?: string | undefined
  /** Coloured over the whole width, because it must not be missed. */
  readonly loud?: boolean
}

/** undefined: the event has no line of its own. */
export function describeEvent(event: SprintEvent): EventSentence | undefined {
  switch (event.type) {
    case 'agent':
      return agentEventMark(event.event)
    case 'sprint-started':
      return { tone: 'quiet', title: event.resumed ? 'Resumed' : 'Started' }
    case 'note':
      return { tone: event.level === 'warning' ? 'warn' : 'quiet', title: event.text }
    case 'attempt-started':
      return event.attempt > 1 ? { tone: 'quiet', title: `Attempt ${event.attempt}`, detail: event.agent } : undefined
    case 'attempt-failed':
      return {
        tone: event.class === 'usage_limit' ? 'warn' : 'bad',
        title: event.reason,
        detail: event.retryInMs === undefined ? undefined : `retries in ${formatAge(event.retryInMs)}`,
        aside: failureWords(event.class),
        loud: true,
      }
    case 'report-rejected':
      return { tone: 'warn', title: 'Ignored a part of the report', detail: event.reasons.join('; ') }
    case 'question-asked':
      return { tone: 'warn', title: event.reason, detail: event.details, aside: 'asks you', loud: true }
    case 'user-said':
      return { tone: 'accent', title: userTitle(event), detail: event.text }
    case 'sprint-rested':
      return { tone: statusWords[event.status].tone, title: restTitle(event.status), detail: event.reason }
    case 'iteration-ended':
      return iterationEndMark(event)
    case 'iteration-started':
    case 'steps-changed':
      return undefined
    case 'claim-made':
    case 'claim-refused':
    case 'claim-accepted':
    case 'check-started':
    case 'check-ended':
    case 'gate-started':
    case 'gate-ended':
    case 'work-ended':
    case 'breakpoint-reached':
    case 'hook-started':
    case 'hook-ended':
      return judgementMark(event)
  }
}

const userVerbs = {
  message: 'says',
  steer: 'interrupts',
  withdraw: 'withdraws',
  answer: 'answers',
  pause: 'pauses',
  stop: 'stops',
  'try-now': 'tries again now',
} as const

/** `ada says`; a terminal has no names. */
export const userTitle = ({ how, by }: Pick<Extract<SprintEvent, { type: 'user-said' }>, 'how' | 'by'>): string =>
  `${by ?? 'A person'} ${userVerbs[how]}`

const restTitle = (status: SprintStatus): string => {
  const { ending } = statusWords[status]
  return ending.charAt(0).toUpperCase() + ending.slice(1)
}

type JudgementEvent = Extract<
  SprintEvent,
  {
    type:
      | `claim-${string}`
      | `check-${string}`
      | `gate-${string}`
      | `hook-${string}`
      | 'work-ended'
      | 'breakpoint-reached'
  }
>

function judgementMark(event: JudgementEvent): EventSentence | undefined {
  switch (event.type) {
    case 'claim-made':
      return { tone: 'accent', title: 'Claims that the goal is reached', detail: event.summary, aside: 'goal-complete' }
    case 'check-ended':
      return checkMark(event.result)
    case 'claim-refused':
      return { tone: 'bad', title: `Refused by ${quoteNames(event.by)}`, detail: event.reason, loud: true }
    case 'claim-accepted':
      return {
        tone: 'ok',
        title: event.by.length > 0 ? `Accepted by ${quoteNames(event.by)}` : 'Accepted, unchecked',
        detail: event.summary,
        loud: true,
      }
    case 'gate-ended':
      return {
        tone: event.passed ? 'ok' : 'bad',
        title: `Gate ${event.passed ? 'passed' : 'failed'}`,
        detail: event.error ?? lastLine(event.output),
        aside: `${event.attempts} of ${event.of}`,
      }
    case 'work-ended':
      return { tone: event.status === 'completed' ? 'ok' : 'bad', title: `Phase ${event.status}`, detail: event.text }
    case 'breakpoint-reached':
      return { tone: 'warn', title: 'Breakpoint', detail: 'Resume to continue', loud: true }
    case 'hook-ended':
      return {
        tone: event.ok ? 'quiet' : 'bad',
        title: `Hook ${event.hook}`,
        detail: event.error,
        aside: event.exitCode === null ? undefined : `exit ${event.exitCode}`,
      }
    case 'check-started':
    case 'gate-started':
    case 'hook-started':
      return undefined
  }
}

const checkMark = (result: Extract<SprintEvent, { type: 'check-ended' }>['result']): EventSentence => ({
  tone: result.passed ? 'ok' : 'bad',
  title: `Check “${result.name}” ${result.passed ? 'passed' : 'failed'}`,
  detail: result.passed ? undefined : (result.reason ?? lastLine(result.output)),
  aside: `exit ${result.exitCode ?? '–'} · ${formatDurationShort(result.durationMs)}`,
})

const iterationEndMark = (event: Extract<SprintEvent, { type: 'iteration-ended' }>): EventSentence => {
  const { tone, words } = verdictBadge(event)
  return {
    tone,
    title: `Iteration ${event.iteration} ${words}`,
    detail: event.summary,
    aside: `${formatDurationShort(event.durationMs)} · ${formatUsd(event.costUsd)}`,
  }
}

function agentEventMark(event: Extract<SprintEvent, { type: 'agent' }>['event']): EventSentence | undefined {
  switch (event.kind) {
    case 'session':
      return {
        tone: 'quiet',
        title: `New context${event.model === undefined ? '' : ` · ${event.model}`}`,
        aside: event.version,
      }
    case 'retry':
      return {
        tone: 'warn',
        title: 'Retrying the provider',
        detail: event.reason,
        aside: event.delayMs === undefined ? undefined : `after ${formatAge(event.delayMs)}`,
      }
    case 'limit':
      return { tone: 'warn', title: 'Usage limit', detail: event.reason, loud: true }
    case 'terminal':
      return event.ok ? undefined : { tone: 'bad', title: 'The agent ended with an error', detail: event.reason }
    case 'text':
    case 'tool':
    case 'usage':
    case 'raw':
      return undefined
  }
}

const quoteNames = (names: readonly string[]): string => names.map((name) => `“${name}”`).join(', ')

/** `usage limit` for `usage_limit`. */
export const failureWords = (failure: string): string => failure.replaceAll('_', ' ')

/** Why a command failed: its error, or its exit code. */
export const describeExit = ({
  error,
  exitCode,
}: {
  readonly error?: string | undefined
  readonly exitCode: number | null
}): string => error ?? `exit code ${exitCode}`

/** What an agent said, as one line without its fenced blocks: they hold reports. */
export const spokenText = (text: string): string => toOneLine(text.replaceAll(/```[\s\S]*?(```|$)/g, ''))

/** `build/step-2/review`; the sub-phase `execute` is not named. */
export const workName = ({ phase, step, subPhase }: WorkRef): string =>
  [phase, step, subPhase === 'execute' ? undefined : subPhase].filter((id) => id !== undefined).join('/')

/** A reason of `unknown` says nothing. */
export const describeRetry = (reason: string | undefined): string =>
  reason === undefined || reason === '' || reason === 'unknown'
    ? 'the agent retries a request to its model'
    : `the agent retries: ${toOneLine(reason)}`
