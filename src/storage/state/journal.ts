import { hostname } from 'node:os'
import { join } from 'node:path'
import { RalphError, errorMessage } from '../../contract/errors.ts'
import { Progress } from '../../contract/progress.ts'
import { formatTimestamp } from '../../contract/time.ts'
import { openAppendFile, type AppendFile } from '../../platform/files/append-file.ts'
import { removeDurably, writeFileAtomic } from '../../platform/files/atomic-file.ts'
import { exists, listFolder, createFolder, moveFile, readBytes } from '../../platform/files/files.ts'
import { recordKey, stateFolder } from '../../platform/files/state-folder.ts'
import type { ProgressStore } from '../../runtime/ports.ts'
import { encodeProgress } from './encode-progress.ts'
import { serialize } from '../../platform/async.ts'
import { formatRecord, readSegment, type JournalRecord, type Segment } from './journal-record.ts'

type RecordedFact = Parameters<ProgressStore['save']>[1]

/** Applies a recorded fact to the progress before it. */
export type Fold = (progress: Progress, fact: RecordedFact) => Progress

/** Where a journal starts or continues: the record before its next one. */
export type JournalPosition = {
  readonly progress: Progress
  readonly seq: number
  readonly epoch: number
  /** Hash of the PROGRESS.yaml whose edit was recorded last. */
  readonly edit?: string | undefined
}

/** The content of a journal, as read from disk. */
export type RecoveredJournal = JournalPosition & {
  readonly segment: number
  readonly goodBytes: number
  readonly snapshotBytes: number
  /** Number of records after the snapshot. */
  readonly records: number
  /** Bytes of a record that the writer did not finish. */
  readonly tornBytes: number
  /** The last progress and the one that PROGRESS.yaml shows, by rev: the bases of possible edits. */
  readonly bases: ReadonlyMap<number, Progress>
}

/** Minimum distance between two snapshots; a bigger progress waits until the journal has grown by its size. */
const snapshotEveryBytes = 256 * 1024
/** Maximum number of records between two snapshots: with a long plan, replaying each takes a millisecond, and starts must be fast. */
const snapshotEveryRecords = 1000

export const journalFolder = (sprintDir: string): string => join(stateFolder(sprintDir), 'journal')

const segmentName = (number: number): string => `${String(number).padStart(8, '0')}.log`
export const segmentPattern = /^(\d{8})\.log$/

/** Reads the state at the end of the journal; undefined if there is none. Writes nothing. `shownRev`: the rev in PROGRESS.yaml. */
export async function readJournal(
  sprintDir: string,
  fold: Fold,
  shownRev?: number,
): Promise<RecoveredJournal | undefined> {
  const folder = journalFolder(sprintDir)
  const key = recordKey(sprintDir)
  const numbers = await listSegments(folder)
  for (const number of numbers.toReversed()) {
    const file = join(folder, segmentName(number))
    const bytes = await readBytes(file)
    const segment = readSegment(bytes, key)
    if (segment.problem === 'damaged') throw journalDamaged(file, segment)
    const [first, ...rest] = segment.records
    // A segment is created atomically, with its snapshot; one without it was lost by the disk. The previous segment still counts.
    if (first?.kind !== 'snapshot') continue
    const replayed = replayRecords(first, rest, { file, fold, shownRev })
    return { ...replayed, segment: number, ...measureSegment(bytes, segment) }
  }
  return undefined
}

type JournalRead = {
  readonly file: string
  readonly fold: Fold
  readonly shownRev: number | undefined
}

/** The progress at a `rev` of the current plan; undefined if the plan never had this rev, or it is no longer known. */
export async function readProgressAt(sprintDir: string, fold: Fold, rev: number): Promise<Progress | undefined> {
  const folder = journalFolder(sprintDir)
  const key = recordKey(sprintDir)
  for (const number of (await listSegments(folder)).toReversed()) {
    const { problem, records } = readSegment(await readBytes(join(folder, segmentName(number))), key)
    const [first, ...rest] = records
    if (problem === 'damaged') return undefined
    const snapshot = first?.kind === 'snapshot' ? Progress.safeParse(first.data, { jitless: true }).data : undefined
    if (!snapshot || snapshot.rev > rev) continue
    let progress = snapshot
    for (const record of rest) {
      if (progress.rev === rev) break
      if (record.kind === 'fact') progress = applyRecord(progress, record, fold)
    }
    return progress.rev === rev ? progress : undefined
  }
  return undefined
}

/** Segment numbers, oldest first. */
async function listSegments(folder: string): Promise<number[]> {
  const names = await listFolder(folder)
  return names
    .flatMap((name) => segmentPattern.exec(name)?.[1] ?? [])
    .map(Number)
    .toSorted((a, b) => a - b)
}

const measureSegment = (bytes: Buffer, { goodBytes, records }: Segment) => ({
  goodBytes,
  tornBytes: bytes.length - goodBytes,
  snapshotBytes: bytes.indexOf(10) + 1,
  records: records.length - 1,
})

function replayRecords(
  snapshot: JournalRecord,
  records: readonly JournalRecord[],
  { fold, file, shownRev }: JournalRead,
) {
  // Parsed once: letting zod compile the schema would take three times as long as parsing.
  const decoded = Progress.safeParse(snapshot.data, { jitless: true })
  if (!decoded.success) throw journalUnreadable(file, decoded.error.issues[0]?.message ?? 'its snapshot cannot be read')
  let progress = decoded.data
  let { edit } = snapshot
  let shown = progress
  for (const record of records) {
    if (record.kind !== 'fact') continue
    try {
      progress = applyRecord(progress, record, fold)
    } catch (cause) {
      throw journalUnreadable(file, `record ${record.seq} cannot be applied: ${errorMessage(cause)}`)
    }
    edit = record.edit ?? edit
    if (progress.rev === shownRev) shown = progress
  }
  const { seq, epoch } = records.at(-1) ?? snapshot
  return { progress, seq, epoch, edit, bases: new Map([shown, progress].map((base) => [base.rev, base])) }
}

const applyRecord = (progress: Progress, { data }: JournalRecord, fold: Fold): Progress =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the checksum proves that Ralph wrote it, and Ralph writes facts
  fold(progress, data as RecordedFact)

export interface Journal {
  /** Greater than that of every earlier run. */
  readonly epoch: number
  /**
   * Resolves when the fact and its result are durable. If it rejects, the fact is not in the journal. `edit`: hash of the
   * PROGRESS.yaml that the fact is about.
   */
  readonly record: (fact: RecordedFact, progress: Progress, edit?: string) => Promise<void>
  /** False if the open segment was deleted or replaced. */
  readonly isInPlace: () => boolean
  /** Starts a new segment in a folder that was emptied during the run. */
  readonly restore: (progress: Progress) => Promise<void>
  readonly close: () => Promise<void>
}

/** Opens the journal for a new run: cuts off a torn end, and uses an epoch above all earlier ones. */
export async function openJournal(
  sprintDir: string,
  start: RecoveredJournal | JournalPosition,
  now: () => number,
): Promise<Journal> {
  const folder = journalFolder(sprintDir)
  const key = recordKey(sprintDir)
  const epoch = start.epoch + 1
  const enqueue = serialize()
  let { seq, edit } = start
  let broken: unknown
  await createFolder(folder)
  let open = 'segment' in start ? await copyLastSegment(folder, start) : await begin(start.progress)

  async function begin(progress: Progress, number?: number): Promise<OpenSegment> {
    const text = snapshotRecord(progress, { seq: seq + 1, epoch, at: now(), edit }, key)
    const segment = await startSegment(folder, number ?? (await nextSegment(folder)), text)
    seq++
    return segment
  }
  const append = async (kind: JournalRecord['kind'], data: unknown, about?: string) => {
    const at = formatTimestamp(now())
    await open.file.append(formatRecord({ seq: seq + 1, epoch, at, kind, data, ...(about && { edit: about }) }, key))
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
      // Rotation only bounds the next recovery, so it can wait; but a new segment would count, so remove it.
      await removeDurably(join(folder, segmentName(number))).catch(
        (error: unknown) => (broken = segmentStuck(folder, error)),
      )
    }
  }

  await append('run', { pid: process.pid, host: hostname(), startedAt: formatTimestamp(now()) })
  return {
    epoch,
    record: (fact, progress, about) =>
      enqueue(async () => {
        if (broken) throw broken
        await append('fact', fact, about)
        edit = about ?? edit
        if (shouldRotate(open)) await rotate(progress)
      }),
    isInPlace: () => open.file.isInPlace(),
    restore: (progress) =>
      enqueue(async () => {
        await createFolder(folder)
        const next = await begin(progress)
        await open.file.close()
        open = next
      }),
    close: () => enqueue(() => open.file.close()),
  }
}

type OpenSegment = Pick<RecoveredJournal, 'snapshotBytes'> & {
  readonly file: AppendFile
  readonly number: number
  records: number
}

const shouldRotate = ({ file, snapshotBytes, records }: OpenSegment): boolean =>
  file.size() - snapshotBytes > Math.max(snapshotEveryBytes, snapshotBytes) || records >= snapshotEveryRecords

/**
 * Replaces the last segment by a copy: a run that lost its lock and still writes has the old file open, which is no longer
 * read by any process.
 */
async function copyLastSegment(folder: string, recovered: RecoveredJournal): Promise<OpenSegment> {
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

const nextSegment = async (folder: string): Promise<number> => ((await listSegments(folder)).at(-1) ?? 0) + 1

type SnapshotHeader = Omit<JournalPosition, 'progress'> & { readonly at: number }

const snapshotRecord = (progress: Progress, { seq, epoch, at, edit }: SnapshotHeader, key?: Buffer): string =>
  formatRecord(
    {
      seq,
      epoch,
      at: formatTimestamp(at),
      kind: 'snapshot',
      data: encodeProgress(progress),
      ...(edit !== undefined && { edit }),
    },
    key,
  )

type JournalCopy = {
  /** A folder with the segments of a journal without MACs, and one that gets them with MACs. */
  readonly from: string
  readonly to: string
  readonly key: Buffer
  readonly now: number
  /** Replaces the state at the end of the journal. */
  readonly end?: (progress: Progress) => Progress
}

/** Copies the journal of an earlier version: authenticates each record, drops a torn tail, and throws if a segment is damaged. */
export async function copyJournal({ from, to, key, ...copy }: JournalCopy, last: RecoveredJournal): Promise<void> {
  await createFolder(to)
  for (const name of await listFolder(from)) {
    const bytes = await readBytes(join(from, name))
    if (!segmentPattern.test(name)) {
      if (recordedEditPattern.test(name)) await writeFileAtomic(join(to, name), bytes)
      continue
    }
    const segment = readSegment(bytes)
    if (segment.problem === 'damaged') throw journalDamaged(join(from, name), segment)
    await writeFileAtomic(join(to, name), segment.records.map((record) => formatRecord(record, key)).join(''))
  }
  const end = copy.end?.(last.progress) ?? last.progress
  if (end === last.progress) return
  const { seq, epoch, edit } = last
  const text = snapshotRecord(end, { seq: seq + 1, epoch: epoch + 1, at: copy.now, edit }, key)
  await writeFileAtomic(join(to, segmentName(await nextSegment(to))), text)
}

/** Versions of PROGRESS.yaml that edits are compared with, and segments that a repair moved aside. */
const recordedEditPattern = /^edit-\d+\.json$|\.quarantined/

/** Moves a damaged segment aside, so that nothing is lost and nothing builds on it. */
export async function quarantineSegment(file: string): Promise<string> {
  let aside = `${file}.quarantined`
  for (let n = 2; exists(aside); n++) aside = `${file}.quarantined-${n}`
  await moveFile(file, aside)
  return aside
}

const journalDamaged = (file: string, { records, goodBytes, isForged }: Segment): RalphError =>
  new RalphError(
    'JOURNAL_DAMAGED',
    `a record after number ${records.at(-1)?.seq ?? 0} (byte ${goodBytes}) ${isForged === true ? 'was not written by Ralph' : 'is damaged, good ones follow'}`,
    {
      place: { file },
      hint: 'see what is left with: ralph doctor <sprint>; repair with: ralph doctor <sprint> --repair',
    },
  )

const segmentStuck = (folder: string, cause: unknown): RalphError =>
  new RalphError('FILE_UNWRITABLE', 'a new segment of the journal could neither be started nor removed', {
    place: { file: folder },
    hint: 'run the same command again',
    cause,
  })

const journalUnreadable = (file: string, message: string): RalphError =>
  new RalphError('JOURNAL_DAMAGED', message, {
    place: { file },
    hint: 'repair with: ralph doctor <sprint> --repair',
  })
