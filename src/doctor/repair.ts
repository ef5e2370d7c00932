import { dirname, join } from 'node:path'
import { RalphError } from '../contract/errors.ts'
import type { Progress } from '../contract/progress.ts'
import { openAppendFile } from '../platform/files/append-file.ts'
import { killMarked } from '../platform/processes/process-table.ts'
import { checkInvariants, type ReplayEntry } from './invariants.ts'
import { examineSprint, isHeadless, type SprintExamination, type SegmentFile } from './examine.ts'
import { reopenCompleted } from '../storage/state/import-progress.ts'
import { openJournal, quarantineSegment } from '../storage/state/journal.ts'
import { writeProgressFile } from '../storage/state/progress-file.ts'
import { removeLeftovers } from '../storage/state/sprint-folder.ts'
import { lockSprintFolder } from '../storage/state/sprint-lock.ts'

type RepairOptions = { readonly sprintDir: string; readonly now: () => number }

/**
 * Repairs what can be repaired without losing data, and describes each repair. Never deletes acknowledged records; moves
 * untrustworthy files aside. Rejects if a process is running the sprint.
 */
export async function repairSprint(options: RepairOptions): Promise<string[]> {
  const { sprintDir } = options
  const lock = lockSprintFolder(options)
  try {
    const removed = await removeLeftovers(sprintDir)
    const before = await examineSprint(sprintDir)
    return [
      ...removed.map((path) => `removed ${path}, left behind by a killed run`),
      ...(await repairJournal(before, options)),
      ...(await restoreProgressFile(sprintDir)),
      ...endLeftoverProcesses(before, sprintDir),
    ]
  } finally {
    lock.release()
  }
}

async function repairJournal(
  { segments, entries, shown }: SprintExamination,
  options: RepairOptions,
): Promise<string[]> {
  const done: string[] = []
  for (const segment of segments.filter(({ problem }) => isHeadless(problem))) {
    done.push(`moved ${segment.file}, which holds no snapshot, to ${await quarantineSegment(segment.file)}`)
  }
  const last = segments.findLast(({ problem }) => !isHeadless(problem))
  if (last?.problem === 'torn') done.push(await truncateSegment(last))
  const checked = checkInvariants({ entries, attempts: [], isRunning: true })
  const cannotReplay = checked.findings.some(({ invariant }) => invariant === 'I8')
  const isBehind = shown !== undefined && checked.progress !== undefined && shown.rev > checked.progress.rev
  const isReadable = last?.problem === undefined || last.problem === 'torn'
  if (isReadable && !cannotReplay && !isBehind) return done
  return [...done, ...(await startNewSegment(last, { good: checked.progress, shown, entries }, options))]
}

async function truncateSegment({ file, goodBytes, bytes }: SegmentFile): Promise<string> {
  const open = await openAppendFile(file, goodBytes)
  await open.close()
  return `cut ${bytes - goodBytes} bytes off the end of ${file}: a record that was never acknowledged`
}

type RecoverySources = {
  readonly good: Progress | undefined
  readonly shown: Progress | undefined
  readonly entries: readonly ReplayEntry[]
}

/** Starts from PROGRESS.yaml if it is newer than the good part of the journal. */
async function startNewSegment(
  damaged: SegmentFile | undefined,
  { good, shown, entries }: RecoverySources,
  { sprintDir, now }: RepairOptions,
): Promise<string[]> {
  const isShownNewer = shown !== undefined && shown.rev > (good?.rev ?? -1)
  const progress = isShownNewer ? reopenCompleted(shown) : good
  if (!progress || !damaged) {
    throw new RalphError('JOURNAL_DAMAGED', 'neither the journal nor PROGRESS.yaml holds a usable state', {
      place: { file: damaged?.file ?? sprintDir },
      hint: 'start over with: ralph compile <sprint-dir> --fresh',
    })
  }
  const aside = await quarantineSegment(damaged.file)
  const { seq = 0, epoch = 0 } = entries.at(-1) ?? {}
  const journal = await openJournal(sprintDir, { progress, seq, epoch }, now)
  await journal.close()
  const source = isShownNewer ? 'PROGRESS.yaml' : 'the good part of the journal'
  return [
    `moved ${damaged.file} to ${aside}: its content is kept but no longer used`,
    `began a new segment in ${dirname(damaged.file)} from ${source}, at rev ${progress.rev}, iteration ${progress.stats.currentIteration}`,
  ]
}

/** Rewrites PROGRESS.yaml if it is missing or older than the journal; the next run applies user edits. */
async function restoreProgressFile(sprintDir: string): Promise<string[]> {
  const examined = await examineSprint(sprintDir)
  const { progress } = checkInvariants({ ...examined, isRunning: true })
  if (!progress || examined.fileFindings.some(({ invariant }) => invariant === 'I8')) return []
  if (examined.shown && examined.shown.rev >= progress.rev) return []
  await writeProgressFile(sprintDir, progress)
  return [`wrote PROGRESS.yaml, at rev ${progress.rev}`]
}

function endLeftoverProcesses(examined: SprintExamination, sprintDir: string): string[] {
  const { findings } = checkInvariants({ ...examined, isRunning: true })
  const names = findings.flatMap(({ invariant, attempt }) => (invariant === 'I7' && attempt ? [attempt] : []))
  for (const name of names) killMarked(`${sprintDir}#${name}`)
  return names.map((name) => `ended leftover processes of ${join('attempts', name)}`)
}
