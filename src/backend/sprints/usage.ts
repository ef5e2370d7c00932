import { sql, type SQL } from 'drizzle-orm'
import type { AttemptEnd, Fact } from '../../loop/core/fact.ts'
import { accountLimits } from '../database/usage.ts'
import type { AgentTransaction } from '../fleet/transaction.ts'

type UsageSource = Pick<Extract<Fact, { type: 'attempt-ended' }>, 'usage' | 'costUsd' | 'model'>

/** An upsert that adds to the usage of an agent, day and model. */
export function upsertUsage({ fleet, agent }: AgentTransaction, { usage, costUsd, model }: UsageSource): SQL {
  const { id, model: own } = agent
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage
  const day = new Date(fleet.clock.now()).toISOString().slice(0, 10)
  const unpriced = costUsd === undefined ? 1 : 0
  return sql`
    insert into usage as used (day, agent_id, model, cost_usd, unpriced, input_tokens, output_tokens,
      cache_read_tokens, cache_write_tokens, iterations)
    values (${day}, ${id}, ${model ?? own ?? ''}, ${costUsd ?? 0}, ${unpriced}, ${inputTokens}, ${outputTokens},
      ${cacheReadTokens}, ${cacheWriteTokens}, 1)
    on conflict (day, agent_id, model) do update set
      cost_usd = used.cost_usd + excluded.cost_usd, unpriced = used.unpriced + excluded.unpriced,
      input_tokens = used.input_tokens + excluded.input_tokens, output_tokens = used.output_tokens + excluded.output_tokens,
      cache_read_tokens = used.cache_read_tokens + excluded.cache_read_tokens,
      cache_write_tokens = used.cache_write_tokens + excluded.cache_write_tokens, iterations = used.iterations + 1`
}

/** Spares the other agents of the account an attempt that would hit the same limit. */
export async function recordAccountLimit(t: AgentTransaction, end: AttemptEnd): Promise<void> {
  if (end.kind !== 'failed' || end.class !== 'usage_limit' || end.resetsAt === undefined) return
  const { resetsAt: until, reason } = end
  const { id, account } = t.agent
  const limit = { until, reason, agentId: id, notedAt: t.fleet.clock.now() }
  await t.tx.db
    .insert(accountLimits)
    .values({ account, ...limit })
    .onConflictDoUpdate({ target: accountLimits.account, set: limit })
}
