import { sql } from 'drizzle-orm'
import type { AttemptEnd, Fact } from '../../loop/fact.ts'
import type { AgentRow } from '../database/agent.ts'
import type { Tx } from '../database/database.ts'
import { accountLimits, usage } from '../database/usage.ts'
import type { Fleet } from './ports.ts'

type Used = Pick<Extract<Fact, { type: 'attempt-ended' }>, 'usage' | 'costUsd' | 'model'>

/** What an agent has used on a day, with a model. */
export async function recordUsage(fleet: Fleet, tx: Tx, { id, model: own }: AgentRow, used: Used): Promise<void> {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = used.usage
  const day = new Date(fleet.clock.now()).toISOString().slice(0, 10)
  const counts = { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens }
  const row = {
    day,
    agentId: id,
    model: used.model ?? own ?? '',
    costUsd: used.costUsd ?? 0,
    unpriced: used.costUsd === undefined ? 1 : 0,
    ...counts,
    iterations: 1,
  }
  await tx.db
    .insert(usage)
    .values(row)
    .onConflictDoUpdate({
      target: [usage.day, usage.agentId, usage.model],
      set: {
        costUsd: sql`${usage.costUsd} + excluded.cost_usd`,
        unpriced: sql`${usage.unpriced} + excluded.unpriced`,
        inputTokens: sql`${usage.inputTokens} + excluded.input_tokens`,
        outputTokens: sql`${usage.outputTokens} + excluded.output_tokens`,
        cacheReadTokens: sql`${usage.cacheReadTokens} + excluded.cache_read_tokens`,
        cacheWriteTokens: sql`${usage.cacheWriteTokens} + excluded.cache_write_tokens`,
        iterations: sql`${usage.iterations} + 1`,
      },
    })
}

/** The other agents of the account are spared a start that would end the same way. */
export async function noteLimit(fleet: Fleet, tx: Tx, { id, account }: AgentRow, end: AttemptEnd): Promise<void> {
  if (end.kind !== 'failed' || end.class !== 'usage_limit' || end.resetsAt === undefined) return
  const { resetsAt: until, reason } = end
  const limit = { until, reason, agentId: id, notedAt: fleet.clock.now() }
  await tx.db
    .insert(accountLimits)
    .values({ account, ...limit })
    .onConflictDoUpdate({ target: accountLimits.account, set: limit })
}
