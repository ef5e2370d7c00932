import { RalphError } from '../../../contract/errors.ts'
import { createRateLimit } from './rate-limit.ts'

/**
 * Limits wrong tickets without refusing good ones. Failures count per address, so that one caller does not lock out
 * others, and a valid ticket is accepted even from an address that exceeds its limit. Guesses at the rest of a ticket
 * whose beginning is known count per prefix.
 */
export interface SignInLimit {
  /** Throws RATE_LIMITED after too many failures with the beginning of this ticket. */
  readonly assertAllowed: (ticket: string) => void
  /** Throws RATE_LIMITED if the address has failed too often. */
  readonly recordFailure: (address: string, ticket: string) => void
}

const prefixLength = 8
const maxFailuresPerPrefix = 10
/** Longer than the life of a ticket. */
const prefixLifetimeMs = 120_000

export function createSignInLimit(now: () => number): SignInLimit {
  const limitAddress = createRateLimit(now)
  const failures = new Map<string, { count: number; readonly since: number }>()
  const prune = (): void => {
    // Insertion order is age.
    for (const [prefix, { since }] of failures) {
      if (now() - since < prefixLifetimeMs) return
      failures.delete(prefix)
    }
  }
  return {
    assertAllowed: (ticket) => {
      prune()
      if ((failures.get(readPrefix(ticket))?.count ?? 0) < maxFailuresPerPrefix) return
      throw new RalphError('RATE_LIMITED', 'too many wrong tickets', {
        hint: '`ralph serve --ticket` prints a new one',
      })
    },
    recordFailure: (address, ticket) => {
      // First, so that one address cannot fill the map.
      limitAddress(address, true)
      const prefix = readPrefix(ticket)
      const known = failures.get(prefix)
      if (known) known.count++
      else failures.set(prefix, { count: 1, since: now() })
    },
  }
}

const readPrefix = (ticket: string): string => ticket.slice(0, prefixLength)
