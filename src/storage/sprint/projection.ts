import type { Progress } from '../../contract/progress.ts'
import { createRedactor, type Redact } from '../../contract/secrets/redact.ts'
import { replaceIfUnchanged } from '../../platform/files/atomic-file.ts'
import { exists, isNoSpaceError } from '../../platform/files/files.ts'
import { EditWatch, type DetectedEdit, type EditBaseline } from '../edits/edit-watch.ts'
import { noop, serialize } from '../../platform/async.ts'
import { formatProgressBytes } from '../state/progress-text.ts'
import { progressPath } from '../state/sprint-folder.ts'

/** Writes a short sprint's changes at once, a fast one's once a second. */
const maxBurst = 10
const writeIntervalMs = 1000
/** Maximum number of attempts against an author who writes constantly. */
const maxCloseAttempts = 20

/** Keeps PROGRESS.yaml in sync with the journal, without writing every change, and never over an edit by others. */
export interface Projection {
  /** Writes the progress now unless there were too many writes lately, else within a second. */
  readonly update: (progress: Progress) => Promise<void>
  /** Writes it now. */
  readonly flush: () => Promise<void>
  /** Says in the file what the run waits for. A full disk may have no room for that. */
  readonly showWaiting: (reason: string | undefined) => Promise<void>
  /** Checks the file for an edit and passes it to the listener. The edited text stays until it is settled. */
  readonly checkForEdits: () => Promise<void>
  readonly onEdited: (listener: (edited: DetectedEdit) => void) => void
  /** The oldest reported edit is in the journal: the file may be written again. */
  readonly settled: () => void
  /** Writes the last progress. Returns `edited` if there is an unsettled edit: the caller must apply it first. */
  readonly close: () => Promise<'closed' | 'edited'>
}

export function openProjection(
  sprintDir: string,
  before: EditBaseline = {},
  redact: Redact = createRedactor(),
): Projection {
  const mayWrite = createTokenBucket(maxBurst, writeIntervalMs)
  const enqueue = serialize()
  const page = createProgressPage(progressPath(sprintDir), before, redact)
  let timer: NodeJS.Timeout | undefined
  let failure: { readonly error: unknown } | undefined

  const write = () =>
    enqueue(async () => {
      clearTimeout(timer)
      timer = undefined
      if ((await page.write('now')) === 'again') scheduleWrite()
    }).catch((error: unknown) => {
      // The journal has everything; write the file as soon as there is space.
      if (!isNoSpaceError(error)) throw error
      scheduleWrite()
    })
  const scheduleWrite = () => {
    timer ??= setTimeout(() => {
      write().catch((error: unknown) => (failure = { error }))
    }, writeIntervalMs)
  }
  return {
    async update(progress) {
      if (failure) throw failure.error
      page.set(progress)
      if (mayWrite()) return write()
      scheduleWrite()
    },
    flush: write,
    showWaiting(reason) {
      page.setWaiting(reason)
      return write()
    },
    checkForEdits: () => enqueue(async () => void (await page.look('now'))),
    onEdited: page.onEdited,
    settled: page.settled,
    async close() {
      clearTimeout(timer)
      for (let tries = 0; tries < maxCloseAttempts; tries++) {
        if ((await enqueue(() => page.write('last'))) === 'done') return 'closed'
        if (page.isEdited()) return 'edited'
      }
      return 'closed'
    },
  }
}

/** The file, its next content, and the edits of others. */
function createProgressPage(file: string, before: EditBaseline, redact: Redact) {
  const watch = new EditWatch(file, before, redact)
  let latest: Progress | undefined
  let shown: Progress | undefined
  let waiting: string | undefined
  let unsettled = 0
  let notifyEdited: (edited: DetectedEdit) => void = noop

  const look = async (which: 'now' | 'last'): Promise<'free' | 'taken'> => {
    const found = await watch.check(which)
    if (found === 'unfinished') return 'taken'
    if (found !== 'untouched') {
      unsettled++
      notifyEdited(found)
    }
    return unsettled > 0 ? 'taken' : 'free'
  }
  return {
    look,
    /** `again`: the file contains an edit that must be handled first. */
    async write(which: 'now' | 'last'): Promise<'done' | 'again'> {
      if ((await look(which)) === 'taken') return 'again'
      const isThere = exists(file)
      const progress = latest ?? (isThere ? undefined : shown)
      if (!progress) return 'done'
      const bytes = formatProgressBytes(progress, waiting)
      const replaced = await replaceIfUnchanged(file, bytes, isThere ? watch.signature() : undefined)
      if (replaced === 'touched') return 'again'
      if (latest === progress) latest = undefined
      shown = progress
      watch.wrote(progress, replaced.signature)
      return 'done'
    },
    set: (progress: Progress) => void (latest = progress),
    setWaiting(reason: string | undefined): void {
      waiting = reason
      latest ??= shown
    },
    onEdited: (listener: (edited: DetectedEdit) => void) => void (notifyEdited = listener),
    settled: () => void unsettled--,
    isEdited: () => unsettled > 0,
  }
}

/** Token bucket: `size` at once, then one per `refillMs`. */
function createTokenBucket(size: number, refillMs: number): () => boolean {
  let tokens = size
  let refilled = performance.now()
  return () => {
    const now = performance.now()
    tokens = Math.min(size, tokens + (now - refilled) / refillMs)
    refilled = now
    if (tokens < 1) return false
    tokens--
    return true
  }
}
