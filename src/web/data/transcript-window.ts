import type { StoredEvent } from '../../contract/fleet/event.ts'
import { editTools } from '../../contract/tool-names.ts'

/** The requested part of a transcript. */
export type TranscriptScope = {
  readonly iteration?: number | undefined
  readonly search?: string | undefined
  readonly kind?: TranscriptKind | undefined
  /** The sequence number to open it at; absent: at its newest end. */
  readonly at?: number | undefined
}

export const transcriptKinds = ['text', 'tool', 'other', 'error', 'edit'] as const
export type TranscriptKind = (typeof transcriptKinds)[number]

/** The loaded part of a transcript, oldest first. */
export type TranscriptWindow = {
  readonly events: readonly StoredEvent[]
  /** Cursor to older events; absent at the beginning. */
  readonly older?: string | undefined
  /** It ends before the newest event: it was opened further back, or dropped the newest to make room for older ones. */
  readonly detached: boolean
  /** The oldest events were dropped to make room for new ones. */
  readonly cut: boolean
}

type TranscriptPage = { readonly items: readonly StoredEvent[]; readonly next?: string | undefined }

/** Maximum number of events in memory: about 30 MB of the longest ones that the backend sends. */
export const windowSize = 20_000

export const openWindow = ({ items, next }: TranscriptPage): TranscriptWindow => ({
  events: items.toReversed(),
  older: next,
  detached: false,
  cut: false,
})

/** A part in the middle: the events up to the wanted one, and those after it, oldest first. */
export const openMiddle = (before: TranscriptPage, after: TranscriptPage): TranscriptWindow => ({
  events: [...before.items.toReversed(), ...after.items],
  older: before.next,
  detached: after.next !== undefined,
  cut: false,
})

/** Adds the next newer events, oldest first. */
export function appendPage(shown: TranscriptWindow, { items, next }: TranscriptPage): TranscriptWindow {
  const last = shown.events.at(-1)?.seq ?? -1
  const events = [...shown.events, ...items.filter(({ seq }) => seq > last)]
  const dropped = events.length > windowSize
  return {
    events: events.slice(-windowSize),
    ...(!dropped && shown.older !== undefined && { older: shown.older }),
    detached: next !== undefined,
    cut: shown.cut || dropped,
  }
}

export function prependPage(shown: TranscriptWindow, { items, next }: TranscriptPage): TranscriptWindow {
  const first = shown.events[0]?.seq ?? Number.POSITIVE_INFINITY
  const events = [...items.toReversed().filter(({ seq }) => seq < first), ...shown.events]
  return {
    events: events.slice(0, windowSize),
    older: next,
    detached: shown.detached || events.length > windowSize,
    cut: shown.cut,
  }
}

/** Skips known events: a new connection repeats what may have been lost. */
export function appendToWindow(
  shown: TranscriptWindow,
  events: readonly StoredEvent[],
  scope: TranscriptScope,
): TranscriptWindow {
  if (shown.detached) return shown
  const last = shown.events.at(-1)?.seq ?? -1
  const fresh = events.filter((event) => event.seq > last && matchesScope(event, scope))
  if (fresh.length === 0) return shown
  const all = [...shown.events, ...fresh]
  if (all.length <= windowSize * 1.25) return { ...shown, events: all }
  return { events: all.slice(-windowSize), detached: false, cut: true }
}

function matchesScope({ event }: StoredEvent, { iteration, search, kind }: TranscriptScope): boolean {
  if (iteration !== undefined && (!('iteration' in event) || event.iteration !== iteration)) return false
  if (kind !== undefined && !hasKind(event, kind)) return false
  return search === undefined || JSON.stringify(event).toLowerCase().includes(search.toLowerCase())
}

/** As the backend filters; both must find the same events. */
function hasKind(event: StoredEvent['event'], kind: TranscriptKind): boolean {
  const agentEvent = event.type === 'agent' ? event.event : undefined
  switch (kind) {
    case 'text':
    case 'tool':
      return agentEvent?.kind === kind
    case 'other':
      return agentEvent?.kind !== 'text' && agentEvent?.kind !== 'tool'
    case 'edit':
      return agentEvent?.kind === 'tool' && agentEvent.phase === 'start' && editTools.includes(agentEvent.name ?? '')
    case 'error':
      if (agentEvent) return agentEvent.kind === 'tool' && agentEvent.phase === 'end' && agentEvent.ok === false
      if (event.type === 'check-ended') return !event.result.passed
      return event.type === 'attempt-failed' || event.type === 'claim-refused'
  }
}
