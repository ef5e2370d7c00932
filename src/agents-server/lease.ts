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

/**
 * By two clocks, and the longer time counts: nobody who sets the time of day back begins old work by it, and the monotonic
 * clock stands still while the computer sleeps.
 */
export function openLease(clocks: readonly (() => number)[] = [() => performance.now(), Date.now]): Lease {
  const now = () => clocks.map((clock) => clock())
  const waiting = new Set<() => void>()
  let isReconciled = false
  let isClosed = false
  let lastHeard: readonly number[] = clocks.map(() => -Infinity)
  const silence = () => Math.max(...now().map((at, index) => at - (lastHeard[index] ?? -Infinity)))
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
          const isCurrent = !isClosed && (isReconciled || silence() <= leaseMs)
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
