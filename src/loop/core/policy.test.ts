import { expect, it } from 'vitest'
import { FailureClass } from '../../contract/outcome.ts'
import { getRetryDelay, getPolicy } from './policy.ts'

it('has an action for every class of failure', () => {
  const actions = FailureClass.options.map((failure) => [failure, getPolicy(failure).action])

  expect(Object.fromEntries(actions)).toEqual({
    usage_limit: 'park',
    rate_limit: 'retry',
    overloaded: 'retry',
    network: 'retry',
    crash: 'retry',
    hang: 'retry',
    output_cap: 'retry',
    protocol: 'retry',
    max_turns: 'retry',
    unknown: 'retry',
    context: 'retry',
    auth: 'ask',
    tool_denied: 'ask',
    budget: 'ask',
    not_found: 'stop',
  })
})

it('doubles the pause with every failure in a row, up to five minutes', () => {
  const pauses = [1, 2, 3, 8, 9, 1000].map((failures) => getRetryDelay(2000, failures, 0))

  expect(pauses).toEqual([2000, 4000, 8000, 256_000, 300_000, 300_000])
})

it('spreads a pause by at most a quarter', () => {
  expect(getRetryDelay(2000, 1, 0.5)).toBe(2250)
  expect(getRetryDelay(2000, 1, 0.999)).toBeLessThan(2500)
})
