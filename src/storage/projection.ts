import type { Edit } from '../contract/edit.ts'
import type { Progress } from '../contract/progress.ts'
import { copyFileTo, fileSignature, readTextIfThere } from '../platform/files.ts'
import { readOutsideEdit } from './outside-edit.ts'
import { progressPath, writeProgressFile } from './progress-file.ts'

/** A short sprint is shown as it happens; a fast one is shown once a second. */
const burst = 10
const everyMs = 1000
/** How long an edit may be half-written before it counts as unreadable. */
const patienceMs = 2000
/** Edits are compared with what their author had read, if that is not too long ago. */
const keptBases = 100

export type Edited = { readonly edits: readonly Edit[]; readonly refused: readonly string[] }

/** Keeps PROGRESS.yaml in step with the journal, without writing it for every change, and notices when somebody else writes it. */
export interface Projection {
  /** Shows the progress now if that was not done too often lately, else within a second. */
  readonly update: (progress: Progress) => Promise<void>
  /** Shows it now. */
  readonly flush: () => Promise<void>
  /** Looks whether somebody has edited the file, and tells what. */
  readonly look: () => Promise<void>
  readonly onEdited: (listener: (edited: Edited) => void) => void
  readonly close: () => Promise<void>
}

export function projectTo(sprintDir: string): Projection {
  const file = progressPath(sprintDir)
  const bases = new Map<number, Progress>()
  const mayWrite = atMost(burst, everyMs)
  let latest: Progress | undefined
  let written: string | undefined
  let unreadableSince: number | undefined
  let timer: NodeJS.Timeout | undefined
  let work: Promise<unknown> = Promise.resolve()
  let failure: unknown
  let tellEdited: (edited: Edited) => void = () => {}

  /** False while somebody's edit is half-written. */
  const lookNow = async (): Promise<boolean> => {
    const signature = fileSignature(file)
    if (written === undefined || signature === undefined || signature === written) return true
    const edit = readOutsideEdit((await readTextIfThere(file)) ?? '', (rev) => bases.get(rev))
    if (edit.kind === 'edited') {
      written = signature
      unreadableSince = undefined
      if (edit.seen) bases.set(edit.rev, edit.seen)
      if (edit.edits.length + edit.refused.length > 0) tellEdited(edit)
      return true
    }
    unreadableSince ??= performance.now()
    if (performance.now() - unreadableSince < patienceMs) return false
    const aside = `${file}.refused-${Date.now()}`
    await copyFileTo(file, aside)
    written = signature
    unreadableSince = undefined
    tellEdited({ edits: [], refused: [`it cannot be read (${edit.reason}); what was written is kept in ${aside}`] })
    return true
  }

  const writeNow = async (progress: Progress) => {
    await writeProgressFile(sprintDir, progress)
    written = fileSignature(file)
    bases.set(progress.rev, progress)
    for (const rev of bases.keys()) {
      if (bases.size <= keptBases) break
      bases.delete(rev)
    }
  }

  /** One thing at a time; what is shown is always the latest. */
  const enqueue = (step: () => Promise<void>): Promise<void> => {
    const done = work.catch(() => {}).then(step)
    work = done
    return done
  }
  const write = (final: boolean) =>
    enqueue(async () => {
      clearTimeout(timer)
      timer = undefined
      const readable = await lookNow()
      const progress = latest
      if (!progress) return
      if (!readable && !final) return later()
      latest = undefined
      await writeNow(progress)
    })
  const later = () => {
    timer ??= setTimeout(() => {
      write(false).catch((error: unknown) => (failure = error))
    }, everyMs)
  }
  return {
    async update(progress) {
      if (failure) throw failure
      latest = progress
      if (mayWrite()) return write(false)
      later()
    },
    flush: () => write(false),
    look: () => enqueue(async () => void (await lookNow())),
    onEdited: (listener) => (tellEdited = listener),
    async close() {
      await write(true)
      clearTimeout(timer)
    },
  }
}

/** A bucket of tokens: `burst` at once, then one per `everyMs`. */
function atMost(size: number, refillMs: number): () => boolean {
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
