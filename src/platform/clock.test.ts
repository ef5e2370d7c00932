import { expect, it } from 'vitest'
import { createActivityClock, systemClock } from './clock.ts'

it('counts the time between frequent calls', () => {
  let at = 1000
  const clock = createActivityClock(5000, () => at)
  at += 100
  expect(clock()).toBe(100)
  at += 4000
  expect(clock()).toBe(4100)
})

it('does not count the hours during which the machine slept', () => {
  let at = 0
  const clock = createActivityClock(5000, () => at)
  at += 8 * 3_600_000
  expect(clock()).toBe(5000)
  at += 100
  expect(clock()).toBe(5100)
})

it('resolves at once when the wait is aborted', async () => {
  const abort = new AbortController()
  const waited = systemClock.waitUntil(Date.now() + 60_000, abort.signal)
  abort.abort()

  await expect(waited).resolves.toBeUndefined()
})

it('does not wait for a time in the past', async () => {
  const waited = systemClock.waitUntil(Date.now() - 1, new AbortController().signal)
  await expect(waited).resolves.toBeUndefined()
})
