import type { IterationRecord } from '../../contract/progress.ts'
import { createCounter, createHistogram, type Metric } from './registry.ts'

/**
 * What this process has done since it started. Each replica counts its own work, and Prometheus adds them up. One registry
 * per process, as a process has one engine.
 */
const fastSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const slowSeconds = [0.1, 1, 5, 15, 60, 300, 900, 1800, 3600, 7200]

export const meters = {
  iterations: createCounter('ralph_iterations_total', 'Iterations that ended, by verdict.'),
  refusals: createCounter('ralph_claims_refused_total', 'Claims that Ralph refused, by reason.'),
  attempts: createCounter(
    'ralph_attempts_total',
    'Attempts that ended, by how: report, malformed, aborted or the failure.',
  ),
  cost: createCounter('ralph_cost_usd_total', 'Cost of attempts in USD, by model.'),
  tokens: createCounter('ralph_tokens_total', 'Tokens of attempts, by kind and model.'),
  iterationSeconds: createHistogram('ralph_iteration_duration_seconds', 'Duration of iterations.', slowSeconds),
  promptSeconds: createHistogram(
    'ralph_prompt_duration_seconds',
    'Time from sending a prompt to its end.',
    slowSeconds,
  ),
  promptWaitSeconds: createHistogram(
    'ralph_prompt_wait_seconds',
    'Time that a prompt waited in the queue before it was sent.',
    [...fastSeconds, 60, 300, 1800, 7200],
  ),
  httpSeconds: createHistogram(
    'ralph_http_request_duration_seconds',
    'Duration of HTTP requests, by route, method and status.',
    fastSeconds,
  ),
  transactionSeconds: createHistogram(
    'ralph_database_transaction_seconds',
    'Duration of database transactions, by result.',
    fastSeconds,
  ),
  eventLagSeconds: createHistogram(
    'ralph_event_lag_seconds',
    'Time from storing an event until viewers get it.',
    fastSeconds,
  ),
  budgetStops: createCounter('ralph_budget_stops_total', 'Prompts that a spending cap has held back, by scope.'),
} as const

export const listMeters = (): readonly Metric[] => Object.values(meters)

/** Counts an iteration that has ended and is committed. */
export function countIteration(record: IterationRecord): void {
  meters.iterations.add({ verdict: record.verdict })
  meters.iterationSeconds.observe({}, (record.endedAt - record.startedAt) / 1000)
  if (record.verdict === 'refused') meters.refusals.add({ reason: refusalReason(record) })
}

function refusalReason({ tampered = [], checks = [], review, proof }: IterationRecord): string {
  if (tampered.length > 0) return 'tampered'
  if (checks.some(({ passed }) => !passed)) return 'check-failed'
  if (review && !review.passed) return 'review'
  return proof ? 'unproven' : 'other'
}
