import { RalphError } from '../../contract/errors.ts'
import type { Progress } from '../../contract/progress.ts'
import type { Redact } from '../../contract/secrets/redact.ts'
import type { FileLock } from '../../platform/files/file-lock.ts'
import { fileSignature, isNoSpaceError, createFolder, unwritableFile } from '../../platform/files/files.ts'
import type { ProgressStore } from '../../runtime/ports.ts'
import type { ExternalChanges, DetectedEdit, EditBaseline } from '../edits/edit-watch.ts'
import {
  openJournal,
  readProgressAt,
  readJournal,
  type Fold,
  type Journal,
  type JournalPosition,
  type RecoveredJournal,
} from '../state/journal.ts'
import { keepSeedFile, readSeedFile, type ImportReport, type SeedFile } from '../state/read-seed.ts'
import { readProgressFile, readShownRev } from '../state/progress-file.ts'
import { openProjection, type Projection } from './projection.ts'
import {
  confirmAuthorVersion,
  forgetAuthorVersions,
  storeAuthorVersion,
  readAuthorVersions,
} from '../edits/author-versions.ts'
import { writeGitignore, progressPath, sprintPath, removeLeftovers, archiveAttempts } from '../state/sprint-folder.ts'
import { reopenCompleted } from '../state/import-progress.ts'
import { bindState, hasId, restoreId, restoreState, type BindOptions } from '../state/state-folder.ts'
import { lockSprintFolder } from '../state/sprint-lock.ts'

/** The state of one sprint, owned by this process until closed. */
export interface SprintStore extends ProgressStore {
  /** The progress that was saved last. */
  readonly current: () => Progress
  readonly flush: () => Promise<void>
  /** Checks PROGRESS.yaml for edits. */
  readonly checkForEdits: () => Promise<void>
  /** Applies the edits found so far; resolves with them. Only before there is a listener. */
  readonly settleEdits: () => Promise<ExternalChanges>
  /** The listener must save each edit as one fact, in order; `close()` saves the rest. */
  readonly onEdited: (listener: (edited: ExternalChanges) => void) => void
  readonly close: () => Promise<void>
}

export type SprintStoreOptions = {
  readonly sprintDir: string
  readonly fold: Fold
  readonly now: () => number
  /** For what an agent writes into PROGRESS.yaml; by default, redacts keys with a known format. */
  readonly redact?: Redact
  readonly confirmMove?: BindOptions['confirmMove']
  /** Gives a sprint of another program the plan of its SPRINT.yaml. */
  readonly adopt?: ((imported: Progress) => Progress) | undefined
}

export type OpenedStore = {
  readonly store: SprintStore
  readonly progress: Progress
  readonly tornBytes: number
  /** Present if PROGRESS.yaml was that of another program. */
  readonly imported?: ImportReport
}

/**
 * Opens the sprint for this process. A sprint that has never started takes the `compiled` state; undefined if it has no state
 * at all. Fails at once, naming the owner, if another process holds it.
 */
export async function openSprintStore(
  options: SprintStoreOptions,
  compiled?: Progress,
): Promise<OpenedStore | undefined> {
  const { sprintDir, fold } = options
  await bindState(options)
  const lock = lockSprintFolder(options)
  try {
    await removeLeftovers(sprintDir)
    const recovered = await readJournal(sprintDir, fold, await readShownRev(sprintDir))
    const seed = recovered ? undefined : await readSeedFile(sprintDir)
    const known = recovered?.progress ?? (seed ? adoptSeed(seed, options) : await readImported(sprintDir))
    const progress = chooseState(known, compiled, options)
    if (!progress) {
      lock.release()
      return undefined
    }
    if (!recovered && progress.stats.currentIteration === 0) await archiveAttempts(sprintDir, options.now())
    const resumed = recovered && progress === known ? recovered : undefined
    const start: RecoveredJournal | JournalPosition = resumed ?? {
      progress,
      seq: recovered?.seq ?? 0,
      epoch: recovered?.epoch ?? 0,
    }
    const baseline = await readEditBaseline(options, recovered)
    const imported = seed && (await keepSeedFile(sprintDir, seed))
    const projection = openProjection(sprintDir, baseline, options.redact)
    // The projection replaces the file that it found when it was opened.
    if (seed && fileSignature(progressPath(sprintDir)) !== seed.signature) throw editedDuringImport(sprintDir)
    const journal = await openJournal(sprintDir, start, options.now)
    const store = createSprintStore(options, { lock, journal, projection, progress })
    await projection.update(progress)
    return { store, progress, tornBytes: recovered?.tornBytes ?? 0, ...(imported && { imported }) }
  } catch (error) {
    lock.release()
    throw unwritableIfErrno(error, sprintDir)
  }
}

const adoptSeed = ({ progress }: SeedFile, { adopt }: SprintStoreOptions): Progress =>
  adopt && progress.status !== 'not-started' ? adopt(progress) : progress

const editedDuringImport = (sprintDir: string): RalphError =>
  new RalphError('PROGRESS_CHANGED', 'was edited while Ralph imported it; nothing was replaced', {
    place: { file: progressPath(sprintDir) },
    hint: 'repeat the command once the edit is done',
  })

async function readImported(sprintDir: string): Promise<Progress | undefined> {
  const progress = await readProgressFile(sprintDir)
  return progress && reopenCompleted(progress)
}

function chooseState(
  known: Progress | undefined,
  compiled: Progress | undefined,
  { sprintDir, adopt }: SprintStoreOptions,
): Progress | undefined {
  if (!compiled) return known
  // A message or an edit of PROGRESS.yaml can arrive before the agent has ever started.
  if (known?.status === 'not-started' && known.rev > 0 && known.mode === compiled.mode && adopt) return adopt(known)
  if (!known || known.status === 'not-started')
    return known?.messages ? { ...compiled, messages: known.messages } : compiled
  if (known.mode === compiled.mode) return known
  throw new RalphError(
    'NOT_SUPPORTED',
    `the sprint has run in ${known.mode} mode and cannot continue in ${compiled.mode} mode`,
    { place: { file: sprintPath(sprintDir) }, hint: 'start over with: ralph compile <sprint> --fresh' },
  )
}

/** The revisions that an edit can be compared with, including versions of authors who have not read Ralph's since. */
async function readEditBaseline(
  { sprintDir, fold }: SprintStoreOptions,
  recovered: RecoveredJournal | undefined,
): Promise<EditBaseline> {
  const older: EditBaseline['older'] = (rev) => readProgressAt(sprintDir, fold, rev)
  if (recovered) {
    const { bases, edit } = recovered
    return { bases, edit, seen: await readAuthorVersions(sprintDir, edit), older }
  }
  await forgetAuthorVersions(sprintDir)
  return { older }
}

type StoreParts = {
  readonly lock: FileLock
  readonly journal: Journal
  readonly projection: Projection
  progress: Progress
}

function createSprintStore(
  options: SprintStoreOptions,
  { lock, journal, projection, ...parts }: StoreParts,
): SprintStore {
  const { sprintDir, fold, now } = options
  const ownership = createOwnership(options, lock, journal)
  const unsaved: DetectedEdit[] = []
  let { progress } = parts
  let listener: ((edited: ExternalChanges) => void) | undefined
  projection.onEdited((edit) => {
    unsaved.push(edit)
    listener?.(edit)
  })

  const save: SprintStore['save'] = async (next, fact) => {
    try {
      await ownership.assert(progress)
      const edit = fact.type === 'edited' ? unsaved[0] : undefined
      if (edit?.seen) await storeAuthorVersion(sprintDir, edit.source, edit.seen)
      await journal.record(fact, next, edit?.source)
      progress = next
      if (edit) {
        unsaved.shift()
        projection.settled()
        if (edit.seen) await confirmAuthorVersion(sprintDir, edit.seen.rev)
      }
      await projection.update(next)
    } catch (cause) {
      throw unwritableIfErrno(cause, sprintDir)
    }
  }
  const saveEdits = async (): Promise<ExternalChanges> => {
    const found = unsaved.slice()
    for (const { edits, refused } of found) {
      const fact = { type: 'edited' as const, at: now(), edits, refused }
      await save(fold(progress, fact), fact)
    }
    return { edits: found.flatMap(({ edits }) => edits), refused: found.flatMap(({ refused }) => refused) }
  }
  return {
    current: () => progress,
    save,
    flush: projection.flush,
    showWaiting: projection.showWaiting,
    checkForEdits: projection.checkForEdits,
    settleEdits: saveEdits,
    onEdited(added) {
      listener = added
      for (const edit of unsaved) added(edit)
    },
    async close() {
      try {
        while ((await projection.close()) === 'edited') await saveEdits()
      } finally {
        await journal.close()
        ownership.release()
      }
    },
  }
}

/** The sprint belongs to this process as long as the lock and the journal are the files that it has open. */
function createOwnership(options: SprintStoreOptions, initialLock: FileLock, journal: Journal) {
  const { sprintDir, fold } = options
  let lock = initialLock
  return {
    /**
     * The files in the project may have been deleted, e.g. by an agent with `git clean`, or even those of the state: the state in memory is authoritative, so
     * write it again. Unless another process found the sprint free and took it over: then the sprint belongs to that one.
     */
    async assert(progress: Progress): Promise<void> {
      if (!hasId(sprintDir)) await restoreSprintFolder(sprintDir)
      if (lock.isHeld() && journal.isInPlace()) return
      await restoreState(options)
      if (!lock.isHeld()) {
        const again = lockSprintFolder(options)
        lock.release()
        lock = again
      }
      const found = await readJournal(sprintDir, fold)
      if (found && found.epoch > journal.epoch) throw takenOverError(sprintDir)
      if (!journal.isInPlace()) await journal.restore(progress)
    },
    release: () => lock.release(),
  }
}

async function restoreSprintFolder(sprintDir: string): Promise<void> {
  await createFolder(sprintDir)
  await writeGitignore(sprintDir)
  await restoreId(sprintDir)
}

const takenOverError = (sprintDir: string): RalphError =>
  new RalphError('SPRINT_LOCKED', 'another process has taken the sprint over', {
    place: { file: sprintDir },
    hint: 'its lock was deleted; the other process continues',
  })

/** Adds the path to system errors; our own errors and bugs stay as they are. */
const unwritableIfErrno = (cause: unknown, sprintDir: string): unknown =>
  isNoSpaceError(cause) || (cause instanceof Error && 'syscall' in cause)
    ? unwritableFile(progressPath(sprintDir), cause)
    : cause
