export const systemClock = {
  now: (): number => Date.now(),

  /** Wall time, so that a limit that ends at five ends at five, also after the laptop was asleep. */
  async waitUntil(at: number, signal: AbortSignal): Promise<void> {
    while (!signal.aborted && Date.now() < at) await nap(Math.min(at - Date.now(), 5000), signal)
  },
}

const nap = (ms: number, signal: AbortSignal): Promise<void> =>
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
 * Milliseconds that have passed while somebody looked: asked less often than this, more time than `longestGapMs` is not
 * counted. A laptop that sleeps, or a Ralph that is stopped, is not an agent that hangs.
 */
export function attentiveClock(longestGapMs = 5000, now = () => performance.now()): () => number {
  let counted = 0
  let last = now()
  return () => {
    const at = now()
    counted += Math.min(at - last, longestGapMs)
    last = at
    return counted
  }
}
