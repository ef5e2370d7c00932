/** Whether work may be begun: only as long as the backend was heard from lately, or is there now. */
export interface Lease {
  /** The backend was heard from. */
  readonly heard: () => void
  /** The line is there and both sides know of each other what they have. */
  readonly reconciled: (isReconciled: boolean) => void
  /** Resolves as soon as something with a lease of this length may be begun, or `signal` aborts. */
  readonly wait: (leaseMs: number, signal: AbortSignal) => Promise<void>
  /** From here on nothing is begun any more. */
  readonly close: () => void
}

/** On the monotonic clock: nobody who sets the time of day begins old work by it. */
export function openLease(now: () => number = () => performance.now()): Lease {
  const waiting = new Set<() => void>()
  let isReconciled = false
  let isClosed = false
  let lastHeard = -Infinity
  const look = () => {
    for (const check of waiting) check()
  }
  return {
    heard: () => void (lastHeard = now()),
    reconciled: (given) => {
      isReconciled = given
      look()
    },
    close: () => void (isClosed = true),
    wait: (leaseMs, signal) =>
      new Promise((resolve) => {
        const check = () => {
          const isCurrent = !isClosed && (isReconciled || now() - lastHeard <= leaseMs)
          if (!signal.aborted && !isCurrent) return
          waiting.delete(check)
          signal.removeEventListener('abort', check)
          resolve()
        }
        waiting.add(check)
        signal.addEventListener('abort', check)
        check()
      }),
  }
}
