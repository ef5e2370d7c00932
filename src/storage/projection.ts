import type { Progress } from '../contract/progress.ts'
import { watchEdits, type Edited } from './edit-watch.ts'
import { progressPath, writeProgressFile } from './progress-file.ts'

/** A short sprint is shown as it happens; a fast one is shown once a second. */
const burst = 10
const everyMs = 1000

/** Keeps PROGRESS.yaml in step with the journal, without writing it for every change, and never over somebody's edit. */
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
  const watch = watchEdits(progressPath(sprintDir))
  const mayWrite = atMost(burst, everyMs)
  const inTurn = oneAtATime()
  let latest: Progress | undefined
  let timer: NodeJS.Timeout | undefined
  let failure: unknown
  let tellEdited: (edited: Edited) => void = ignore

  const look = async (): Promise<'free' | 'unfinished'> => {
    const found = await watch.look()
    if (found === 'unfinished') return 'unfinished'
    if (found !== 'untouched' && found.edits.length + found.refused.length > 0) tellEdited(found)
    return 'free'
  }
  const write = (urgency: 'may wait' | 'must') =>
    inTurn(async () => {
      clearTimeout(timer)
      timer = undefined
      const state = await look()
      const progress = latest
      if (!progress) return
      if (state === 'unfinished' && urgency === 'may wait') return later()
      latest = undefined
      await writeProgressFile(sprintDir, progress)
      watch.wrote(progress)
    })
  const later = () => {
    timer ??= setTimeout(() => {
      write('may wait').catch((error: unknown) => (failure = error))
    }, everyMs)
  }
  return {
    async update(progress) {
      if (failure) throw failure
      latest = progress
      if (mayWrite()) return write('may wait')
      later()
    },
    flush: () => write('may wait'),
    look: () => inTurn(async () => void (await look())),
    onEdited: (listener) => (tellEdited = listener),
    async close() {
      await write('must')
      clearTimeout(timer)
    },
  }
}

const ignore = (): void => {}

/** Each work begins when the one before is over, however that went. */
function oneAtATime(): (work: () => Promise<void>) => Promise<void> {
  let last: Promise<void> = Promise.resolve()
  return (work) => (last = last.catch(ignore).then(work))
}

/** A bucket of tokens: `size` at once, then one per `refillMs`. */
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
