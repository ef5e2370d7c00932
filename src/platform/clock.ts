export const systemClock = {
  now: (): number => Date.now(),
  steady: (): number => performance.now(),

  /** Uses wall-clock time, so that a limit that ends at five ends at five even after the laptop slept. */
  async waitUntil(at: number, signal: AbortSignal): Promise<void> {
    while (!signal.aborted && Date.now() < at) await sleepUntilAborted(Math.min(at - Date.now(), 5000), signal)
  },
}

const sleepUntilAborted = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    signal.addEventListener('abort', done, { once: true })
  })

/**
 * A clock that counts at most `longestGapMs` between two calls. Time during which the laptop slept or Ralph was stopped does not
 * count, so it cannot make an agent look hung.
 */
export function createActivityClock(longestGapMs = 5000, now = () => performance.now()): () => number {
  let counted = 0
  let last = now()
  return () => {
    const at = now()
    counted += Math.min(at - last, longestGapMs)
    last = at
    return counted
  }
}
