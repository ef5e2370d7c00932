import { RalphError } from '../../contract/errors.ts'
import type { Progress } from '../../contract/progress.ts'
import type { Redact } from '../../contract/redact.ts'
import type { FileLock } from '../../platform/files/file-lock.ts'
import { isDiskFull, makeFolder, unwritable } from '../../platform/files/files.ts'
import type { ProgressStore } from '../../runtime/ports.ts'
import type { Edited, FoundEdit, KnownBefore } from '../edits/edit-watch.ts'
import {
  openJournal,
  progressAt,
  readJournal,
  type Fold,
  type Journal,
  type Position,
  type Recovered,
} from '../state/journal.ts'
import { readProgressFile, shownRev } from '../state/progress-file.ts'
import { projectTo, type Projection } from './projection.ts'
import { countSeen, forgetSeen, keepSeen, readSeen } from '../edits/seen-edits.ts'
import { hideState, progressPath, removeLeftovers, setAttemptsAside } from '../state/sprint-folder.ts'
import { lockSprint } from '../state/sprint-lock.ts'

/** The state of one sprint, owned by this process until closed. */
export interface SprintStore extends ProgressStore {
  readonly flush: () => Promise<void>
  /** Checks PROGRESS.yaml for edits. */
  readonly look: () => Promise<void>
  /** The listener must save each edit as one fact, in order; `close()` saves the rest. */
  readonly onEdited: (listener: (edited: Edited) => void) => void
  readonly close: () => Promise<void>
}

export type StoreOptions = {
  readonly sprintDir: string
  readonly fold: Fold
  readonly now: () => number
  /** For what an agent writes into PROGRESS.yaml; by default, redacts keys with a known format. */
  readonly redact?: Redact
}

/**
 * Opens the sprint for this process. `first` returns the state of a sprint that has none yet. Fails at once, naming the owner,
 * if another process holds it.
 */
export async function openSprintStore(
  options: StoreOptions,
  first: (known: Progress | undefined) => Promise<Progress | undefined>,
): Promise<{ readonly store: SprintStore; readonly progress: Progress; readonly tornBytes: number } | undefined> {
  const { sprintDir, fold } = options
  const lock = lockSprint(options)
  try {
    await removeLeftovers(sprintDir)
    const recovered = await readJournal(sprintDir, fold, await shownRev(sprintDir))
    const known = recovered?.progress ?? (await readProgressFile(sprintDir))
    const progress = await first(known)
    if (!progress) {
      lock.release()
      return undefined
    }
    if (!recovered && progress.stats.currentIteration === 0) await setAttemptsAside(sprintDir, options.now())
    const goesOn = recovered && progress === known ? recovered : undefined
    const start: Recovered | Position = goesOn ?? { progress, seq: recovered?.seq ?? 0, epoch: recovered?.epoch ?? 0 }
    const journal = await openJournal(sprintDir, start, options.now)
    const projection = projectTo(sprintDir, await knownBefore(options, goesOn), options.redact)
    const store = storeOf(options, { lock, journal, projection, progress })
    await projection.update(progress)
    return { store, progress, tornBytes: recovered?.tornBytes ?? 0 }
  } catch (error) {
    lock.release()
    throw unwritableIfErrno(error, sprintDir)
  }
}

/** The revisions that an edit can be compared with, including versions of authors who have not read Ralph's since. */
async function knownBefore({ sprintDir, fold }: StoreOptions, goesOn: Recovered | undefined): Promise<KnownBefore> {
  const older: KnownBefore['older'] = (rev) => progressAt(sprintDir, fold, rev)
  if (goesOn) return { bases: goesOn.bases, edit: goesOn.edit, seen: await readSeen(sprintDir, goesOn.edit), older }
  await forgetSeen(sprintDir)
  return { older }
}

type Held = { readonly lock: FileLock; readonly journal: Journal; readonly projection: Projection; progress: Progress }

function storeOf(options: StoreOptions, { lock, journal, projection, ...held }: Held): SprintStore {
  const { sprintDir, fold, now } = options
  const ownership = ownershipOf(options, lock, journal)
  const unsaved: FoundEdit[] = []
  let { progress } = held
  let listener: ((edited: Edited) => void) | undefined
  projection.onEdited((edit) => {
    unsaved.push(edit)
    listener?.(edit)
  })

  const save: SprintStore['save'] = async (next, fact) => {
    try {
      await ownership.assert(progress)
      const edit = fact.type === 'edited' ? unsaved[0] : undefined
      if (edit?.seen) await keepSeen(sprintDir, edit.source, edit.seen)
      await journal.record(fact, next, edit?.source)
      progress = next
      if (edit) {
        unsaved.shift()
        projection.settled()
        if (edit.seen) await countSeen(sprintDir, edit.seen.rev)
      }
      await projection.update(next)
    } catch (cause) {
      throw unwritableIfErrno(cause, sprintDir)
    }
  }
  const saveEdits = async () => {
    for (const { edits, refused } of unsaved.slice()) {
      const fact = { type: 'edited' as const, at: now(), edits, refused }
      await save(fold(progress, fact), fact)
    }
  }
  return {
    save,
    flush: projection.flush,
    look: projection.look,
    onEdited(tell) {
      listener = tell
      for (const edit of unsaved) tell(edit)
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
function ownershipOf(options: StoreOptions, taken: FileLock, journal: Journal) {
  const { sprintDir, fold } = options
  let lock = taken
  return {
    /**
     * The lock or the journal may have been deleted, e.g. by an agent with `git clean`: the state in memory is authoritative, so
     * write it again. Unless another process found the sprint free and took it over: then the sprint belongs to that one.
     */
    async assert(progress: Progress): Promise<void> {
      if (lock.isHeld() && journal.isInPlace()) return
      await makeFolder(sprintDir)
      await hideState(sprintDir)
      if (!lock.isHeld()) {
        const again = lockSprint(options)
        lock.release()
        lock = again
      }
      const found = await readJournal(sprintDir, fold)
      if (found && found.epoch > journal.epoch) throw takenOver(sprintDir)
      if (!journal.isInPlace()) await journal.putBack(progress)
    },
    release: () => lock.release(),
  }
}

const takenOver = (sprintDir: string): RalphError =>
  new RalphError('SPRINT_LOCKED', 'another process has taken the sprint over', {
    place: { file: sprintDir },
    hint: 'its lock was deleted; the other process continues',
  })

/** Adds the path to system errors; our own errors and bugs stay as they are. */
const unwritableIfErrno = (cause: unknown, sprintDir: string): unknown =>
  isDiskFull(cause) || (cause instanceof Error && 'syscall' in cause)
    ? unwritable(progressPath(sprintDir), cause)
    : cause
