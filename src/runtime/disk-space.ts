import { errorMessage } from '../contract/errors.ts'
import type { Ports, ProgressStore } from './ports.ts'

const pollIntervalMs = 2000

/** A full disk clears up once the user frees space, so the runtime waits and never counts it as a failure. */
export const isDiskFullError = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && ['DISK_FULL', 'ENOSPC', 'EDQUOT'].includes(String(error.code))

/** For a `catch`: rethrows disk-full errors so that the caller retries. */
export const rethrowDiskFull =
  <T>(otherwise: (error: unknown) => T) =>
  (error: unknown): T => {
    if (isDiskFullError(error)) throw error
    return otherwise(error)
  }

type AbortedWork = { readonly aborted: true }

type DiskSpacePorts = Pick<Ports, 'disk' | 'clock' | 'observe'> & Partial<Pick<Ports, 'store'>>

/**
 * Runs work that needs disk space. Waits while there is too little, and runs the work again if the disk fills up in the middle.
 * Stops waiting once `signal` aborts.
 */
export async function retryOnDiskFull<T>(
  work: () => Promise<T>,
  ports: DiskSpacePorts,
  signal: AbortSignal,
): Promise<T | AbortedWork> {
  const reporter = createPauseReporter(ports)
  try {
    for (;;) {
      const shortageReason = await readShortage(ports)
      try {
        if (shortageReason === undefined) {
          const done = await work()
          reporter.resume()
          return done
        }
        reporter.pause(shortageReason)
      } catch (error) {
        if (!isDiskFullError(error)) throw error
        reporter.pause(errorMessage(error))
      }
      if (signal.aborted) return { aborted: true }
      await ports.clock.waitUntil(ports.clock.now() + pollIntervalMs, signal)
      if (signal.aborted) return { aborted: true }
    }
  } finally {
    reporter.end()
  }
}

/** Wraps `store.save`: on a full disk, saving waits until there is space or the caller gives up. */
export function createDiskFullSafeStore(ports: Ports) {
  const { save } = ports.store
  let pendingSave: AbortController | undefined
  let isGivenUp = false
  const saveWhenSpaceReturns: ProgressStore['save'] = async (progress, fact) => {
    pendingSave = new AbortController()
    const done = await retryOnDiskFull(() => save(progress, fact), ports, pendingSave.signal)
    pendingSave = undefined
    if (done) await save(progress, fact)
  }
  return {
    save: async (...args: Parameters<ProgressStore['save']>): Promise<void> => {
      try {
        await save(...args)
      } catch (error) {
        if (isGivenUp || !isDiskFullError(error)) throw error
        await saveWhenSpaceReturns(...args)
      }
    },
    giveUp: () => {
      isGivenUp = true
      pendingSave?.abort()
    },
  }
}

/** If the free space cannot be read, assume that there is enough. */
const readShortage = (ports: DiskSpacePorts): Promise<string | undefined> =>
  ports.disk?.shortage().catch(() => undefined) ?? Promise.resolve(undefined)

type PauseReporter = {
  readonly pause: (why: string) => void
  readonly resume: () => void
  /** The run no longer waits, whether the work succeeded or not. */
  readonly end: () => void
}

/** Notifies observers once when work pauses and once when it resumes. */
function createPauseReporter({ observe, store }: DiskSpacePorts): PauseReporter {
  let paused = false
  // A disk that is full to the last byte has no room for it either.
  const show = (reason: string | undefined) => void store?.showWaiting?.(reason).catch(() => {})
  return {
    pause: (why: string) => {
      if (paused) return
      paused = true
      observe({ type: 'note', level: 'warning', text: `paused: disk-full: ${why}; resumes when there is space again` })
      show(`paused: disk-full: ${why.split('\n')[0]}`)
    },
    resume: () => {
      if (paused) observe({ type: 'note', level: 'info', text: 'disk space is available again; resuming' })
    },
    end: () => {
      if (paused) show(undefined)
    },
  }
}
