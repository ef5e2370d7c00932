import { expect, it } from 'vitest'
import { backoffMs } from './backoff.ts'

it('doubles up to a maximum, and half of the pause is random', () => {
  const backoff = { firstMs: 200, maxMs: 4000 }
  expect([1, 2, 5, 6, 2000].map((failures) => backoffMs(backoff, failures, 1))).toEqual([200, 400, 3200, 4000, 4000])
  expect([0, 0.5].map((random) => backoffMs(backoff, 3, random))).toEqual([400, 600])
})
