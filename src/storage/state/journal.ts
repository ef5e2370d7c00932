import { hostname } from 'node:os'
import { join } from 'node:path'
import { RalphError } from '../../contract/errors.ts'
import { Progress } from '../../contract/progress.ts'
import { formatTimestamp } from '../../contract/time.ts'
import { openAppendFile, type AppendFile } from '../../platform/files/append-file.ts'
import { removeForGood, writeFileAtomic } from '../../platform/files/atomic-file.ts'
import { exists, listFolder, makeFolder, moveFile, readBytes } from '../../platform/files/files.ts'
import type { ProgressStore } from '../../runtime/ports.ts'
import { encodeProgress } from './encode-progress.ts'
import { oneAtATime } from '../../platform/async.ts'
import { formatRecord, readSegment, type JournalRecord, type Segment } from './journal-record.ts'

type Fact = Parameters<ProgressStore['save']>[1]

/** Applies a fact that was recorded to the progress it was recorded for. */
export type Fold = (progress: Progress, fact: Fact) => Progress

/** Where a journal begins or goes on: the record that its next one follows. */
export type Position = {
  readonly progress: Progress
  readonly seq: number
  readonly epoch: number
  /** Hash of the PROGRESS.yaml whose edit was recorded last. */
  readonly edit?: string | undefined
}

/** What a journal holds, as read from the disk. */
export type Recovered = Position & {
  readonly segment: number
  readonly goodBytes: number
  readonly snapshotBytes: number
  /** How many records follow the snapshot. */
  readonly records: number
  /** Bytes of a record that was being written when the writer died. */
  readonly tornBytes: number
  /** The last progress and the one that PROGRESS.yaml shows, by their rev: what an edit of it can be compared with. */
  readonly bases: ReadonlyMap<number, Progress>
}

/** The smallest distance between two snapshots; a bigger progress waits until as much has been written again. */
const snapshotEveryBytes = 256 * 1024
/** The most records between two snapshots: with a long plan each of them takes a millisecond to replay, and a start must not take long. */
const snapshotEveryRecords = 1000

export const journalFolder = (sprintDir: string): string => join(sprintDir, 'journal')

const segmentName = (number: number): string => `${String(number).padStart(8, '0')}.log`
export const segmentPattern = /^(\d{8})\.log$/

/** The state at the end of the journal; undefined if there is none. Changes nothing on the disk. `shownRev`: that of PROGRESS.yaml. */
export async function readJournal(sprintDir: string, fold: Fold, shownRev?: number): Promise<Recovered | undefined> {
  const folder = journalFolder(sprintDir)
  const numbers = await segmentsIn(folder)
  for (const number of numbers.toReversed()) {
    const file = join(folder, segmentName(number))
    const bytes = await readBytes(file)
    const question = { file, bytes, fold, shownRev }
    const known = takeRemembered(question)
    if (known) return known
    const segment = readSegment(bytes)
    if (segment.problem === 'damaged') throw damaged(file, segment)
    const [first, ...rest] = segment.records
    // A segment is put in place whole, with its snapshot; one without is from a disk that lost it. The one before still counts.
    if (first?.kind !== 'snapshot') continue
    const found = { ...replay(first, rest, question), segment: number, ...sizes(bytes, segment, first) }
    remembered = { question, found }
    return found
  }
  return undefined
}

type Question = {
  readonly file: string
  readonly bytes: Buffer
  readonly fold: Fold
  readonly shownRev: number | undefined
}

/** Who runs a sprint reads its journal twice, first to see whether it can be run: with a long plan that is most of a start. */
let remembered: { readonly question: Question; readonly found: Recovered } | undefined

/** The same bytes say the same again. It is of use once. */
function takeRemembered({ file, bytes, fold, shownRev }: Question): Recovered | undefined {
  if (!remembered) return undefined
  const { question, found } = remembered
  const isSame = question.file === file && question.fold === fold && question.shownRev === shownRev
  remembered = undefined
  return isSame && question.bytes.equals(bytes) ? found : undefined
}

/** What the progress was at a `rev` of the plan that runs now; undefined if it never had it, or nobody can tell any more. */
export async function progressAt(sprintDir: string, fold: Fold, rev: number): Promise<Progress | undefined> {
  const folder = journalFolder(sprintDir)
  for (const number of (await segmentsIn(folder)).toReversed()) {
    const { problem, records } = readSegment(await readBytes(join(folder, segmentName(number))))
    const [first, ...rest] = records
    if (problem === 'damaged') return undefined
    const snapshot = first?.kind === 'snapshot' ? Progress.safeParse(first.data, { jitless: true }).data : undefined
    if (!snapshot || snapshot.rev > rev) continue
    let progress = snapshot
    for (const record of rest) {
      if (progress.rev === rev) break
      if (record.kind === 'fact') progress = foldRecord(progress, record, fold)
    }
    return progress.rev === rev ? progress : undefined
  }
  return undefined
}

/** The numbers of the segments, oldest first. */
async function segmentsIn(folder: string): Promise<number[]> {
  const names = await listFolder(folder)
  return names
    .flatMap((name) => segmentPattern.exec(name)?.[1] ?? [])
    .map(Number)
    .toSorted((a, b) => a - b)
}

const sizes = (bytes: Buffer, { goodBytes, records }: Segment, snapshot: JournalRecord) => ({
  goodBytes,
  tornBytes: bytes.length - goodBytes,
  snapshotBytes: Buffer.byteLength(formatRecord(snapshot)),
  records: records.length - 1,
})

function replay(snapshot: JournalRecord, records: readonly JournalRecord[], { fold, file, shownRev }: Question) {
  // Read once: compiling the schema to code, as zod does, would take three times as long as reading.
  const decoded = Progress.safeParse(snapshot.data, { jitless: true })
  if (!decoded.success) throw unreadable(file, decoded.error.issues[0]?.message ?? 'its snapshot cannot be read')
  let progress = decoded.data
  let { edit } = snapshot
  let shown = progress
  for (const record of records) {
    if (record.kind !== 'fact') continue
    try {
      progress = foldRecord(progress, record, fold)
    } catch (cause) {
      throw unreadable(file, `record ${record.seq} cannot be applied: ${cause instanceof Error ? cause.message : ''}`)
    }
    edit = record.edit ?? edit
    if (progress.rev === shownRev) shown = progress
  }
  const { seq, epoch } = records.at(-1) ?? snapshot
  return { progress, seq, epoch, edit, bases: new Map([shown, progress].map((base) => [base.rev, base])) }
}

const foldRecord = (progress: Progress, { data }: JournalRecord, fold: Fold): Progress =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the checksum says that we wrote it, and we write facts
  fold(progress, data as Fact)

export interface Journal {
  /** Above that of every run before. */
  readonly epoch: number
  /**
   * Resolves when the fact and what it led to can no longer be lost. If it rejects, the fact is not in the journal. `edit`: the
   * hash of the PROGRESS.yaml that the fact is about.
   */
  readonly record: (fact: Fact, progress: Progress, edit?: string) => Promise<void>
  /** False if somebody has deleted or replaced what we write to. */
  readonly isInPlace: () => boolean
  /** Begins a new segment in a folder that was emptied under us. */
  readonly putBack: (progress: Progress) => Promise<void>
  readonly close: () => Promise<void>
}

/** Opens the journal for a new run: a torn end is cut off, and the run's epoch is above all earlier ones. */
export async function openJournal(sprintDir: string, start: Recovered | Position, now: () => number): Promise<Journal> {
  const folder = journalFolder(sprintDir)
  const epoch = start.epoch + 1
  const inTurn = oneAtATime()
  let { seq, edit } = start
  let broken: unknown
  await makeFolder(folder)
  let open = 'segment' in start ? await takeOver(folder, start) : await begin(start.progress)

  async function begin(progress: Progress, number?: number): Promise<OpenSegment> {
    const text = snapshotRecord(progress, { seq: seq + 1, epoch, at: now(), edit })
    const begun = await startSegment(folder, number ?? (await nextSegment(folder)), text)
    seq++
    return begun
  }
  const append = async (kind: JournalRecord['kind'], data: unknown, about?: string) => {
    const at = formatTimestamp(now())
    await open.file.append(formatRecord({ seq: seq + 1, epoch, at, kind, data, ...(about && { edit: about }) }))
    seq++
    open.records++
  }
  const rotate = async (progress: Progress) => {
    const number = open.number + 1
    try {
      const next = await begin(progress, number)
      await open.file.close()
      open = next
    } catch {
      // It only bounds the next recovery, so it can wait; but a segment that is there counts, so it must not be.
      await removeForGood(join(folder, segmentName(number))).catch((error: unknown) => (broken = stuck(folder, error)))
    }
  }

  await append('run', { pid: process.pid, host: hostname(), startedAt: formatTimestamp(now()) })
  return {
    epoch,
    record: (fact, progress, about) =>
      inTurn(async () => {
        if (broken) throw broken
        await append('fact', fact, about)
        edit = about ?? edit
        if (isLong(open)) await rotate(progress)
      }),
    isInPlace: () => open.file.isInPlace(),
    putBack: (progress) =>
      inTurn(async () => {
        await makeFolder(folder)
        const next = await begin(progress)
        await open.file.close()
        open = next
      }),
    close: () => inTurn(() => open.file.close()),
  }
}

type OpenSegment = Pick<Recovered, 'snapshotBytes'> & {
  readonly file: AppendFile
  readonly number: number
  records: number
}

const isLong = ({ file, snapshotBytes, records }: OpenSegment): boolean =>
  file.size() - snapshotBytes > Math.max(snapshotEveryBytes, snapshotBytes) || records >= snapshotEveryRecords

/**
 * The last segment as a copy in its own place: a run that lost its lock and still writes has the old file open, which
 * nobody reads any more.
 */
async function takeOver(folder: string, recovered: Recovered): Promise<OpenSegment> {
  const { segment, goodBytes, snapshotBytes, records } = recovered
  const path = join(folder, segmentName(segment))
  const bytes = await readBytes(path)
  await writeFileAtomic(path, bytes.subarray(0, goodBytes))
  return { file: await openAppendFile(path, goodBytes), number: segment, snapshotBytes, records }
}

async function startSegment(folder: string, number: number, snapshot: string): Promise<OpenSegment> {
  const path = join(folder, segmentName(number))
  const snapshotBytes = Buffer.byteLength(snapshot)
  await writeFileAtomic(path, snapshot)
  return { file: await openAppendFile(path, snapshotBytes), number, snapshotBytes, records: 0 }
}

const nextSegment = async (folder: string): Promise<number> => ((await segmentsIn(folder)).at(-1) ?? 0) + 1

type Moment = Omit<Position, 'progress'> & { readonly at: number }

const snapshotRecord = (progress: Progress, { seq, epoch, at, edit }: Moment): string =>
  formatRecord({
    seq,
    epoch,
    at: formatTimestamp(at),
    kind: 'snapshot',
    data: encodeProgress(progress),
    ...(edit !== undefined && { edit }),
  })

/** Moves a damaged segment aside, so that nothing of it is lost and nothing is built on it. */
export async function quarantine(file: string): Promise<string> {
  let aside = `${file}.quarantined`
  for (let n = 2; exists(aside); n++) aside = `${file}.quarantined-${n}`
  await moveFile(file, aside)
  return aside
}

const damaged = (file: string, { records, goodBytes }: Segment): RalphError =>
  new RalphError(
    'JOURNAL_DAMAGED',
    `a record behind number ${records.at(-1)?.seq ?? 0} (byte ${goodBytes}) is damaged, good ones follow`,
    {
      place: { file },
      hint: 'see what is left with: ralph doctor <sprint-dir>; go on with: ralph doctor <sprint-dir> --repair',
    },
  )

const stuck = (folder: string, cause: unknown): RalphError =>
  new RalphError('FILE_UNWRITABLE', 'a new segment of the journal could be neither begun nor taken back', {
    place: { file: folder },
    hint: 'run the same command again',
    cause,
  })

const unreadable = (file: string, message: string): RalphError =>
  new RalphError('JOURNAL_DAMAGED', message, {
    place: { file },
    hint: 'go on with: ralph doctor <sprint-dir> --repair',
  })
