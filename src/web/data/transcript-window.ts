import type { StoredEvent } from '../../contract/fleet/event.ts'

/** The requested part of a transcript. */
export type TranscriptScope = {
  readonly iteration?: number | undefined
  readonly search?: string | undefined
  readonly kind?: 'text' | 'tool' | 'other' | undefined
}

/** The loaded part of a transcript, oldest first. */
export type TranscriptWindow = {
  readonly events: readonly StoredEvent[]
  /** Cursor to older events; absent at the beginning. */
  readonly older?: string | undefined
  /** The newest events were dropped to make room for older ones; new ones are ignored until a refetch. */
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
  if (kind !== undefined && transcriptEventKind(event) !== kind) return false
  return search === undefined || JSON.stringify(event).toLowerCase().includes(search.toLowerCase())
}

function transcriptEventKind(event: StoredEvent['event']): 'text' | 'tool' | 'other' {
  if (event.type !== 'agent') return 'other'
  if (event.event.kind === 'text' || event.event.kind === 'tool') return event.event.kind
  return 'other'
}
