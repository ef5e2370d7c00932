import { stripVTControlCharacters } from 'node:util'
import type { AgentEvent } from '../contract/events.ts'
import type { Outcome } from '../contract/outcome.ts'
import { formatTimestamp } from '../contract/time.ts'
import type { Driver, Exit } from './driver.ts'
import { isObject } from './json.ts'

export type Transcript = { readonly events: readonly AgentEvent[]; readonly outcome: Outcome }

/** What a recorded stream says, read as it would have been read live. */
export function readTranscript(driver: Driver, lines: Iterable<string>, exit: Exit): Transcript {
  const reader = driver.read()
  const events: AgentEvent[] = []
  for (const line of lines) {
    if (line.trim() !== '') for (const event of reader.parse(line)) events.push(event)
  }
  return { events: driver.textInPieces ? joinTexts(events) : events, outcome: reader.finish(exit) }
}

/** Pieces of a message to the message that they are. */
function joinTexts(events: readonly AgentEvent[]): AgentEvent[] {
  const joined: AgentEvent[] = []
  for (const event of events) {
    const last = joined.at(-1)
    if (event.kind === 'text' && last?.kind === 'text')
      joined[joined.length - 1] = { kind: 'text', text: last.text + event.text }
    else joined.push(event)
  }
  return joined
}

/** Readable turns, one string per line, without anything that a terminal would obey. */
export function renderTranscript({ events, outcome }: Transcript, mostLines = 20): string[] {
  const lines = events.flatMap((event) => renderEvent(event, mostLines))
  const hidden = events.filter((event) => event.kind === 'raw' && isJson(event.line)).length
  const note =
    hidden > 0 ? ['', `(${hidden} ${hidden === 1 ? 'line' : 'lines'} of the stream without news left out)`] : []
  return [...lines, ...note, '', ...renderOutcome(outcome)]
}

function renderEvent(event: AgentEvent, mostLines: number): string[] {
  switch (event.kind) {
    case 'session':
      return [`session ${clean(event.id)}${event.model ? ` (${clean(event.model)})` : ''}`]
    case 'text':
      return ['', ...block(event.text, '', Infinity)]
    case 'tool':
      return event.phase === 'start' ? startedTool(event, mostLines) : endedTool(event, mostLines)
    case 'retry':
      return [`~ retry${renderRetry(event)}`]
    case 'limit':
      return [
        `! limit${event.reason ? `: ${clean(event.reason)}` : ''}${event.resetsAt ? `, until ${formatTimestamp(event.resetsAt)}` : ''}`,
      ]
    case 'terminal':
      return ['', event.ok ? '= the turn ended' : `= the turn failed: ${clean(event.reason ?? 'no reason given')}`]
    case 'raw':
      return isJson(event.line) ? [] : block(event.line, '? ', 1)
    case 'usage':
      return []
  }
}

type Tool = Extract<AgentEvent, { kind: 'tool' }>
type Retry = Extract<AgentEvent, { kind: 'retry' }>

function startedTool({ name, argument, input }: Tool, mostLines: number): string[] {
  const title = ['>', clean(name ?? 'tool'), ...(argument === undefined ? [] : [clean(argument)])].join(' ')
  return ['', title, ...renderInput(input, argument, mostLines)]
}

/** What the title does not say already. */
function renderInput(input: unknown, argument: string | undefined, mostLines: number): string[] {
  if (!isObject(input)) return []
  return Object.entries(input)
    .filter(([, value]) => value !== argument)
    .flatMap(([name, value]) =>
      block(`${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`, '    ', mostLines),
    )
}

const endedTool = ({ ok, output }: Tool, mostLines: number): string[] => [
  ...(output ? block(output, '  | ', mostLines) : []),
  ok === false ? '  x failed' : '  . done',
]

const renderRetry = ({ attempt, status, delayMs, reason }: Retry): string =>
  [
    attempt === undefined ? '' : ` ${attempt}`,
    status === undefined ? '' : ` after ${status}`,
    delayMs === undefined ? '' : ` in ${Math.round(delayMs / 100) / 10} s`,
    reason === undefined ? '' : `: ${clean(reason)}`,
  ].join('')

function renderOutcome(outcome: Outcome): string[] {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = outcome.usage
  const cost = outcome.costUsd === undefined ? 'unpriced' : `$${outcome.costUsd.toFixed(4)}`
  return [
    `outcome: ${[
      outcome.status,
      outcome.class,
      outcome.status !== 'ok' && outcome.retryable ? 'can be tried again' : undefined,
    ]
      .filter((word) => word !== undefined)
      .join(', ')}`,
    ...(outcome.reason ? block(`reason:  ${outcome.reason}`, '', 5) : []),
    ...(outcome.resetsAt === undefined ? [] : [`until:   ${formatTimestamp(outcome.resetsAt)}`]),
    `tokens:  ${inputTokens} in, ${outputTokens} out, ${cacheReadTokens} read from and ${cacheWriteTokens} written to the cache, ${cost}`,
  ]
}

function block(text: string, indent: string, mostLines: number): string[] {
  const lines = clean(text).replace(/\n+$/, '').split('\n')
  const shown = lines.slice(0, mostLines).map((line) => `${indent}${line}`)
  const more = lines.length - shown.length
  return more > 0 ? [...shown, `${indent}… ${more} more ${more === 1 ? 'line' : 'lines'}`] : shown
}

const isJson = (line: string): boolean => line.trimStart().startsWith('{')

/** What an agent printed may hold escape sequences, made to trick the one who looks at it. */
const clean = (text: string): string => stripVTControlCharacters(text).replaceAll(/(?![\n\t])\p{Cc}/gu, '')
