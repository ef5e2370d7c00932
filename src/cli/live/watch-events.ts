import type { SprintEvent } from '../../contract/events.ts'
import { Progress } from '../../contract/progress.ts'
import { advance } from '../../loop/advance.ts'
import type { Fact } from '../../loop/core/fact.ts'
import type { Order } from '../../loop/core/order.ts'
import type { JournalRecord } from '../../storage/state/journal-record.ts'

export type ReplayedRecord = {
  readonly progress: Progress
  /** The events that the owning process emitted to its observers, except those of the agent. */
  readonly events: readonly SprintEvent[]
  readonly at: number
}

/** Applies one journal record to the progress; undefined if it changes nothing. */
export function replayRecord(
  progress: Progress | undefined,
  { kind, data, at }: JournalRecord,
): ReplayedRecord | undefined {
  if (kind === 'snapshot') return { progress: Progress.parse(data), events: [], at: Date.parse(at) }
  if (kind !== 'fact' || !progress) return undefined
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the checksum says that we wrote it, and we write facts
  const fact = data as Fact
  const next = advance(progress, fact)
  const events = [...findCheckResult(fact), ...next.orders.flatMap((order) => eventsOfOrder(order, next.progress))]
  return { progress: next.progress, events, at: fact.at }
}

const findCheckResult = (fact: Fact): SprintEvent[] =>
  fact.type === 'checks-ended'
    ? fact.results.map((result) => ({ type: 'check-ended', iteration: fact.iteration, result }))
    : []

function eventsOfOrder(order: Order, progress: Progress): SprintEvent[] {
  if (order.type === 'tell') return [order.event]
  if (order.type === 'run-attempt') {
    const { iteration, attempt } = order
    return [{ type: 'attempt-started', iteration, attempt, agent: findIterationAgent(progress, iteration) }]
  }
  if (order.type === 'run-review') {
    const name = `review by ${progress.review?.agent ?? 'the agent'}`
    return [{ type: 'check-started', iteration: order.iteration, name }]
  }
  if (order.type !== 'run-checks') return []
  return order.names.map((name) => ({ type: 'check-started', iteration: order.iteration, name }))
}

/** The agent of an iteration, current or past. */
export function findIterationAgent({ live, iterations, runAgents, agent }: Progress, iteration: number): string {
  const own = [...live, ...iterations].find(({ number }) => number === iteration)?.agent
  return own ?? runAgents?.[0] ?? agent?.[0] ?? 'command'
}
