import { fileSize } from '../platform/files/files.ts'
import { parseLogLines } from '../platform/files/log-file.ts'
import { readRange } from '../platform/files/private-file.ts'
import { decodeEventRecords, listEventSegments, segmentPath, type EventRecord } from './event-segments.ts'

/** How far back a reader starts: one that was away for longer gets the newest events only. */
const maxSegmentsBack = 3

/** Reads an event log that another process may be writing. Only reads. */
export class EventReader {
  readonly #folder: string
  #after: number
  #segment: number | undefined
  /** Bytes of the segment that were read. */
  #offset = 0

  /** `after`: the number of the last event that the caller knows. */
  constructor(folder: string, after = 0) {
    this.#folder = folder
    this.#after = after
  }

  /** Returns the events since the last call; reads only what was appended since. */
  async read(): Promise<EventRecord[]> {
    const segments = await listEventSegments(this.#folder)
    this.#segment ??= segments
      .slice(-maxSegmentsBack)
      .findLast((first, index) => index === 0 || first <= this.#after + 1)
    const records: EventRecord[] = []
    for (const segment of segments) {
      if (segment < (this.#segment ?? segment)) continue
      if (segment !== this.#segment) this.#offset = 0
      this.#segment = segment
      records.push(...(await this.#readAppended(segmentPath(this.#folder, segment))))
    }
    const fresh = records.filter(({ event }) => event.seq > this.#after)
    this.#after = fresh.at(-1)?.event.seq ?? this.#after
    return fresh
  }

  async #readAppended(path: string): Promise<EventRecord[]> {
    const length = fileSize(path) - this.#offset
    if (length <= 0) return []
    const { bytes } = await readRange(path, this.#offset, length)
    const { values, goodBytes } = parseLogLines(bytes)
    this.#offset += goodBytes
    return decodeEventRecords(values)
  }
}
