import { crc32 } from 'node:zlib'
import { z } from 'zod'

const version = 1

/** One line of the journal. `seq` has no gaps; `epoch` is the run that wrote it. */
export const JournalRecord = z.object({
  v: z.literal(version),
  seq: z.int().min(1),
  epoch: z.int().min(0),
  at: z.iso.datetime(),
  kind: z.enum(['snapshot', 'run', 'fact']),
  /** Snapshot: the whole progress as in PROGRESS.yaml. Run: who began it. Fact: what happened. */
  data: z.unknown(),
})
export type JournalRecord = z.infer<typeof JournalRecord>

/** `crc32hex SP json LF`. */
export function formatRecord(record: Omit<JournalRecord, 'v'>): string {
  const json = JSON.stringify({ v: version, ...record })
  return `${checksum(json)} ${json}\n`
}

const checksum = (text: string): string => crc32(text).toString(16).padStart(8, '0')

export type Segment = {
  readonly records: readonly JournalRecord[]
  /** Up to here everything is whole. */
  readonly goodBytes: number
  /** `torn`: nothing readable follows, the writer was cut off. `damaged`: good records follow a bad one. */
  readonly problem?: 'torn' | 'damaged'
}

/** Reads a segment up to its first bad line, and says what is behind it. */
export function readSegment(bytes: Buffer, firstSeq?: number): Segment {
  const records: JournalRecord[] = []
  let start = 0
  let seq = firstSeq
  while (start < bytes.length) {
    const end = bytes.indexOf(10, start)
    const record = end === -1 ? undefined : parseRecord(bytes.toString('utf8', start, end))
    if (!record || (seq !== undefined && record.seq !== seq)) {
      return { records, goodBytes: start, problem: hasGoodRecord(bytes, end) ? 'damaged' : 'torn' }
    }
    records.push(record)
    seq = record.seq + 1
    start = end + 1
  }
  return { records, goodBytes: start }
}

function hasGoodRecord(bytes: Buffer, after: number): boolean {
  let start = after === -1 ? bytes.length : after + 1
  while (start < bytes.length) {
    const end = bytes.indexOf(10, start)
    if (end === -1) return false
    if (parseRecord(bytes.toString('utf8', start, end))) return true
    start = end + 1
  }
  return false
}

function parseRecord(line: string): JournalRecord | undefined {
  const json = line.slice(9)
  if (line[8] !== ' ' || checksum(json) !== line.slice(0, 8)) return undefined
  try {
    const parsed = JournalRecord.safeParse(JSON.parse(json))
    return parsed.success ? parsed.data : undefined
  } catch {
    return undefined
  }
}
