import type { StoredEvent } from '../../contract/fleet/event.ts'

/** Which part of what happened is asked for. */
export type Scope = {
  readonly iteration?: number | undefined
  readonly search?: string | undefined
  readonly kind?: 'text' | 'tool' | 'other' | undefined
}

/** The part of a transcript that is in memory, oldest first. */
export type TranscriptWindow = {
  readonly events: readonly StoredEvent[]
  /** Where older ones begin; absent at the beginning of everything. */
  readonly older?: string | undefined
  /** The newest ones were let go to make room for old ones; new ones are not added until they are asked for again. */
  readonly detached: boolean
  /** The oldest ones were let go to make room for new ones. */
  readonly cut: boolean
}

type Page = { readonly items: readonly StoredEvent[]; readonly next?: string | undefined }

/** As many events as may be in memory at once: about 30 MB of the longest ones that the backend sends along. */
export const windowSize = 20_000

export const opened = ({ items, next }: Page): TranscriptWindow => ({
  events: items.toReversed(),
  older: next,
  detached: false,
  cut: false,
})

export function prepended(shown: TranscriptWindow, { items, next }: Page): TranscriptWindow {
  const first = shown.events[0]?.seq ?? Number.POSITIVE_INFINITY
  const events = [...items.toReversed().filter(({ seq }) => seq < first), ...shown.events]
  return {
    events: events.slice(0, windowSize),
    older: next,
    detached: shown.detached || events.length > windowSize,
    cut: shown.cut,
  }
}

/** What was there already is not added again: a connection that is made anew repeats what it is not sure of. */
export function appended(shown: TranscriptWindow, events: readonly StoredEvent[], scope: Scope): TranscriptWindow {
  if (shown.detached) return shown
  const last = shown.events.at(-1)?.seq ?? -1
  const fresh = events.filter((event) => event.seq > last && matches(event, scope))
  if (fresh.length === 0) return shown
  const all = [...shown.events, ...fresh]
  if (all.length <= windowSize * 1.25) return { ...shown, events: all }
  return { events: all.slice(-windowSize), detached: false, cut: true }
}

function matches({ event }: StoredEvent, { iteration, search, kind }: Scope): boolean {
  if (iteration !== undefined && (!('iteration' in event) || event.iteration !== iteration)) return false
  if (kind !== undefined && kindOf(event) !== kind) return false
  return search === undefined || JSON.stringify(event).toLowerCase().includes(search.toLowerCase())
}

function kindOf(event: StoredEvent['event']): 'text' | 'tool' | 'other' {
  if (event.type !== 'agent') return 'other'
  if (event.event.kind === 'text' || event.event.kind === 'tool') return event.event.kind
  return 'other'
}
