import type { FailureClass } from '../../contract/outcome.ts'
import type { Sprint } from './sprint.ts'

type Policy =
  /** Wait for the reset; not counted as a failure. If the reset is unknown, probe after `probeMs`; if it has passed, after `soonestMs`. */
  | { readonly action: 'park'; readonly probeMs: number; readonly soonestMs: number }
  /** Retry with growing pauses, at most `tries` times in a row; then stop the sprint or ask a person. */
  | { readonly action: 'retry'; readonly firstMs: number; readonly tries: number; readonly after: 'stop' | 'ask' }
  /** A person has to act first. */
  | { readonly action: 'ask' }
  | { readonly action: 'stop' }

const longestPauseMs = 300_000

/** What the loop does about each class of failure. A report that cannot be read is no failure: see `malformed`. */
const policies = {
  usage_limit: { action: 'park', probeMs: 1_800_000, soonestMs: 60_000 },
  rate_limit: { action: 'retry', firstMs: 5000, tries: 20, after: 'stop' },
  overloaded: { action: 'retry', firstMs: 2000, tries: 20, after: 'stop' },
  network: { action: 'retry', firstMs: 2000, tries: 20, after: 'stop' },
  crash: { action: 'retry', firstMs: 2000, tries: 5, after: 'stop' },
  hang: { action: 'retry', firstMs: 2000, tries: 3, after: 'stop' },
  output_cap: { action: 'retry', firstMs: 2000, tries: 2, after: 'stop' },
  protocol: { action: 'retry', firstMs: 2000, tries: 5, after: 'stop' },
  max_turns: { action: 'retry', firstMs: 2000, tries: 3, after: 'stop' },
  unknown: { action: 'retry', firstMs: 2000, tries: 5, after: 'stop' },
  context: { action: 'retry', firstMs: 2000, tries: 2, after: 'ask' },
  auth: { action: 'ask' },
  tool_denied: { action: 'ask' },
  /** Only for budgets of the agent program; our own limits end the iteration or the sprint. */
  budget: { action: 'ask' },
  not_found: { action: 'stop' },
} as const satisfies Record<FailureClass, Policy>

export const getPolicy = (failure: FailureClass): Policy => policies[failure]

export const parking = policies.usage_limit

/** Enforces limits.failed-starts-per-hour, whatever the pauses of a policy are. */
export function getEarliestStart({ plan: { limits }, history: { failedStarts = [] } }: Sprint, at: number): number {
  const [oldest] = failedStarts
  if (oldest === undefined || failedStarts.length < limits.failedStartsPerHour) return at
  const free = oldest + 3_600_000
  return free > at ? free : at
}

/** Doubles with each failure up to five minutes, plus jitter of up to a quarter; whole milliseconds. */
export function getRetryDelay(firstMs: number, failuresInARow: number, random: number): number {
  let pause = firstMs
  for (let n = 1; n < failuresInARow && pause < longestPauseMs; n++) pause *= 2
  const capped = pause < longestPauseMs ? pause : longestPauseMs
  const spread = (capped * random) / 4
  return capped + spread - (spread % 1)
}

/** An agent that runs but gives no valid report is counted, not retried; pauses keep it from spinning. */
export const malformed = { firstMs: 250, inARow: 10 } as const
