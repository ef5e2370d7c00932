import type { StoredEvent } from '../../contract/fleet/event.ts'
import type { TranscriptScope, TranscriptWindow } from './transcript-window.ts'

/** Enough for what a stream can deliver while a request is under way. */
const maxEvents = 2000

const recent = new Map<string, readonly StoredEvent[]>()

/** Events that the stream has delivered lately. A slow answer may be older than them, so it is joined with them. */
export function rememberEvents(sprintId: string, events: readonly StoredEvent[]): void {
  recent.set(sprintId, [...(recent.get(sprintId) ?? []), ...events].slice(-maxEvents))
}

export const recallEvents = (sprintId: string): readonly StoredEvent[] => recent.get(sprintId) ?? []

/** Without a filter, sequence numbers have no holes. */
export function hasHole({ events, detached }: TranscriptWindow, { iteration, search, kind }: TranscriptScope): boolean {
  if (detached || iteration !== undefined || search !== undefined || kind !== undefined) return false
  return events.some(({ seq }, index) => index > 0 && seq > (events[index - 1]?.seq ?? seq) + 1)
}
