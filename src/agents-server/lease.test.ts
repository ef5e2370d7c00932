import { describe, expect, it } from 'vitest'
import { openLease } from './lease.ts'

const never = new AbortController().signal

/** Whether the promise is over by now. */
async function isOver(promise: Promise<void>): Promise<boolean> {
  let over = false
  void promise.then(() => (over = true))
  await new Promise((resolve) => setImmediate(resolve))
  return over
}

describe('a lease', () => {
  it('lets work begin while the backend was heard from lately, and not afterwards', async () => {
    let now = 0
    const lease = openLease([() => now])
    expect(await isOver(lease.wait(1000, never))).toBe(false)
    lease.heard()
    now = 900
    expect(await isOver(lease.wait(1000, never))).toBe(true)
    now = 1001
    expect(await isOver(lease.wait(1000, never))).toBe(false)
  })

  it('is over by whichever clock says so: one stands still while the computer sleeps, the other can be set back', async () => {
    const clocks = [0, 0]
    const lease = openLease([() => clocks[0] ?? 0, () => clocks[1] ?? 0])
    lease.heard()
    for (const [one, other, isCurrent] of [
      [1, 1001, false],
      [1001, -5000, false],
      [900, 900, true],
    ] as const) {
      clocks.splice(0, 2, one, other)
      expect(await isOver(lease.wait(1000, never))).toBe(isCurrent)
    }
  })

  it('lets what has waited begin when both sides know of each other again', async () => {
    const lease = openLease([() => 0])
    const waiting = lease.wait(1000, never)
    lease.reconciled(true)
    expect(await isOver(waiting)).toBe(true)
    lease.reconciled(false)
    expect(await isOver(lease.wait(1000, never))).toBe(false)
  })

  it('lets nothing begin once it is closed', async () => {
    const lease = openLease([() => 0])
    lease.reconciled(true)
    lease.close()
    expect(await isOver(lease.wait(1000, never))).toBe(false)
  })

  it('lets go of what was called off', async () => {
    const off = new AbortController()
    const waiting = openLease([() => 0]).wait(1000, off.signal)
    off.abort()
    expect(await isOver(waiting)).toBe(true)
  })
})
