import { hostname } from 'node:os'
import { join } from 'node:path'
import { RalphError } from '../contract/errors.ts'
import type { Progress } from '../contract/progress.ts'
import { formatTimestamp } from '../contract/time.ts'
import { lockFile, type FileLock } from '../platform/file-lock.ts'
import { exists, isErrno, makeFolder } from '../platform/files.ts'
import type { ProgressStore } from '../runtime/ports.ts'
import { openJournal, readJournal, type Fold, type Journal, type Recovered } from './journal.ts'
import { progressPath, readProgressFile } from './progress-file.ts'
import type { Edited } from './edit-watch.ts'
import { projectTo, type Projection } from './projection.ts'

/** The state of one sprint, owned by this process until it is closed. */
export interface SprintStore extends ProgressStore {
  readonly flush: () => Promise<void>
  /** Looks whether PROGRESS.yaml was edited from outside. */
  readonly look: () => Promise<void>
  readonly onEdited: (listener: (edited: Edited) => void) => void
  readonly close: () => Promise<void>
}

export type StoreOptions = {
  readonly sprintDir: string
  readonly fold: Fold
  readonly now: () => number
}

/** Where the sprint stands: by its journal, else by a PROGRESS.yaml that came without one. Changes nothing. */
export async function readProgress({
  sprintDir,
  fold,
}: Pick<StoreOptions, 'sprintDir' | 'fold'>): Promise<Progress | undefined> {
  return (await readJournal(sprintDir, fold))?.progress ?? readProgressFile(sprintDir)
}

/**
 * Takes the sprint for this process. `first` gives the state of one that has none yet. Fails at once, naming the owner, if
 * another process has it.
 */
export async function openSprintStore(
  options: StoreOptions,
  first: (known: Progress | undefined) => Promise<Progress | undefined>,
): Promise<{ readonly store: SprintStore; readonly progress: Progress; readonly tornBytes: number } | undefined> {
  const { sprintDir, fold } = options
  const lock = takeLock(options)
  try {
    const recovered = await readJournal(sprintDir, fold)
    const known = recovered?.progress ?? (await readProgressFile(sprintDir))
    const progress = await first(known)
    if (!progress) {
      lock.release()
      return undefined
    }
    const start: Recovered | Progress = recovered && progress === known ? recovered : progress
    const journal = await openJournal(sprintDir, start, options.now)
    const projection = projectTo(sprintDir)
    await projection.update(progress)
    const store = storeOf(options, { lock, journal, projection, progress })
    return { store, progress, tornBytes: recovered?.tornBytes ?? 0 }
  } catch (error) {
    lock.release()
    throw error
  }
}

type Held = { lock: FileLock; journal: Journal; readonly projection: Projection; progress: Progress }

function storeOf(options: StoreOptions, held: Held): SprintStore {
  const { sprintDir, now } = options
  const { projection } = held
  let { lock, journal, progress } = held
  return {
    async save(next, fact) {
      try {
        if (!lock.isHeld()) {
          // The folder was cleaned under us (an agent that runs `git clean`): what we know is the truth, so it is written anew.
          await makeFolder(sprintDir)
          lock = takeLock(options)
          journal = await openJournal(sprintDir, progress, now)
        }
        await journal.record(fact, next)
        progress = next
        await projection.update(next)
      } catch (cause) {
        throw asKnown(cause, sprintDir)
      }
    },
    flush: projection.flush,
    look: projection.look,
    onEdited: projection.onEdited,
    async close() {
      await projection.close()
      await journal.close()
      lock.release()
    },
  }
}

const lockPath = (sprintDir: string): string => join(sprintDir, '.lock')

function takeLock({ sprintDir, now }: StoreOptions): FileLock {
  const about = `pid ${process.pid} on ${hostname()} since ${formatTimestamp(now())}`
  const taken = lockFile(lockPath(sprintDir), about)
  if ('lock' in taken) return taken.lock
  throw new RalphError('SPRINT_LOCKED', `the sprint is run by ${taken.owner || 'another process'}`, {
    place: { file: sprintDir },
    hint: 'wait for it, or stop that process',
  })
}

function asKnown(cause: unknown, sprintDir: string): unknown {
  if (cause instanceof RalphError || !(cause instanceof Error)) return cause
  const full = isErrno(cause, 'ENOSPC') || isErrno(cause, 'EDQUOT')
  return new RalphError(full ? 'DISK_FULL' : 'FILE_UNWRITABLE', `cannot save the state: ${cause.message}`, {
    place: { file: progressPath(sprintDir) },
    ...(full && { hint: 'make room and run the same command again' }),
    cause,
  })
}

/** Who runs the sprint now, in the owner's own words; undefined if nobody does. */
export function ownerOf(sprintDir: string): string | undefined {
  const file = lockPath(sprintDir)
  if (!exists(file)) return undefined
  const taken = lockFile(file, 'nobody')
  if ('owner' in taken) return taken.owner || 'another process'
  taken.lock.release()
  return undefined
}
