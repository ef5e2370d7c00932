import type { AgentEvent } from '../contract/events.ts'
import type { Outcome } from '../contract/outcome.ts'
import { formatTimestamp } from '../contract/time.ts'
import { formatExactUsd } from './money.ts'
import { stripEscapeSequences } from './text.ts'

/** Prints readable turns line by line, without control sequences that would affect the terminal. */
export function transcriptPrinter(print: (line: string) => void, maxLines = 20) {
  let hidden = 0
  let inText = false
  return {
    event: (event: AgentEvent): void => {
      if (event.kind === 'raw' && isJsonLine(event.line)) hidden++
      const lines = renderEvent(event, maxLines)
      // A program without a JSON stream emits its text line by line.
      for (const line of inText && event.kind === 'text' ? lines.slice(1) : lines) print(line)
      inText = event.kind === 'text' && event.text.endsWith('\n')
    },
    end: (outcome: Outcome): void => {
      const lines = hidden === 1 ? 'line' : 'lines'
      if (hidden > 0) for (const line of ['', `(${hidden} ${lines} of the stream left out)`]) print(line)
      for (const line of ['', ...renderOutcome(outcome)]) print(line)
    },
  }
}

function renderEvent(event: AgentEvent, maxLines: number): string[] {
  switch (event.kind) {
    case 'session':
      return [`session ${stripControls(event.id)}${event.model ? ` (${stripControls(event.model)})` : ''}`]
    case 'text':
      return ['', ...formatBlock(event.text, '', Infinity)]
    case 'tool':
      return event.phase === 'start' ? formatToolStart(event, maxLines) : formatToolEnd(event, maxLines)
    case 'retry':
      return [`~ retry${renderRetry(event)}`]
    case 'limit':
      return [
        `! limit${event.reason ? `: ${stripControls(event.reason)}` : ''}${event.resetsAt ? `, until ${formatTimestamp(event.resetsAt)}` : ''}`,
      ]
    case 'terminal':
      return [
        '',
        event.ok ? '= the turn ended' : `= the turn failed: ${stripControls(event.reason ?? 'no reason given')}`,
      ]
    case 'raw':
      return isJsonLine(event.line) ? [] : formatBlock(event.line, '? ', 1)
    case 'usage':
      return []
  }
}

type TranscriptTool = Extract<AgentEvent, { kind: 'tool' }>
type TranscriptRetry = Extract<AgentEvent, { kind: 'retry' }>

function formatToolStart({ name, argument, input }: TranscriptTool, maxLines: number): string[] {
  const title = ['>', stripControls(name ?? 'tool'), ...(argument === undefined ? [] : [stripControls(argument)])].join(
    ' ',
  )
  return ['', title, ...renderInput(input, argument, maxLines)]
}

/** The arguments that are not in the title. */
function renderInput(input: unknown, argument: string | undefined, maxLines: number): string[] {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return []
  return Object.entries(input)
    .filter(([, value]) => value !== argument)
    .flatMap(([name, value]) =>
      formatBlock(`${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`, '    ', maxLines),
    )
}

const formatToolEnd = ({ ok, output }: TranscriptTool, maxLines: number): string[] => [
  ...(output ? formatBlock(output, '  | ', maxLines) : []),
  ok === false ? '  x failed' : '  . done',
]

const renderRetry = ({ attempt, status, delayMs, reason }: TranscriptRetry): string =>
  [
    attempt === undefined ? '' : ` ${attempt}`,
    status === undefined ? '' : ` after ${status}`,
    delayMs === undefined ? '' : ` in ${Math.round(delayMs / 100) / 10} s`,
    reason === undefined ? '' : `: ${stripControls(reason)}`,
  ].join('')

function renderOutcome(outcome: Outcome): string[] {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = outcome.usage
  const cost = formatExactUsd(outcome.costUsd)
  return [
    `outcome: ${[
      outcome.status,
      outcome.class,
      outcome.status !== 'ok' && outcome.retryable ? 'can be tried again' : undefined,
    ]
      .filter((word) => word !== undefined)
      .join(', ')}`,
    ...(outcome.reason ? formatBlock(`reason:  ${outcome.reason}`, '', 5) : []),
    ...(outcome.resetsAt === undefined ? [] : [`until:   ${formatTimestamp(outcome.resetsAt)}`]),
    `tokens:  ${inputTokens} in, ${outputTokens} out, ${cacheReadTokens} read from and ${cacheWriteTokens} written to the cache, ${cost}`,
  ]
}

function formatBlock(text: string, indent: string, maxLines: number): string[] {
  const lines = stripControls(text).replace(/\n+$/, '').split('\n')
  const width = maxLines === Infinity ? Infinity : maxLineLength
  const shown = lines.slice(0, maxLines).map((line) => `${indent}${clipTranscriptLine(line, width)}`)
  const more = lines.length - shown.length
  return more > 0 ? [...shown, `${indent}… ${more} more ${more === 1 ? 'line' : 'lines'}`] : shown
}

/** Applies to everything but the agent's own text. */
const maxLineLength = 2000

const clipTranscriptLine = (line: string, width: number): string =>
  line.length <= width ? line : `${line.slice(0, width)}… (${line.length - width} more characters)`

const isJsonLine = (line: string): boolean => line.trimStart().startsWith('{')

/** The output of an agent may contain escape sequences meant to trick the reader. */
const stripControls = (text: string): string =>
  stripEscapeSequences(text).replaceAll(/(?![\n\t])[\p{Cc}\u202A-\u202E\u2066-\u2069]/gu, '')
