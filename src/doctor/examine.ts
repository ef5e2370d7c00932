import { errorMessage } from '../contract/errors.ts'
import { join } from 'node:path'
import { z } from 'zod'
import { Progress } from '../contract/progress.ts'
import { attemptFiles, attemptState, type AttemptState } from '../platform/processes/attempt-folder.ts'
import { exists, fileSize, listFolder, listFolders, readBytes } from '../platform/files/files.ts'
import { recordKey, stateFolder, stateId } from '../platform/files/state-folder.ts'
import { broken, notice, type Finding } from './finding.ts'
import type { ReplayEntry, Evidence } from './invariants.ts'
import {
  countIntactRecords,
  readSegment,
  type IntactSegment,
  type JournalRecord,
} from '../storage/state/journal-record.ts'
import { journalFolder, segmentPattern } from '../storage/state/journal.ts'
import { readProgressFile } from '../storage/state/progress-file.ts'
import { findLeftovers } from '../storage/state/sprint-folder.ts'
import { readSprintOwner } from '../storage/state/sprint-lock.ts'
import { hasId } from '../storage/state/state-folder.ts'

/** One segment file of the journal as it is on disk. */
export type SegmentFile = {
  readonly file: string
  readonly number: number
  readonly entries: readonly ReplayEntry[]
  /** Bytes of complete records, and of the whole file. */
  readonly goodBytes: number
  readonly bytes: number
  /** `unreadable`: complete records that do not decode. `headless`: no snapshot at the start, `beheaded`: it is damaged. */
  readonly problem?: 'torn' | 'damaged' | 'unreadable' | 'headless' | 'beheaded'
  /** An older segment whose records are intact and without a gap; only their content was not checked. */
  readonly unchecked?: IntactSegment
}

/** How much of the journal is replayed. Every record's checksum and number are verified in any case. */
export type ExaminationDepth = 'newest' | 'all'

/** Segments that are replayed by default: about 5,000 records, which are more than 1,000 iterations with a hook and a check. */
const newestSegments = 6

/** A sprint as it is on disk, and what is wrong with its files. Read-only. */
export type SprintExamination = Evidence & {
  readonly segments: readonly SegmentFile[]
  readonly leftovers: readonly string[]
  readonly owner: string | undefined
  /** False if another user runs the sprint, or with another RALPH_HOME: only PROGRESS.yaml can be read. */
  readonly hasState: boolean
  /** What is wrong with the files themselves. */
  readonly fileFindings: readonly Finding[]
}

export async function examineSprint(sprintDir: string, depth: ExaminationDepth = 'all'): Promise<SprintExamination> {
  const owner = readSprintOwner(sprintDir)
  // Read in this order, a sprint that runs at the same time looks consistent: a fact precedes its attempt folder, and an attempt ends before its end is recorded.
  const names = await listAttemptFolders(sprintDir)
  const segments = await readSegments(sprintDir, depth)
  const shown = await readShownProgress(sprintDir)
  const leftovers = await findLeftovers(sprintDir)
  return {
    segments,
    entries: selectUsableEntries(segments),
    shown: shown.progress,
    attempts: names.map((name) => ({ name, state: examineAttempt(join(attemptsFolder(sprintDir), name)) })),
    isRunning: owner !== undefined,
    isRepaired: (await listFolder(journalFolder(sprintDir))).some((name) => name.includes('.quarantined')),
    leftovers,
    owner,
    hasState: stateId(sprintDir) !== undefined || !hasId(sprintDir),
    fileFindings: [
      ...segments.flatMap((segment, index) => checkSegment(segment, index === segments.length - 1)),
      ...findGaps(segments),
      ...(owner === undefined
        ? [...shown.findings, ...leftovers.map((path) => notice('I1', `${path} is left over`))]
        : []),
    ],
  }
}

async function readSegments(sprintDir: string, depth: ExaminationDepth): Promise<SegmentFile[]> {
  const folder = journalFolder(sprintDir)
  const names = (await listFolder(folder)).filter((name) => segmentPattern.test(name)).toSorted()
  const old = depth === 'all' ? 0 : names.length - newestSegments
  return Promise.all(
    names.map(async (name, index) => {
      const file = join(folder, name)
      const bytes = await readBytes(file)
      const unchecked = index < old ? countIntactRecords(bytes, recordKey(sprintDir)) : undefined
      const size = { goodBytes: bytes.length, bytes: bytes.length }
      if (unchecked) return { file, number: Number(name.slice(0, 8)), entries: [], ...size, unchecked }
      const { records, goodBytes, problem } = readSegment(bytes, recordKey(sprintDir))
      const entries = records.map(decodeEntry)
      const isWhole = entries.every((entry) => entry !== undefined)
      const headless = problem === 'damaged' ? 'beheaded' : 'headless'
      const state = records[0]?.kind === 'snapshot' ? (isWhole ? problem : 'unreadable') : headless
      return {
        file,
        number: Number(name.slice(0, 8)),
        entries: entries
          .slice(0, isWhole ? undefined : entries.indexOf(undefined))
          .filter((entry) => entry !== undefined),
        goodBytes,
        bytes: bytes.length,
        ...(state && { problem: state }),
      }
    }),
  )
}

const FactShape = z.looseObject({ type: z.string(), at: z.number() })

function decodeEntry({ seq, epoch, kind, data }: JournalRecord): ReplayEntry | undefined {
  if (kind === 'run') return { seq, epoch, kind }
  if (kind === 'snapshot') {
    const decoded = Progress.safeParse(data)
    return decoded.success ? { seq, epoch, kind, progress: decoded.data } : undefined
  }
  const fact = FactShape.safeParse(data)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the checksum proves that we wrote it, and we only write facts
  return fact.success ? { seq, epoch, kind, fact: data as Extract<ReplayEntry, { kind: 'fact' }>['fact'] } : undefined
}

/** Entries without a gap: after a damaged segment, replay restarts at the next snapshot. */
function selectUsableEntries(segments: readonly SegmentFile[]): ReplayEntry[] {
  const holes = segments.slice(0, -1).map(({ problem }) => problem !== undefined)
  const start = holes.lastIndexOf(true) + 1
  return segments.slice(start).flatMap(({ entries, problem }) => (isHeadless(problem) ? [] : entries))
}

/** Gaps after segments that are not replayed. A snapshot of a later epoch starts again at any number. */
const findGaps = (segments: readonly SegmentFile[]): Finding[] =>
  segments.flatMap(({ unchecked }, index) => {
    const next = segments[index + 1]
    if (!unchecked || !next || isHeadless(next.problem)) return []
    const { last } = unchecked
    const first = next.unchecked?.first ?? next.entries[0]
    const isGap = first !== undefined && first.seq !== last.seq + 1 && first.epoch <= last.epoch
    return isGap ? [broken('I1', `record ${first.seq} follows record ${last.seq}`)] : []
  })

export const isHeadless = (problem: SegmentFile['problem']): boolean => problem === 'headless' || problem === 'beheaded'

function checkSegment({ file, problem, entries, goodBytes, bytes }: SegmentFile, isLast: boolean): Finding[] {
  const behind = `behind record ${entries.at(-1)?.seq ?? 0} (byte ${goodBytes} of ${bytes})`
  if (!problem) return []
  if (problem === 'headless') return [notice('I1', `${file} holds no snapshot; the segment before it counts`)]
  if (problem === 'beheaded') return [broken('I1', `${file} is damaged from its first record on`)]
  if (problem === 'torn' && isLast) {
    return [notice('I1', `${file}: the run was cut off while writing, ${behind}; that was never acknowledged`)]
  }
  const what = problem === 'damaged' ? 'is damaged' : problem === 'torn' ? 'ends too early' : 'makes no sense'
  const effect = isLast ? '' : '; later segments do not depend on it'
  return [broken('I1', `${file} ${what} ${behind}${effect}`)]
}

async function readShownProgress(sprintDir: string): Promise<{ progress: Progress | undefined; findings: Finding[] }> {
  try {
    return { progress: await readProgressFile(sprintDir), findings: [] }
  } catch (error) {
    const why = errorMessage(error)
    return {
      progress: undefined,
      findings: [notice('I8', `PROGRESS.yaml cannot be read: ${why}; the next run keeps a copy`)],
    }
  }
}

const attemptsFolder = (sprintDir: string): string => join(stateFolder(sprintDir), 'attempts')

const listAttemptFolders = (sprintDir: string): Promise<string[]> => listFolders(attemptsFolder(sprintDir))

/** `0` and a newline. */
const shortestExitBytes = 2

/** A sprint of an earlier version has tens of thousands of folders: most have an exit code, and nothing else to be read. */
const examineAttempt = (folder: string): AttemptState =>
  fileSize(join(folder, attemptFiles.exit)) >= shortestExitBytes && !exists(join(folder, attemptFiles.ended))
    ? 'ended'
    : attemptState(folder)
