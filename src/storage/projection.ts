import type { Progress } from '../contract/progress.ts'
import { writeProgressFile } from './progress-file.ts'

/** A short sprint is shown as it happens; a fast one is shown once a second. */
const burst = 10
const everyMs = 1000

/** Keeps PROGRESS.yaml in step with the journal, without writing it for every change. */
export interface Projection {
  /** Shows the progress now if that was not done too often lately, else within a second. */
  readonly update: (progress: Progress) => Promise<void>
  /** Shows it now. */
  readonly flush: () => Promise<void>
  readonly close: () => Promise<void>
}

export function projectTo(sprintDir: string): Projection {
  let latest: Progress | undefined
  let tokens = burst
  let refilled = performance.now()
  let timer: NodeJS.Timeout | undefined
  let writing = Promise.resolve()
  let failure: unknown

  const write = () => {
    const progress = latest
    if (!progress) return writing
    latest = undefined
    clearTimeout(timer)
    timer = undefined
    writing = writing.catch(() => {}).then(() => writeProgressFile(sprintDir, progress))
    return writing
  }
  const mayWrite = () => {
    const now = performance.now()
    tokens = Math.min(burst, tokens + (now - refilled) / everyMs)
    refilled = now
    if (tokens < 1) return false
    tokens--
    return true
  }
  return {
    async update(progress) {
      if (failure) throw failure
      latest = progress
      if (mayWrite()) return write()
      timer ??= setTimeout(() => {
        write().catch((error: unknown) => (failure = error))
      }, everyMs)
    },
    flush: write,
    async close() {
      await write()
      clearTimeout(timer)
    },
  }
}
