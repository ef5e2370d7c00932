import { describe, expect, it } from 'vitest'
import { openLease } from './lease.ts'

const never = new AbortController().signal

/** Whether the promise has settled. */
async function isSettled(promise: Promise<void>): Promise<boolean> {
  let over = false
  void promise.then(() => (over = true))
  await new Promise((resolve) => setImmediate(resolve))
  return over
}

describe('a lease', () => {
  it('lets work start while the backend was in contact recently, and not later', async () => {
    let now = 0
    const lease = openLease([() => now])
    expect(await isSettled(lease.wait(1000, never))).toBe(false)
    lease.renew()
    now = 900
    expect(await isSettled(lease.wait(1000, never))).toBe(true)
    now = 1001
    expect(await isSettled(lease.wait(1000, never))).toBe(false)
  })

  it('expires by whichever clock runs ahead: one stops while the computer sleeps, the other can be set back', async () => {
    const clocks = [0, 0]
    const lease = openLease([() => clocks[0] ?? 0, () => clocks[1] ?? 0])
    lease.renew()
    for (const [one, other, isCurrent] of [
      [1, 1001, false],
      [1001, -5000, false],
      [900, 900, true],
    ] as const) {
      clocks.splice(0, 2, one, other)
      expect(await isSettled(lease.wait(1000, never))).toBe(isCurrent)
    }
  })

  it('lets waiting work start once both sides are in sync again', async () => {
    const lease = openLease([() => 0])
    const waiting = lease.wait(1000, never)
    lease.setReconciled(true)
    expect(await isSettled(waiting)).toBe(true)
    lease.setReconciled(false)
    expect(await isSettled(lease.wait(1000, never))).toBe(false)
  })

  it('lets nothing start once closed', async () => {
    const lease = openLease([() => 0])
    lease.setReconciled(true)
    lease.close()
    expect(await isSettled(lease.wait(1000, never))).toBe(false)
  })

  it('releases cancelled work', async () => {
    const off = new AbortController()
    const waiting = openLease([() => 0]).wait(1000, off.signal)
    off.abort()
    expect(await isSettled(waiting)).toBe(true)
  })
})
