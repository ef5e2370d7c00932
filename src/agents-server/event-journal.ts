import { join } from 'node:path'
import { z } from 'zod'
import { AgentJournalEvent, maxOutputLength } from '../contract/fleet/channel.ts'
import type { SprintEvent } from '../contract/events.ts'
import { noop, serialize } from '../platform/async.ts'
import { exists, listFolder, createFolder, removeFile } from '../platform/files/files.ts'
import { openLog, readLog, type LogFile } from './log-file.ts'

/** The events of an agent, written to disk before they are sent; `seq` grows by one. */
export interface EventJournal {
  /** Does not wait for the write. */
  readonly add: (happened: NewAgentEvent) => void
  /** The events after a number, oldest first, up to a limit. Only events on disk. */
  readonly read: (after: number, most: number) => Promise<readonly AgentJournalEvent[]>
  readonly lastSeq: () => number
  readonly lastAt: () => number | undefined
  /** Called when there are more events to read. */
  readonly onMore: (hear: () => void) => void
  /** Events up to this number are stored elsewhere and may be removed when there are many. */
  readonly forget: (upTo: number) => void
  readonly close: () => Promise<void>
}

export type NewAgentEvent = {
  readonly at: number
  readonly sprintId?: string | undefined
  readonly promptId?: string | undefined
  readonly event: SprintEvent
  /** Names the attempt within the agent; its transcript is there. */
  readonly attempt?: string | undefined
  /** Prompt of the attempt that this event announces. */
  readonly prompt?: string | undefined
}

/** `n`: the number of earlier events of this attempt. A rejoined attempt repeats them all. */
const JournalRecord = z.object({ line: z.unknown(), attempt: z.string().optional(), n: z.int().optional() })

const segmentBytes = 4 * 1024 * 1024
const keptSegments = 8
const keptInMemory = 2000
const namePattern = /^(\d{12})\.log$/

export async function openEventJournal(folder: string): Promise<EventJournal> {
  const { segments, told, ...found } = await openSegments(folder)
  const isAgain = createAttemptCounter(told)
  const hearing: (() => void)[] = []
  let { recent, seq, lastAt } = found
  let durable = seq
  let waiting: PendingEvent[] = []
  const enqueue = serialize()

  const flush = async () => {
    const batch = waiting
    waiting = []
    const last = batch.at(-1)
    if (!last) return
    await segments.append(
      batch.map(({ line, attempt, n }) => ({ line, attempt, n })),
      last.event.seq,
    )
    durable = last.event.seq
    recent = [...recent, ...batch.map(({ event }) => event)].slice(-keptInMemory)
    for (const hear of hearing) hear()
  }
  return {
    add: (happened) => {
      const n = isAgain(happened)
      if (n === 'again') return
      const event = toAgentEvent(happened, ++seq)
      lastAt = event.at
      waiting.push({ event, line: z.encode(AgentJournalEvent, event), attempt: happened.attempt, n })
      // A full disk costs events, never the work they describe.
      void enqueue(flush).catch(noop)
    },
    read: async (after, most) => {
      const [oldest] = recent
      const isRecent = oldest !== undefined && after >= oldest.seq - 1
      const from = isRecent ? recent : (await segments.read(after + 1)).map(({ event }) => event)
      return from.filter((event) => event.seq > after).slice(0, most)
    },
    lastSeq: () => durable,
    lastAt: () => lastAt,
    onMore: (hear) => void hearing.push(hear),
    forget: segments.forget,
    close: async () => {
      await enqueue(segments.close)
    },
  }
}

type PendingEvent = {
  readonly event: AgentJournalEvent
  readonly line: unknown
  readonly attempt: string | undefined
  readonly n: number | undefined
}

/** The segments of a journal, each named by its first event's number, and the content of the last ones. */
async function openSegments(folder: string) {
  await createFolder(folder)
  const firsts = await listEventSegments(folder)
  if (firsts.length === 0) firsts.push(1)
  const pathOf = (first: number) => join(folder, `${String(first).padStart(12, '0')}.log`)
  const told = new Map<string, number>()
  const recent: AgentJournalEvent[] = []
  // The last two are enough: a running attempt has emitted events recently.
  for (const first of firsts.slice(-2)) {
    for (const { event, attempt, n } of decodeRecords(exists(pathOf(first)) ? await readLog(pathOf(first)) : [])) {
      recent.push(event)
      if (attempt !== undefined && n !== undefined) told.set(attempt, n + 1)
    }
  }
  const last = recent.at(-1)
  let log: LogFile = (await openLog(pathOf(firsts.at(-1) ?? 1))).file
  const segments = {
    append: async (records: readonly unknown[], lastSeq: number): Promise<void> => {
      await log.append(...records)
      if (log.size() < segmentBytes) return
      await log.close()
      firsts.push(lastSeq + 1)
      log = (await openLog(pathOf(lastSeq + 1))).file
    },
    read: async (seq: number) => {
      const first = firsts.findLast((number) => number <= seq) ?? firsts[0] ?? 1
      return decodeRecords(await readLog(pathOf(first)).catch(() => []))
    },
    forget: (upTo: number): void => {
      while (firsts.length > keptSegments && (firsts[1] ?? Infinity) <= upTo + 1) {
        const first = firsts.shift()
        if (first !== undefined) void removeFile(pathOf(first)).catch(() => {})
      }
    },
    close: () => log.close(),
  }
  const seq = last?.seq ?? (firsts.at(-1) ?? 1) - 1
  return { segments, told, recent: recent.slice(-keptInMemory), seq, lastAt: last?.at }
}

async function listEventSegments(folder: string): Promise<number[]> {
  const names = await listFolder(folder)
  return names
    .flatMap((name) => namePattern.exec(name)?.[1] ?? [])
    .map(Number)
    .toSorted((a, b) => a - b)
}

function decodeRecords(values: readonly unknown[]) {
  return values.flatMap((value) => {
    const record = JournalRecord.safeParse(value)
    const event = record.success ? AgentJournalEvent.safeParse(record.data.line) : undefined
    if (!record.success || !event?.success) return []
    return [{ event: event.data, attempt: record.data.attempt, n: record.data.n }]
  })
}

/** The number of earlier events of its attempt; `again` if it was already recorded before the restart. */
function createAttemptCounter(records: Map<string, number>) {
  const begun = new Map<string, number>()
  return ({ attempt, event }: NewAgentEvent): number | 'again' | undefined => {
    if (attempt === undefined || (event.type !== 'agent' && event.type !== 'attempt-started')) return undefined
    const n = begun.get(attempt) ?? 0
    begun.set(attempt, n + 1)
    if (n < (records.get(attempt) ?? 0)) return 'again'
    return n
  }
}

function toAgentEvent(
  { at, sprintId, promptId, event, attempt, prompt }: NewAgentEvent,
  seq: number,
): AgentJournalEvent {
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

/** The event with long output truncated in the middle; undefined if nothing is too long. */
export function truncateEvent(event: SprintEvent): SprintEvent | undefined {
  if (event.type !== 'agent') return undefined
  const inner = event.event
  if (inner.kind === 'text' && inner.text.length > maxOutputLength) {
    return { ...event, event: { ...inner, text: truncateMiddle(inner.text) } }
  }
  if (inner.kind === 'raw' && inner.line.length > maxOutputLength) {
    return { ...event, event: { ...inner, line: truncateMiddle(inner.line) } }
  }
  if (inner.kind !== 'tool') return undefined
  const isLongInput = JSON.stringify(inner.input ?? null).length > maxOutputLength
  const isLongOutput = (inner.output?.length ?? 0) > maxOutputLength
  if (!isLongInput && !isLongOutput) return undefined
  const { input, output, ...rest } = inner
  const kept = isLongInput ? {} : { input }
  return { ...event, event: { ...rest, ...kept, ...(output !== undefined && { output: truncateMiddle(output) }) } }
}

function truncateMiddle(text: string): string {
  if (text.length <= maxOutputLength) return text
  const half = maxOutputLength / 2
  return `${text.slice(0, half)}\n… ${text.length - maxOutputLength} characters omitted …\n${text.slice(-half)}`
}
