import { sql, type SQL } from 'drizzle-orm'
import { timestampMs } from '../database/columns.ts'
import type { Database } from '../database/database.ts'

/** How long the backend keeps the events of agents and the prompts that have ended. Machines keep the transcripts. */
export const defaultHistoryMs = 90 * 86_400_000

const deleteBatchSize = 1000

/**
 * Deletes events and ended prompts from before this time, in short transactions. Keeps the newest event of each sprint and
 * prompt, because its number says which events the backend has, and the newest prompt of each agent. Sprints, their facts and
 * their state stay.
 */
export async function deleteOldHistory({ aside }: Pick<Database, 'aside'>, before: number): Promise<void> {
  const limit = timestampMs.literal(before)
  for (const statement of [deleteEvents(limit), deletePrompts(limit)]) {
    const deleteBatch = () =>
      aside(async ({ db }) => {
        const { rows } = await db.execute(statement)
        return rows.length === deleteBatchSize
      })
    while (await deleteBatch());
  }
}

/** How much that would delete. */
export async function countOldHistory({ db }: Pick<Database, 'db'>, before: number) {
  const limit = timestampMs.literal(before)
  const count = async (from: SQL) =>
    (await db.execute<{ count: number }>(sql`select count(*)::int as count from ${from}`)).rows[0]?.count ?? 0
  return { events: await count(oldEvents(limit)), prompts: await count(oldPrompts(limit)) }
}

const oldEvents = (before: SQL): SQL => sql`
  event old where old.kind = 'event' and old.at < ${before}
    and exists (
      select 1 from event newer
      where newer.kind = 'event' and newer.seq > old.seq
        and case when old.sprint_id is null then newer.prompt_id = old.prompt_id else newer.sprint_id = old.sprint_id end)`

const oldPrompts = (before: SQL): SQL => sql`
  agent_prompt old where old.status in ('finished', 'failed', 'cancelled') and old.ended_at < ${before}
    and exists (
      select 1 from agent_prompt newer where newer.agent_id = old.agent_id and newer.created_at > old.created_at)`

const deleteEvents = (before: SQL): SQL => sql`
  delete from event where id in (
    select old.id from ${oldEvents(before)} order by old.tx, old.id limit ${deleteBatchSize})
  returning id`

const deletePrompts = (before: SQL): SQL => sql`
  delete from agent_prompt where id in (select old.id from ${oldPrompts(before)} limit ${deleteBatchSize})
  returning id`
