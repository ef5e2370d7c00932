import { join } from 'node:path'
import { z } from 'zod'
import { LoggedEvent } from '../contract/events.ts'
import { formatTimestamp } from '../contract/time.ts'
import { listFolder } from '../platform/files/files.ts'

/**
 * A line of an event log. `n`: the number of earlier events of its attempt, because a rejoined attempt repeats them all. `rev`:
 * the progress of the sprint when it happened; only in the log of a sprint.
 */
const EventRecord = z.object({
  line: z.unknown(),
  attempt: z.string().optional(),
  n: z.int().optional(),
  rev: z.int().optional(),
})

export type EventRecord = Omit<z.infer<typeof EventRecord>, 'line'> & { readonly event: LoggedEvent }

/** Without zod, which takes ten times as long: several times per iteration. The type says what it must equal. */
export function encodeEventRecord({ event, ...rest }: EventRecord): unknown {
  const line: z.input<typeof LoggedEvent> = { ...event, at: formatTimestamp(event.at) }
  return { line, ...rest }
}

/** Drops what another version wrote and this one cannot read. */
export function decodeEventRecords(values: readonly unknown[]): EventRecord[] {
  return values.flatMap((value) => {
    const record = EventRecord.safeParse(value)
    const event = record.success ? LoggedEvent.safeParse(record.data.line) : undefined
    if (!record.success || !event?.success) return []
    const { line: _line, ...rest } = record.data
    return [{ ...rest, event: event.data }]
  })
}

const namePattern = /^(\d{12})\.log$/

/** A segment is named by the number of its first event. */
export const segmentPath = (folder: string, first: number): string =>
  join(folder, `${String(first).padStart(12, '0')}.log`)

/** The first event of each segment, oldest first. */
export async function listEventSegments(folder: string): Promise<number[]> {
  const names = await listFolder(folder)
  return names
    .flatMap((name) => namePattern.exec(name)?.[1] ?? [])
    .map(Number)
    .toSorted((a, b) => a - b)
}
