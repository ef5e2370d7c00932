import { hostname } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { RalphError } from '../contract/errors.ts'
import { Progress } from '../contract/progress.ts'
import { formatTimestamp } from '../contract/time.ts'
import { openAppendFile, type AppendFile } from '../platform/append-file.ts'
import { writeFileAtomic } from '../platform/atomic-file.ts'
import { listFolder, makeFolder, moveFile, readBytes } from '../platform/files.ts'
import type { ProgressStore } from '../runtime/ports.ts'
import { formatRecord, readSegment, type JournalRecord, type Segment } from './journal-record.ts'

type Fact = Parameters<ProgressStore['save']>[1]

/** Applies a fact that was recorded to the progress it was recorded for. */
export type Fold = (progress: Progress, fact: Fact) => Progress

/** What a journal holds, as read from the disk. */
export type Recovered = {
  readonly progress: Progress
  readonly seq: number
  readonly epoch: number
  readonly segment: number
  readonly goodBytes: number
  readonly snapshotBytes: number
  /** Bytes of a record that was being written when the writer died. */
  readonly tornBytes: number
}

/** The smallest distance between two snapshots; a bigger progress waits until as much has been written again. */
const snapshotEveryBytes = 256 * 1024

export const journalFolder = (sprintDir: string): string => join(sprintDir, 'journal')

const segmentName = (number: number): string => `${String(number).padStart(8, '0')}.log`
const segmentPattern = /^(\d{8})\.log$/

/** The state at the end of the journal; undefined if there is none. Changes nothing on the disk. */
export async function readJournal(sprintDir: string, fold: Fold): Promise<Recovered | undefined> {
  const folder = journalFolder(sprintDir)
  const numbers = await segmentsIn(folder)
  for (const number of numbers.toReversed()) {
    const file = join(folder, segmentName(number))
    const bytes = await readBytes(file)
    const segment = readSegment(bytes)
    if (segment.problem === 'damaged') throw damaged(file, segment)
    const [first, ...rest] = segment.records
    // A segment is put in place whole, with its snapshot; one without is from a disk that lost it. The one before still counts.
    if (first?.kind !== 'snapshot') continue
    return { ...replay(first, rest, fold, file), segment: number, ...sizes(bytes, segment, first) }
  }
  return undefined
}

async function segmentsIn(folder: string): Promise<number[]> {
  const names = await listFolder(folder)
  return names
    .flatMap((name) => segmentPattern.exec(name)?.[1] ?? [])
    .map(Number)
    .toSorted((a, b) => a - b)
}

const sizes = (bytes: Buffer, { goodBytes }: Segment, snapshot: JournalRecord) => ({
  goodBytes,
  tornBytes: bytes.length - goodBytes,
  snapshotBytes: Buffer.byteLength(formatRecord(snapshot)),
})

function replay(snapshot: JournalRecord, records: readonly JournalRecord[], fold: Fold, file: string) {
  const decoded = Progress.safeParse(snapshot.data)
  if (!decoded.success) throw unreadable(file, decoded.error.issues[0]?.message ?? 'its snapshot cannot be read')
  let progress = decoded.data
  let last = snapshot
  for (const record of records) {
    last = record
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the checksum says that we wrote it, and we write facts
    if (record.kind === 'fact') progress = fold(progress, record.data as Fact)
  }
  return { progress, seq: last.seq, epoch: last.epoch }
}

export interface Journal {
  /** Resolves when the fact and what it led to can no longer be lost. */
  readonly record: (fact: Fact, progress: Progress) => Promise<void>
  readonly close: () => Promise<void>
}

/** Opens the journal for a new run: a torn end is cut off, and the run's epoch is above all earlier ones. */
export async function openJournal(sprintDir: string, start: Recovered | Progress, now: () => number): Promise<Journal> {
  const folder = journalFolder(sprintDir)
  await makeFolder(folder)
  const recovered = 'goodBytes' in start ? start : await firstSegment(folder, start, now)
  const epoch = recovered.epoch + 1
  let { seq, segment, snapshotBytes } = recovered
  let file: AppendFile = await openAppendFile(join(folder, segmentName(segment)), recovered.goodBytes)

  const append = (kind: JournalRecord['kind'], data: unknown) =>
    file.append(formatRecord({ seq: ++seq, epoch, at: formatTimestamp(now()), kind, data }))

  const rotate = async (progress: Progress) => {
    const text = snapshotRecord(progress, { seq: ++seq, epoch, at: now() })
    await writeFileAtomic(join(folder, segmentName(segment + 1)), text)
    await file.close()
    segment++
    snapshotBytes = Buffer.byteLength(text)
    file = await openAppendFile(join(folder, segmentName(segment)), snapshotBytes)
  }

  await append('run', { pid: process.pid, host: hostname(), startedAt: formatTimestamp(now()) })
  return {
    async record(fact, progress) {
      const before = seq
      try {
        await append('fact', fact)
      } catch (error) {
        seq = before
        throw error
      }
      if (file.size() - snapshotBytes > Math.max(snapshotEveryBytes, snapshotBytes)) await rotate(progress)
    },
    close: () => file.close(),
  }
}

async function firstSegment(folder: string, progress: Progress, now: () => number): Promise<Recovered> {
  const numbers = await segmentsIn(folder)
  const segment = (numbers.at(-1) ?? 0) + 1
  const text = snapshotRecord(progress, { seq: 1, epoch: 0, at: now() })
  await writeFileAtomic(join(folder, segmentName(segment)), text)
  const goodBytes = Buffer.byteLength(text)
  return { progress, seq: 1, epoch: 0, segment, goodBytes, snapshotBytes: goodBytes, tornBytes: 0 }
}

const snapshotRecord = (progress: Progress, { seq, epoch, at }: { seq: number; epoch: number; at: number }): string =>
  formatRecord({ seq, epoch, at: formatTimestamp(at), kind: 'snapshot', data: z.encode(Progress, progress) })

/** Moves a damaged segment aside, so that nothing of it is lost and nothing is built on it. */
export async function quarantine(file: string): Promise<string> {
  const aside = `${file}.quarantined`
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

const unreadable = (file: string, message: string): RalphError =>
  new RalphError('JOURNAL_DAMAGED', message, {
    place: { file },
    hint: 'go on with: ralph doctor <sprint-dir> --repair',
  })
