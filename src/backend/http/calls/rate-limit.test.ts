import { expect, it } from 'vitest'
import { RalphError } from '../../../contract/errors.ts'
import { createRateLimit } from './rate-limit.ts'

function createTestRateLimit() {
  let now = 0
  const asks = createRateLimit(() => now)
  /** How many of these calls are accepted. */
  const answered = (calls: number, who: string, changes = false) => {
    let count = 0
    for (let call = 0; call < calls; call++) {
      try {
        asks(who, changes)
        count++
      } catch (error) {
        if (!(error instanceof RalphError) || error.code !== 'RATE_LIMITED') throw error
      }
    }
    return count
  }
  return { answered, pass: (ms: number) => (now += ms) }
}

it('limits a frequent caller only, and only briefly', () => {
  const { answered, pass } = createTestRateLimit()
  expect(answered(1000, 'me')).toBe(600)
  expect(answered(10, 'you')).toBe(10)
  pass(1000)
  expect(answered(1000, 'me')).toBe(60)
  pass(3_600_000)
  expect(answered(1000, 'me')).toBe(600)
})

it('charges changes more than reads', () => {
  expect(createTestRateLimit().answered(1000, 'me', true)).toBe(120)
})
