import type { SprintEvent } from '../../../contract/events.ts'
import type { StoredEvent } from '../../../contract/fleet/event.ts'
import { startCall, endCall, isShell, type ToolCall } from './tool-call.ts'
import { describeEvent, type EventSentence } from '../../../words/event-sentences.ts'

export type TranscriptRowData =
  | { readonly kind: 'text'; readonly key: string; readonly at: number; readonly since: number; readonly text: string }
  | {
      readonly kind: 'call'
      readonly key: string
      readonly at: number
      readonly since: number
      readonly call: ToolCall
    }
  /** Three or more calls of the same tool in a row. Never of a shell: each command deserves its line. */
  | {
      readonly kind: 'calls'
      readonly key: string
      readonly at: number
      readonly since: number
      readonly name: string
      readonly calls: readonly ToolCall[]
    }
  | {
      readonly kind: 'mark'
      readonly key: string
      readonly at: number
      readonly since: number
      readonly mark: EventSentence
    }
  | {
      readonly kind: 'iteration'
      readonly key: string
      readonly at: number
      readonly since: number
      readonly event: Extract<SprintEvent, { type: 'iteration-started' }>
    }

const minCallsToFold = 3

/**
 * Turns events into rows: text stays open, a tool call is one line from start to end, and runs of the same tool are
 * folded. `startOf` returns the start of iterations whose first event is not loaded.
 */
export function createRows(
  events: readonly StoredEvent[],
  startOf: (iteration: number) => number | undefined,
): TranscriptRowData[] {
  const rows: TranscriptRowData[] = []
  const open = new Map<string, number>()
  let iterationStart = events[0]?.at ?? 0
  for (const stored of events) {
    const { event, id: key, at } = stored
    if (event.type === 'iteration-started') iterationStart = at
    else if ('iteration' in event) iterationStart = startOf(event.iteration) ?? iterationStart
    const since = at - iterationStart
    if (event.type === 'agent' && event.event.kind === 'tool') {
      addCall(rows, open, { stored, event: event.event, since })
      continue
    }
    if (event.type === 'agent' && event.event.kind === 'text') {
      if (event.event.text.trim() !== '') rows.push({ kind: 'text', key, at, since, text: event.event.text })
    } else if (event.type === 'iteration-started') rows.push({ kind: 'iteration', key, at, since, event })
    else {
      const mark = describeEvent(event)
      if (mark) rows.push({ kind: 'mark', key, at, since, mark })
    }
  }
  return foldCalls(rows)
}

type ToolCallPart = Parameters<typeof startCall>[0] & { readonly since: number }

function addCall(rows: TranscriptRowData[], open: Map<string, number>, part: ToolCallPart): void {
  const { stored, event, since } = part
  const place = `${'attempt' in stored.event ? stored.event.attempt : 0} ${event.id}`
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
