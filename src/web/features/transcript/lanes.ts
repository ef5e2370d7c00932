import type { StoredEvent } from '../../../contract/fleet/event.ts'

export type TimeSpan = { readonly from: number; readonly to: number }

/** How the time of an iteration was spent: the model thinks, or a tool runs. */
export type IterationLanes = TimeSpan & {
  readonly model: readonly TimeSpan[]
  readonly tools: readonly TimeSpan[]
  readonly modelMs: number
  readonly toolsMs: number
}

/** From the events of one iteration, oldest first. Running work ends now. */
export function createLanes(events: readonly StoredEvent[], now: number): IterationLanes | undefined {
  const turns = listTurns(events, now)
  const [first] = turns
  const last = turns.at(-1)
  if (!first || !last) return undefined
  const tools = mergeSpans(listCalls(events, now))
  const model = turns.flatMap((turn) => subtractSpans(turn, tools))
  return { from: first.from, to: last.to, model, tools, modelMs: totalMs(model), toolsMs: totalMs(tools) }
}

/** A turn is an attempt, until the agent is done or the next stage starts. */
function listTurns(events: readonly StoredEvent[], now: number): TimeSpan[] {
  const turns: TimeSpan[] = []
  let from: number | undefined
  let last: number | undefined
  for (const { event, at } of events) {
    if (event.type === 'attempt-started') from = at
    const over = event.type === 'agent' ? event.event.kind === 'terminal' : enders.has(event.type)
    if (event.type === 'agent') last = at
    if (!over || from === undefined) continue
    turns.push({ from, to: event.type === 'agent' ? at : (last ?? at) })
    from = undefined
  }
  return from === undefined ? turns : [...turns, { from, to: now }]
}

const enders: ReadonlySet<string> = new Set([
  'attempt-failed',
  'claim-made',
  'check-started',
  'iteration-ended',
  'sprint-rested',
])

function listCalls(events: readonly StoredEvent[], now: number): TimeSpan[] {
  const open = new Map<string, number>()
  const spans: TimeSpan[] = []
  for (const { event, at } of events) {
    if (event.type !== 'agent' || event.event.kind !== 'tool') continue
    const { phase, id } = event.event
    if (phase === 'start') open.set(id, at)
    const from = open.get(id)
    if (phase === 'end' && from !== undefined) {
      spans.push({ from, to: at })
      open.delete(id)
    }
  }
  for (const from of open.values()) spans.push({ from, to: now })
  return spans.toSorted((a, b) => a.from - b.from)
}

/** Merges tools that run in parallel into one stretch. */
function mergeSpans(spans: readonly TimeSpan[]): TimeSpan[] {
  const all: TimeSpan[] = []
  for (const span of spans) {
    const last = all.at(-1)
    if (last && span.from <= last.to) all[all.length - 1] = { from: last.from, to: Math.max(last.to, span.to) }
    else all.push(span)
  }
  return all
}

function subtractSpans(turn: TimeSpan, tools: readonly TimeSpan[]): TimeSpan[] {
  const rests: TimeSpan[] = []
  let { from } = turn
  for (const tool of tools) {
    if (tool.to <= turn.from || tool.from >= turn.to) continue
    if (tool.from > from) rests.push({ from, to: tool.from })
    from = Math.max(from, tool.to)
  }
  return from < turn.to ? [...rests, { from, to: turn.to }] : rests
}

const totalMs = (spans: readonly TimeSpan[]): number => spans.reduce((sum, { from, to }) => sum + to - from, 0)
