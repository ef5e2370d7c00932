/** Whether work may start: only while the backend is connected or was recently. */
export interface Lease {
  /** Called when a message of the backend arrives. */
  readonly renew: () => void
  /** The line is up and both sides have exchanged their inventories. */
  readonly setReconciled: (isReconciled: boolean) => void
  /** Resolves when work with a lease of this length may start, or `signal` aborts. */
  readonly wait: (leaseMs: number, signal: AbortSignal) => Promise<void>
  /** Nothing starts after this call. */
  readonly close: () => void
}

/**
 * Measures with two clocks and uses the longer time: setting the wall clock back must not revive old work, and the
 * monotonic clock stops while the computer sleeps.
 */
export function openLease(clocks: readonly (() => number)[] = [() => performance.now(), Date.now]): Lease {
  const now = () => clocks.map((clock) => clock())
  const waiting = new Set<() => void>()
  let isReconciled = false
  let isClosed = false
  let lastContact: readonly number[] = clocks.map(() => -Infinity)
  const silence = () => Math.max(...now().map((at, index) => at - (lastContact[index] ?? -Infinity)))
  const look = () => {
    for (const check of waiting) check()
  }
  return {
    renew: () => void (lastContact = now()),
    setReconciled: (value) => {
      isReconciled = value
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
