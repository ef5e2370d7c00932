import { RalphError } from '../../contract/errors.ts'
import { advance } from '../../loop/advance.ts'
import type { Fact } from '../../loop/fact.ts'
import type { Tx } from '../database/database.ts'
import type { SprintRow } from '../database/sprint.ts'
import { giveOrders } from './give-orders.ts'
import { mirror } from './mirror.ts'
import type { Fleet } from './ports.ts'
import type { Held } from './rows.ts'
import { writeFact } from './write-fact.ts'

export type Happened = {
  /** The same fact has the same id, however often it is told. */
  readonly id: string
  readonly fact: Fact
}

/**
 * The heart of the fleet: something has happened to a sprint. What the loop makes of it (the new progress, the orders, what
 * observers are told) is written in the transaction of whoever tells it. The same fact a second time changes nothing; one that
 * cannot be true any more is noted and changes nothing either.
 */
export async function takeFact(fleet: Fleet, tx: Tx, { agent, sprint }: Held, { id, fact }: Happened): Promise<Held> {
  const next = decide(fleet, sprint, fact)
  if (!next) return { agent, sprint }
  const { progress, orders } = next
  const at = fleet.clock.now()
  const told = orders.flatMap((order) => (order.type === 'tell' ? [order.event] : []))
  const after: SprintRow = {
    ...sprint,
    progress,
    rev: progress.rev,
    status: progress.status,
    seq: sprint.seq + told.length,
    updatedAt: at,
    ...(told.length > 0 && { lastEventAt: at }),
  }
  if (!(await writeFact(tx, { id, type: fact.type, before: sprint, after, told }))) return { agent, sprint }
  const held = await mirror(fleet, tx, { agent, sprint: after }, sprint.progress)
  await giveOrders(fleet, tx, held, { orders, because: fact.type })
  return held
}

/** A fact that came too late is nobody's failure: the sprint was stopped meanwhile, or has gone on. */
function decide(fleet: Fleet, { id, progress }: SprintRow, fact: Fact) {
  try {
    return advance(progress, fact)
  } catch (error) {
    if (!(error instanceof RalphError) || error.code !== 'FACT_ILLEGAL') throw error
    fleet.trouble(error, `sprint ${id}`)
    return undefined
  }
}
