import type { LoggedEvent, SprintEvent } from '../contract/events.ts'
import { noop, serialize, yieldToEvents } from '../platform/async.ts'
import type { SyncMode } from '../platform/files/append-file.ts'
import { exists, createFolder, removeFile } from '../platform/files/files.ts'
import { openLog, readLog, type LogFile } from '../platform/files/log-file.ts'
import {
  decodeEventRecords,
  encodeEventRecord,
  listEventSegments,
  segmentPath,
  type EventRecord,
} from './event-segments.ts'
import { truncateEvent } from './truncate-event.ts'

export type NewLogEvent = {
  readonly at: number
  readonly sprintId?: string | undefined
  readonly promptId?: string | undefined
  readonly event: SprintEvent
  /** Names the attempt within the log; its transcript is there. */
  readonly attempt?: string | undefined
  /** Prompt of the attempt that this event announces. */
  readonly prompt?: string | undefined
  /** The progress of the sprint. */
  readonly rev?: number | undefined
}

type EventLogOptions = {
  /** The number of the first event of a new log. */
  readonly firstSeq?: number
  /** Whether events survive a power cut: those of a machine in the fleet do. */
  readonly sync?: SyncMode
}

const segmentBytes = 2 * 1024 * 1024
const keptSegments = 16
const keptInMemory = 2000
/** Events that may wait for the disk before the reader of an agent pauses. */
const maxWaiting = 1000

/**
 * What observers see of a sprint in a terminal, or of an agent in the fleet, written to disk before anyone reads it; `seq` grows
 * by one. Nothing is decided by it: a full disk or a killed process costs events, never the work they describe.
 */
export class EventLog {
  readonly #segments: EventSegments
  readonly #counter: AttemptCounter
  readonly #enqueue = serialize()
  readonly #listeners: (() => void)[] = []
  /** Empty until this process has a listener. */
  #recent: LoggedEvent[] = []
  #waiting: EventRecord[] = []
  #flushing: Promise<void> | undefined
  #seq: number
  #durable: number
  #lastAt: number | undefined

  private constructor(segments: EventSegments, { records, first }: LastRecords) {
    const last = records.at(-1)?.event
    this.#segments = segments
    this.#counter = new AttemptCounter(records)
    this.#seq = last?.seq ?? first - 1
    this.#durable = this.#seq
    this.#lastAt = last?.at
  }

  static async open(folder: string, options: EventLogOptions = {}): Promise<EventLog> {
    const segments = await EventSegments.open(folder, options)
    return new EventLog(segments, await segments.readLast())
  }

  /** Does not wait for the write, which follows once the process is idle: events of one moment share it. */
  add(added: NewLogEvent): void {
    const n = this.#counter.count(added)
    if (n === 'again') return
    const event = toLoggedEvent(added, ++this.#seq)
    this.#lastAt = event.at
    this.#waiting.push({ event, attempt: added.attempt, n, rev: added.rev })
    this.#flushing ??= this.#enqueue(() => yieldToEvents().then(() => this.#flush())).catch(noop)
  }

  /** Resolves when waiting events are written; undefined if few wait. An agent that prints faster than the disk accepts events is read slower. */
  drained(): Promise<void> | undefined {
    return this.#waiting.length > maxWaiting ? this.#flushing : undefined
  }

  /** The events after a number, oldest first, up to a limit. Only events on disk. */
  async read(after: number, limit: number): Promise<readonly LoggedEvent[]> {
    const [oldest] = this.#recent
    const isRecent = oldest !== undefined && after >= oldest.seq - 1
    const events = isRecent ? this.#recent : await this.#segments.read(after + 1)
    return events.filter(({ seq }) => seq > after).slice(0, limit)
  }

  /** The number of the last event on disk. */
  lastSeq(): number {
    return this.#durable
  }

  lastAt(): number | undefined {
    return this.#lastAt
  }

  /** The listener is called when there are more events to read. */
  onMore(listener: () => void): void {
    this.#listeners.push(listener)
  }

  /** Events up to this number are stored elsewhere and may be removed when there are many. */
  forget(upTo: number): void {
    this.#segments.forget(upTo)
  }

  async close(): Promise<void> {
    await this.#enqueue(() => this.#segments.close())
  }

  async #flush(): Promise<void> {
    const batch = this.#waiting
    this.#waiting = []
    this.#flushing = undefined
    const last = batch.at(-1)
    if (!last) return
    await this.#segments.append(batch)
    this.#durable = last.event.seq
    if (this.#listeners.length === 0) return
    this.#recent = [...this.#recent, ...batch.map(({ event }) => event)].slice(-keptInMemory)
    for (const listener of this.#listeners) listener()
  }
}

type LastRecords = { readonly records: readonly EventRecord[]; readonly first: number }

/** The files of a log, each named by its first event's number. */
class EventSegments {
  readonly #folder: string
  readonly #firsts: number[]
  readonly #sync: SyncMode
  #log: LogFile

  private constructor(folder: string, firsts: number[], { log, sync }: { log: LogFile; sync: SyncMode }) {
    this.#folder = folder
    this.#firsts = firsts
    this.#log = log
    this.#sync = sync
  }

  static async open(folder: string, { firstSeq = 1, sync = 'each' }: EventLogOptions): Promise<EventSegments> {
    await createFolder(folder)
    const found = await listEventSegments(folder)
    const firsts = found.length === 0 ? [firstSeq] : found
    const { file } = await openLog(segmentPath(folder, firsts.at(-1) ?? firstSeq), sync)
    return new EventSegments(folder, firsts, { log: file, sync })
  }

  /** The last two segments are enough: a running attempt has emitted events recently. */
  async readLast(): Promise<LastRecords> {
    const values = await Promise.all(this.#firsts.slice(-2).map((first) => this.#readSegment(first)))
    return { records: values.flatMap(decodeEventRecords), first: this.#firsts.at(-1) ?? 1 }
  }

  async read(seq: number): Promise<LoggedEvent[]> {
    const first = this.#firsts.findLast((number) => number <= seq) ?? this.#firsts[0] ?? 1
    return decodeEventRecords(await this.#readSegment(first)).map(({ event }) => event)
  }

  async append(records: readonly EventRecord[]): Promise<void> {
    // An agent may have deleted the file: readers would never find what is appended.
    if (!this.#log.isInPlace()) await this.#startSegment(records[0]?.event.seq ?? 1)
    await this.#log.append(...records.map(encodeEventRecord))
    if (this.#log.size() >= segmentBytes) await this.#startSegment((records.at(-1)?.event.seq ?? 0) + 1)
  }

  forget(upTo: number): void {
    while (this.#firsts.length > keptSegments && (this.#firsts[1] ?? Infinity) <= upTo + 1) {
      const first = this.#firsts.shift()
      if (first !== undefined) void removeFile(segmentPath(this.#folder, first)).catch(noop)
    }
  }

  close(): Promise<void> {
    return this.#log.close()
  }

  async #startSegment(first: number): Promise<void> {
    await this.#log.close()
    this.#log = (await openLog(segmentPath(this.#folder, first), this.#sync)).file
    if (this.#firsts.at(-1) !== first) this.#firsts.push(first)
  }

  async #readSegment(first: number): Promise<readonly unknown[]> {
    const path = segmentPath(this.#folder, first)
    return exists(path) ? await readLog(path).catch(() => []) : []
  }
}

/** Recognises the events that a rejoined attempt repeats. */
class AttemptCounter {
  readonly #recorded = new Map<string, number>()
  readonly #counts = new Map<string, number>()

  constructor(records: readonly EventRecord[]) {
    for (const { attempt, n } of records) {
      if (attempt !== undefined && n !== undefined) this.#recorded.set(attempt, n + 1)
    }
  }

  /** The number of earlier events of its attempt; `again` if it was already recorded before the restart. */
  count({ attempt, event }: NewLogEvent): number | 'again' | undefined {
    if (attempt === undefined || (event.type !== 'agent' && event.type !== 'attempt-started')) return undefined
    const n = this.#counts.get(attempt) ?? 0
    this.#counts.set(attempt, n + 1)
    return n < (this.#recorded.get(attempt) ?? 0) ? 'again' : n
  }
}

function toLoggedEvent({ at, sprintId, promptId, event, attempt, prompt }: NewLogEvent, seq: number): LoggedEvent {
  const short = truncateEvent(event)
  return {
    seq,
    at,
    ...(sprintId !== undefined && { sprintId }),
    ...(promptId !== undefined && { promptId }),
    event: short ?? event,
    ...(prompt !== undefined && { prompt }),
    ...(short && attempt !== undefined && { clipped: `${attempt}/transcript.jsonl` }),
  }
}
