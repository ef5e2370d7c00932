import { RalphError } from '../../contract/errors.ts'
import { advance } from '../../loop/advance.ts'
import type { Fact } from '../../loop/core/fact.ts'
import type { SprintRow } from '../database/sprint.ts'
import { enqueueOrders } from './orders.ts'
import { updateReadModels } from './read-models.ts'
import type { Fleet } from '../fleet/fleet.ts'
import { writeFact } from './fact-log.ts'
import type { AgentTransaction } from '../fleet/transaction.ts'

export type IdentifiedFact = {
  /** Deduplicates: the same fact always has the same ID. */
  readonly id: string
  readonly fact: Fact
}

/**
 * The core of the fleet: applies a fact to a sprint. The loop's decision (new progress, orders, events) is stored in
 * the caller's transaction. A repeated fact changes nothing; an outdated one is logged and changes nothing either.
 */
export async function applyFact(
  t: AgentTransaction,
  sprint: SprintRow,
  { id, fact }: IdentifiedFact,
): Promise<SprintRow> {
  const next = advanceOrIgnore(t.fleet, sprint, fact)
  if (!next) return sprint
  const { progress, orders } = next
  const at = t.fleet.clock.now()
  const emitted = orders.flatMap((order) => (order.type === 'tell' ? [order.event] : []))
  const after: SprintRow = {
    ...sprint,
    progress,
    rev: progress.rev,
    status: progress.status,
    seq: sprint.seq + emitted.length,
    updatedAt: at,
    ...(emitted.length > 0 && { lastEventAt: at }),
  }
  if (!(await writeFact(t, { id, type: fact.type, before: sprint, after, emitted }))) return sprint
  await updateReadModels(t, after, sprint.progress)
  await enqueueOrders(t, after, { orders, because: fact.type })
  return after
}

/** A late fact is not an error: the sprint was stopped or has moved on since. */
function advanceOrIgnore(fleet: Fleet, { id, progress }: SprintRow, fact: Fact) {
  try {
    return advance(progress, fact)
  } catch (error) {
    if (!(error instanceof RalphError) || error.code !== 'FACT_ILLEGAL') throw error
    fleet.logError(error, `sprint ${id}`)
    return undefined
  }
}
