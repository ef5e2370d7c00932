import type { SprintEvent } from '../../../contract/events.ts'
import type { StoredEvent } from '../../../contract/fleet/event.ts'
import { findReport } from '../../../words/report-sentence.ts'
import { startCall, endCall, isShell, type ToolCall } from './tool-call.ts'
import { describeEvent, type EventSentence } from '../../../words/event-sentences.ts'

type RowPlace = { readonly key: string; readonly at: number; readonly since: number }

export type TranscriptRowData =
  | (RowPlace & { readonly kind: 'text'; readonly text: string })
  /** What a user said; it stays open like the agent's text. */
  | (RowPlace & { readonly kind: 'user'; readonly message: Extract<SprintEvent, { type: 'user-said' }> })
  /** The agent's report in one sentence; its JSON is folded. */
  | (RowPlace & { readonly kind: 'report'; readonly sentence: string; readonly json: string })
  | (RowPlace & {
      readonly kind: 'call'
      readonly call: ToolCall
    })
  /** Three or more calls of the same tool in a row. Never of a shell: each command deserves its line. */
  | (RowPlace & {
      readonly kind: 'calls'
      readonly name: string
      readonly calls: readonly ToolCall[]
    })
  | (RowPlace & {
      readonly kind: 'mark'
      readonly mark: EventSentence
    })
  | (RowPlace & {
      readonly kind: 'iteration'
      readonly event: Extract<SprintEvent, { type: 'iteration-started' }>
    })

const minCallsToFold = 3

/**
 * Turns events into rows: text stays open, a tool call is one line from start to end, and runs of the same tool are
 * folded. `getIterationStart` returns the start of iterations whose first event is not loaded.
 */
export function createRows(
  events: readonly StoredEvent[],
  getIterationStart: (iteration: number) => number | undefined,
): TranscriptRowData[] {
  const rows: TranscriptRowData[] = []
  const open = new Map<string, number>()
  let iterationStart = events[0]?.at ?? 0
  for (const stored of events) {
    const { event, id: key, at } = stored
    if (event.type === 'iteration-started') iterationStart = at
    else if ('iteration' in event) iterationStart = getIterationStart(event.iteration) ?? iterationStart
    const since = at - iterationStart
    if (event.type === 'agent' && event.event.kind === 'tool') {
      addCall(rows, open, { stored, event: event.event, since })
      continue
    }
    if (endsAttempt(event)) endOpenCalls(rows, open, stored)
    if (event.type === 'agent' && event.event.kind === 'text')
      rows.push(...textRows(event.event.text, { key, at, since }))
    else if (event.type === 'user-said') rows.push({ kind: 'user', key, at, since, message: event })
    else if (event.type === 'iteration-started') rows.push({ kind: 'iteration', key, at, since, event })
    else {
      const mark = describeEvent(event)
      if (mark) rows.push({ kind: 'mark', key, at, since, mark })
    }
  }
  return foldCalls(rows)
}

function textRows(text: string, place: RowPlace): TranscriptRowData[] {
  const report = findReport(text)
  const spoken = report ? report.text : text
  return [
    ...(spoken.trim() === '' ? [] : [{ kind: 'text' as const, ...place, text: spoken }]),
    ...(report
      ? [
          {
            kind: 'report' as const,
            ...place,
            key: `${place.key}-report`,
            sentence: report.sentence,
            json: report.json,
          },
        ]
      : []),
  ]
}

const endsAttempt = ({ type }: SprintEvent): boolean =>
  ['attempt-started', 'attempt-failed', 'iteration-ended', 'sprint-rested'].includes(type)

/** A call that ran when its attempt ended has ended with it. */
function endOpenCalls(rows: TranscriptRowData[], open: Map<string, number>, { event, at }: StoredEvent): void {
  const ended = 'iteration' in event ? `${event.iteration} ` : ''
  for (const [place, index] of open) {
    if (!place.startsWith(ended)) continue
    const row = rows[index]
    if (row?.kind === 'call') rows[index] = { ...row, call: { ...row.call, ok: false, endedAt: at, interrupted: true } }
    open.delete(place)
  }
}

type ToolCallPart = Parameters<typeof startCall>[0] & { readonly since: number }

function addCall(rows: TranscriptRowData[], open: Map<string, number>, part: ToolCallPart): void {
  const { stored, event, since } = part
  const [iteration, attempt] = stored.event.type === 'agent' ? [stored.event.iteration, stored.event.attempt] : [0, 0]
  const place = `${iteration} ${attempt} ${event.id}`
  if (event.phase === 'start') {
    open.set(place, rows.length)
    rows.push({ kind: 'call', key: stored.id, at: stored.at, since, call: startCall(part) })
    return
  }
  const index = open.get(place)
  open.delete(place)
  const row = index === undefined ? undefined : rows[index]
  if (index !== undefined && row?.kind === 'call') rows[index] = { ...row, call: endCall(row.call, part) }
  else rows.push({ kind: 'call', key: stored.id, at: stored.at, since, call: endCall(undefined, part) })
}

function foldCalls(rows: readonly TranscriptRowData[]): TranscriptRowData[] {
  const all: TranscriptRowData[] = []
  let run: Extract<TranscriptRowData, { kind: 'call' }>[] = []
  const flush = (): void => {
    const [first] = run
    if (first && run.length >= minCallsToFold)
      all.push({
        kind: 'calls',
        key: first.key,
        at: first.at,
        since: first.since,
        name: first.call.name,
        calls: run.map(({ call }) => call),
      })
    else all.push(...run)
    run = []
  }
  for (const row of rows) {
    const foldable = row.kind === 'call' && !isShell(row.call.name) && row.call.ok !== false
    if (!foldable || (run[0] && run[0].call.name !== row.call.name)) flush()
    if (foldable) run.push(row)
    else all.push(row)
  }
  flush()
  return all
}

/** Finds the call that the URL names, even if it is folded. */
export function findCall(rows: readonly TranscriptRowData[], key: string | undefined): ToolCall | undefined {
  if (key === undefined) return undefined
  for (const row of rows) {
    if (row.kind === 'call' && row.call.key === key) return row.call
    const found = row.kind === 'calls' ? row.calls.find((call) => call.key === key) : undefined
    if (found) return found
  }
  return undefined
}
