import { createHmac } from 'node:crypto'
import { z } from 'zod'
import { formatJsonLine, readLogLine } from '../../platform/checksummed-log.ts'

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

/** `crc32hex SP json LF`. With a key, the last field of the JSON is a MAC of the JSON without it. */
export function formatRecord(record: Omit<JournalRecord, 'v'>, key?: Buffer): string {
  const bare = JSON.stringify({ v: version, ...record })
  return formatJsonLine(key ? `${bare.slice(0, -1)}${macField(bare, key)}` : bare)
}

const macField = (bare: string, key: Buffer): string =>
  `,"mac":"${createHmac('sha256', key).update(bare).digest('hex').slice(0, 16)}"}`
const macFieldLength = ',"mac":"0123456789abcdef"}'.length

export type Segment = {
  readonly records: readonly JournalRecord[]
  /** Up to here every record is intact. */
  readonly goodBytes: number
  /** `torn`: nothing readable follows, the writer was cut off. `damaged`: good records follow a bad one. */
  readonly problem?: 'torn' | 'damaged'
  /** The bad record is complete, but Ralph did not write it. */
  readonly isForged?: boolean
}

/** Reads a segment up to its first bad line, and reports what follows it. With a key, a record without its MAC is bad. */
export function readSegment(bytes: Buffer, key?: Buffer): Segment {
  const records: JournalRecord[] = []
  let start = 0
  while (start < bytes.length) {
    const end = bytes.indexOf(10, start)
    const record = end === -1 ? undefined : parseRecord(bytes.toString('utf8', start, end), key)
    const before = records.at(-1)
    if (record === 'forged') return { records, goodBytes: start, problem: 'damaged', isForged: true }
    if (!record || (before && record.seq !== before.seq + 1)) {
      return { records, goodBytes: start, problem: hasGoodRecord(bytes, start + 1) ? 'damaged' : 'torn' }
    }
    records.push(record)
    start = end + 1
  }
  return { records, goodBytes: start }
}

type RecordPosition = { readonly seq: number; readonly epoch: number }

export type IntactSegment = {
  readonly records: number
  readonly runs: number
  readonly first: RecordPosition
  readonly last: RecordPosition
}

/** Counts the records of a segment if all of them are intact, Ralph's and without a gap; otherwise undefined. Parses none of them. */
export function countIntactRecords(bytes: Buffer, key?: Buffer): IntactSegment | undefined {
  let [records, runs, start] = [0, 0, 0]
  let first: RecordPosition | undefined
  let last: RecordPosition | undefined
  while (start < bytes.length) {
    const end = bytes.indexOf(10, start)
    const json = end === -1 ? undefined : readLogLine(bytes.toString('utf8', start, end))
    if (json === undefined || (key && !hasMac(json, key))) return undefined
    const [, seq, epoch, kind] = recordHead.exec(json) ?? []
    const position = { seq: Number(seq), epoch: Number(epoch) }
    if (last ? position.seq !== last.seq + 1 : kind !== 'snapshot') return undefined
    first ??= position
    last = position
    records++
    if (kind === 'run') runs++
    start = end + 1
  }
  return first && last && { records, runs, first, last }
}

const recordHead = /^\{"v":1,"seq":(\d+),"epoch":(\d+),"at":"[^"]*","kind":"(\w+)"/

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

function parseRecord(line: string, key?: Buffer): JournalRecord | 'forged' | undefined {
  const json = readLogLine(line)
  if (json === undefined) return undefined
  if (key && !hasMac(json, key)) return 'forged'
  try {
    const parsed = JournalRecord.safeParse(JSON.parse(json), { jitless: true })
    return parsed.success ? parsed.data : undefined
  } catch {
    return undefined
  }
}

function hasMac(json: string, key: Buffer): boolean {
  const bare = `${json.slice(0, -macFieldLength)}}`
  return json.endsWith(macField(bare, key))
}
