import type { Ports, ProgressStore } from './ports.ts'

const lookEveryMs = 2000

/** Passes by itself when somebody makes room, so it is waited for and never counted as a failure. */
export const isDiskFull = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && ['DISK_FULL', 'ENOSPC', 'EDQUOT'].includes(String(error.code))

/** For a catch: what has failed for want of room is not over. */
export const unlessDiskFull =
  <T>(otherwise: (error: unknown) => T) =>
  (error: unknown): T => {
    if (isDiskFull(error)) throw error
    return otherwise(error)
  }

type Aborted = { readonly aborted: true }

type Room = Pick<Ports, 'disk' | 'clock' | 'observe'>

/**
 * Does what needs room on the disk. While there is too little, it is held; if the disk is full in the middle of it, it is done
 * again. Nothing is done any more once `signal` aborts.
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

/** Saves as the store does, but with a full disk nothing goes on until there is room, or somebody gives up. */
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

/** A disk that cannot be asked is tried. */
const shortage = (ports: Room): Promise<string | undefined> =>
  ports.disk?.shortage().catch(() => undefined) ?? Promise.resolve(undefined)

/** Says once that it is held, and once that it goes on. */
function pausing({ observe }: Room) {
  let paused = false
  return {
    because: (why: string) => {
      const text = `paused: disk-full: ${why}; it goes on by itself when there is room`
      if (!paused) observe({ type: 'note', level: 'warning', text })
      paused = true
    },
    over: () => {
      if (paused) observe({ type: 'note', level: 'info', text: 'there is room again; it goes on' })
    },
  }
}
