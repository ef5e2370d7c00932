import { setTimeout as sleep } from 'node:timers/promises'
import { measureDiskUse } from '../../platform/files/disk-use.ts'

export interface DiskWatch {
  /** Whether the cell wrote more than its limit. */
  readonly isOver: () => boolean
  readonly close: () => void
}

const leastPauseMs = 1000
/** A look takes as long as the work tree is large; it may take at most a tenth of the time. */
const pauseFactor = 9

/**
 * Watches how much the folders that a cell can write grow: no file system counts that for one program. Each single file is held
 * by the kernel, so what a program can write between two looks has a bound too.
 */
export function watchDisk(folders: readonly string[], limitBytes: number): DiskWatch {
  const stop = new AbortController()
  let isOver = false
  const look = async () => {
    const before = await measureDiskUse(folders, stop.signal)
    while (!isOver && !stop.signal.aborted) {
      const startedAt = performance.now()
      const grown = (await measureDiskUse(folders, stop.signal)) - before
      isOver = grown > limitBytes && !stop.signal.aborted
      const pauseMs = Math.max(leastPauseMs, (performance.now() - startedAt) * pauseFactor)
      await sleep(pauseMs, undefined, { signal: stop.signal, ref: false }).catch(() => {})
    }
  }
  void look().catch(() => {})
  return { isOver: () => isOver, close: () => stop.abort() }
}
