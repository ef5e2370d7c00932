import { z } from 'zod'
import { formatLogLine, readLogLine } from '../../platform/checksummed-log.ts'

const version = 1

/** One line of the journal. `seq` has no gaps; `epoch` is the run that wrote it. */
export const JournalRecord = z.object({
  v: z.literal(version),
  seq: z.int().min(1),
  epoch: z.int().min(0),
  at: z.iso.datetime(),
  kind: z.enum(['snapshot', 'run', 'fact']),
  /** Snapshot: the whole progress as in PROGRESS.yaml. Run: the process that started it. Fact: what happened. */
  data: z.unknown(),
  /** Hash of the PROGRESS.yaml whose edit is this fact; in a snapshot, of the last such fact. Prevents applying an edit twice. */
  edit: z.string().optional(),
})
export type JournalRecord = z.infer<typeof JournalRecord>

export const formatRecord = (record: Omit<JournalRecord, 'v'>): string => formatLogLine({ v: version, ...record })

export type Segment = {
  readonly records: readonly JournalRecord[]
  /** Up to here every record is intact. */
  readonly goodBytes: number
  /** `torn`: nothing readable follows, the writer was cut off. `damaged`: good records follow a bad one. */
  readonly problem?: 'torn' | 'damaged'
}

/** Reads a segment up to its first bad line, and reports what follows it. */
export function readSegment(bytes: Buffer): Segment {
  const records: JournalRecord[] = []
  let start = 0
  while (start < bytes.length) {
    const end = bytes.indexOf(10, start)
    const record = end === -1 ? undefined : parseRecord(bytes.toString('utf8', start, end))
    const before = records.at(-1)
    if (!record || (before && record.seq !== before.seq + 1)) {
      return { records, goodBytes: start, problem: hasGoodRecord(bytes, start + 1) ? 'damaged' : 'torn' }
    }
    records.push(record)
    start = end + 1
  }
  return { records, goodBytes: start }
}

const recordStart = '{"v":1,'

/** Also searches within lines: the damage may be in the newline before a record. */
function hasGoodRecord(bytes: Buffer, from: number): boolean {
  for (let at = bytes.indexOf(recordStart, from + 9); at !== -1; at = bytes.indexOf(recordStart, at + 1)) {
    const end = bytes.indexOf(10, at)
    if (end === -1) return false
    if (parseRecord(bytes.toString('utf8', at - 9, end))) return true
  }
  return false
}

function parseRecord(line: string): JournalRecord | undefined {
  const json = readLogLine(line)
  if (json === undefined) return undefined
  try {
    const parsed = JournalRecord.safeParse(JSON.parse(json), { jitless: true })
    return parsed.success ? parsed.data : undefined
  } catch {
    return undefined
  }
}
