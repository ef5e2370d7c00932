import type { Ports, ProgressStore } from './ports.ts'

const lookEveryMs = 2000

/** A full disk clears up once the user frees space, so the runtime waits and never counts it as a failure. */
export const isDiskFull = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && ['DISK_FULL', 'ENOSPC', 'EDQUOT'].includes(String(error.code))

/** For a `catch`: rethrows disk-full errors so that the caller retries. */
export const unlessDiskFull =
  <T>(otherwise: (error: unknown) => T) =>
  (error: unknown): T => {
    if (isDiskFull(error)) throw error
    return otherwise(error)
  }

type Aborted = { readonly aborted: true }

type Room = Pick<Ports, 'disk' | 'clock' | 'observe'>

/**
 * Runs work that needs disk space. Waits while there is too little, and runs the work again if the disk fills up in the middle.
 * Stops waiting once `signal` aborts.
 */
export async function withRoom<T>(work: () => Promise<T>, ports: Room, signal: AbortSignal): Promise<T | Aborted> {
  const pause = pausing(ports)
  for (;;) {
    const short = await shortage(ports)
    try {
      if (short === undefined) {
        const done = await work()
        pause.over()
        return done
      }
      pause.because(short)
    } catch (error) {
      if (!isDiskFull(error)) throw error
      pause.because(error instanceof Error ? error.message : '')
    }
    if (signal.aborted) return { aborted: true }
    await ports.clock.waitUntil(ports.clock.now() + lookEveryMs, signal)
    if (signal.aborted) return { aborted: true }
  }
}

/** Wraps `store.save`: on a full disk, saving waits until there is space or the caller gives up. */
export function patientSaving(ports: Ports) {
  const { save } = ports.store
  let held: AbortController | undefined
  let isGivenUp = false
  const saveLater: ProgressStore['save'] = async (progress, fact) => {
    held = new AbortController()
    const done = await withRoom(() => save(progress, fact), ports, held.signal)
    held = undefined
    if (done) await save(progress, fact)
  }
  return {
    save: async (...given: Parameters<ProgressStore['save']>): Promise<void> => {
      try {
        await save(...given)
      } catch (error) {
        if (isGivenUp || !isDiskFull(error)) throw error
        await saveLater(...given)
      }
    },
    giveUp: () => {
      isGivenUp = true
      held?.abort()
    },
  }
}

/** If the free space cannot be read, assume that there is enough. */
const shortage = (ports: Room): Promise<string | undefined> =>
  ports.disk?.shortage().catch(() => undefined) ?? Promise.resolve(undefined)

/** Notifies observers once when work pauses and once when it resumes. */
function pausing({ observe }: Room) {
  let paused = false
  return {
    because: (why: string) => {
      const text = `paused: disk-full: ${why}; resumes when there is space again`
      if (!paused) observe({ type: 'note', level: 'warning', text })
      paused = true
    },
    over: () => {
      if (paused) observe({ type: 'note', level: 'info', text: 'disk space is available again; resuming' })
    },
  }
}
