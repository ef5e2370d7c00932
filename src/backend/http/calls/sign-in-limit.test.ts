import { expect, it } from 'vitest'
import { RalphError } from '../../../contract/errors.ts'
import { createSignInLimit } from './sign-in-limit.ts'

function isLimited(call: () => void): boolean {
  try {
    call()
    return false
  } catch (error) {
    if (error instanceof RalphError && error.code === 'RATE_LIMITED') return true
    throw error
  }
}

it('limits the failures of one address and of no other', () => {
  const limit = createSignInLimit(() => 0)
  const fail = (address: string, number: number) =>
    isLimited(() => limit.recordFailure(address, `${number}-wrong-ticket`))
  const refused = Array.from({ length: 300 }, (_, number) => fail('198.51.100.9', number)).filter(Boolean)
  expect([refused.length, fail('203.0.113.7', 1)]).toEqual([180, false])
})

it('limits guesses at one ticket from any number of addresses, until that ticket has expired', () => {
  let now = 0
  const limit = createSignInLimit(() => now)
  for (let guess = 0; guess < 10; guess++) limit.recordFailure(`address ${guess}`, `abcdefgh${guess}`)
  expect([
    isLimited(() => limit.assertAllowed('abcdefgh-right')),
    isLimited(() => limit.assertAllowed('other')),
  ]).toEqual([true, false])
  now = 120_000
  expect(isLimited(() => limit.assertAllowed('abcdefgh-right'))).toBe(false)
})
