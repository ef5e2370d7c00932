import type { FailureClass } from '../contract/outcome.ts'

/** What the loop does about each class of failure: the only such table. */
type Policy =
  /** Wait until the limit is over; not a failure, not counted. Unknown when: `probeMs`; over already, it says: `soonestMs`. */
  | { readonly action: 'park'; readonly probeMs: number; readonly soonestMs: number }
  /** Try again after a growing pause, at most `tries` times in a row. */
  | { readonly action: 'retry'; readonly firstMs: number; readonly tries: number }
  /** A person has to do something first. */
  | { readonly action: 'ask' }
  | { readonly action: 'stop' }

const longestPauseMs = 300_000

const policies: Record<FailureClass, Policy> = {
  usage_limit: { action: 'park', probeMs: 1_800_000, soonestMs: 60_000 },
  rate_limit: { action: 'retry', firstMs: 5000, tries: 20 },
  overloaded: { action: 'retry', firstMs: 2000, tries: 20 },
  network: { action: 'retry', firstMs: 2000, tries: 20 },
  crash: { action: 'retry', firstMs: 2000, tries: 5 },
  hang: { action: 'retry', firstMs: 2000, tries: 3 },
  output_cap: { action: 'retry', firstMs: 2000, tries: 2 },
  protocol: { action: 'retry', firstMs: 2000, tries: 5 },
  max_turns: { action: 'retry', firstMs: 2000, tries: 3 },
  unknown: { action: 'retry', firstMs: 2000, tries: 5 },
  context: { action: 'retry', firstMs: 2000, tries: 2 },
  auth: { action: 'ask' },
  tool_denied: { action: 'ask' },
  budget: { action: 'ask' },
  not_found: { action: 'stop' },
}

export const policyFor = (failure: FailureClass): Policy => policies[failure]

/** Twice as long each time, spread by a quarter, never longer than five minutes. */
export function pauseMs(firstMs: number, failuresInARow: number, random: number): number {
  let pause = firstMs
  for (let n = 1; n < failuresInARow && pause < longestPauseMs; n++) pause *= 2
  const capped = pause < longestPauseMs ? pause : longestPauseMs
  return capped * (1 + random / 4)
}

/** An agent that runs but gives no valid report is not retried but counted; it must not spin either. */
export const malformed = { firstMs: 250, inARow: 10 } as const
