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
