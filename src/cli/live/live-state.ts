import type { SprintEvent } from '../../contract/events.ts'
import type { Usage } from '../../contract/outcome.ts'
import type { Progress } from '../../contract/progress.ts'
import { describeExit, describeRetry, failureWords, spokenText } from '../../words/event-sentences.ts'
import type { RepositoryFacts } from './repository-facts.ts'
import { toOneLine } from '../../words/text.ts'

/** The state of the live view beyond the progress itself: what is happening right now. */
export type LiveViewState = {
  readonly progress: Progress
  readonly agent: string
  /** The model that the agent program named; absent until then. */
  readonly model?: string
  readonly lastEventAt: number
  /** The current activity and its start. */
  readonly doing?: { readonly text: string; readonly since: number }
  /** The agent's last message. */
  readonly lastText?: string
  readonly checks: ReadonlyMap<string, 'running' | 'passed' | 'failed'>
  /** The last notice: a refusal, a warning, a failure. */
  readonly notice?: string
  /** Recent events, oldest first; bounded. */
  readonly log: readonly SprintEvent[]
  /** Tokens that the agent's last request contained; unknown for programs that report no usage while they work. */
  readonly contextTokens?: number
  /** Prompt tokens of the current attempt so far. */
  readonly promptTokens?: number
  readonly repository?: RepositoryFacts | undefined
  /** When the current wait ends: a usage limit or a pause before the next attempt. */
  readonly waitingUntil?: number
}

export const createLiveState = (progress: Progress, agent: string, at: number): LiveViewState => ({
  progress,
  agent,
  lastEventAt: at,
  checks: new Map(
    progress.iterations
      .flatMap(({ checks = [] }) => checks)
      .map(({ name, passed }) => [name, passed ? 'passed' : 'failed']),
  ),
  log: [],
})

/** The changes an event makes; an explicit undefined `doing` or `waitingUntil` clears it. */
type LiveStateChange = { readonly [K in keyof LiveViewState]?: LiveViewState[K] | undefined }
type LiveStateChanges = {
  readonly [K in SprintEvent['type']]?: (
    event: Extract<SprintEvent, { type: K }>,
    at: number,
    state: LiveViewState,
  ) => LiveStateChange
}

const changesByEvent: LiveStateChanges = {
  'attempt-started': ({ agent }, at) => ({
    agent,
    doing: { text: 'thinking', since: at },
    waitingUntil: undefined,
    promptTokens: 0,
    model: undefined,
  }),
  agent: ({ event }, at, state) =>
    event.kind === 'usage' ? measureContext(event.usage, state) : changesByAgentEvent(event, at),
  'attempt-failed': ({ class: failure, reason, retryInMs }, at) => ({
    doing: undefined,
    notice: `${failureWords(failure)}: ${toOneLine(reason)}`,
    waitingUntil: retryInMs === undefined ? undefined : at + retryInMs,
  }),
  'check-started': ({ name }, at, { checks }) => ({
    checks: new Map(checks).set(name, 'running'),
    doing: { text: `check ${name}`, since: at },
  }),
  // The result from before the first iteration is in the progress, and is not shown as the current one.
  'check-ended': ({ iteration, result: { name, passed } }, _at, { checks }) => ({
    checks: new Map(iteration === 0 ? [] : [...checks, [name, passed ? 'passed' : 'failed']]),
    doing: undefined,
  }),
  'hook-started': ({ hook, parallel }, at) => (parallel ? {} : { doing: { text: `hook ${hook}`, since: at } }),
  'hook-ended': ({ hook, ok, error, exitCode }) =>
    ok ? {} : { notice: `hook ${hook} failed: ${describeExit({ error, exitCode })}` },
  'claim-refused': ({ iteration, reason }) => ({ notice: `${iteration} refused: ${toOneLine(reason)}` }),
  'claim-accepted': ({ by }) => ({ notice: by.length > 0 ? `accepted by ${by.join(', ')}` : 'accepted, unchecked' }),
  note: ({ level, text }) => (level === 'warning' ? { notice: text } : {}),
  'report-rejected': ({ reasons: [first = ''] }) => ({ notice: toOneLine(first) }),
  'iteration-ended': () => ({ doing: undefined }),
}

/** Applies an event to the state. */
export function applyLiveEvent<T extends SprintEvent['type']>(
  state: LiveViewState,
  event: Extract<SprintEvent, { type: T }>,
  at: number,
): LiveViewState {
  const change: LiveStateChanges[T] = changesByEvent[event.type]
  const { doing, waitingUntil, ...kept } = {
    ...state,
    ...change?.(event, at, state),
    log: appendToLog(state.log, event),
    lastEventAt: at,
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only the two fields taken out here may be undefined in a change
  const next = kept as LiveViewState
  return { ...next, ...(doing && { doing }), ...(waitingUntil !== undefined && { waitingUntil }) }
}

/** More than the tallest terminal can show. */
const maxLoggedEvents = 120

/** Events that have no line of their own are dropped. */
function appendToLog(log: readonly SprintEvent[], event: SprintEvent): readonly SprintEvent[] {
  const isSilent =
    event.type === 'agent' &&
    (event.event.kind === 'usage' || event.event.kind === 'session' || event.event.kind === 'raw')
  if (isSilent) return log
  return log.length < maxLoggedEvents ? [...log, event] : [...log.slice(1 - maxLoggedEvents), event]
}

/** Usage adds up over an attempt, so the difference is what the last request contained. */
function measureContext(usage: Usage, { promptTokens = 0 }: LiveViewState): LiveStateChange {
  const total = usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens
  const last = total - promptTokens
  return last > 0 ? { promptTokens: total, contextTokens: last } : { promptTokens: total }
}

function changesByAgentEvent(event: Extract<SprintEvent, { type: 'agent' }>['event'], at: number): LiveStateChange {
  if (event.kind === 'tool' && event.phase === 'start') {
    return { doing: { text: toOneLine(`${event.name ?? 'tool'} ${event.argument ?? ''}`), since: at } }
  }
  if (event.kind === 'tool') return { doing: { text: 'thinking', since: at } }
  if (event.kind === 'session') return event.model === undefined ? {} : { model: event.model }
  if (event.kind === 'retry') return { notice: describeRetry(event.reason) }
  if (event.kind !== 'text') return {}
  const text = spokenText(event.text)
  return text === '' ? {} : { lastText: text }
}
