import { sql } from 'drizzle-orm'
import type { SprintEvent } from '../../contract/events.ts'
import type { Progress } from '../../contract/progress.ts'
import { jsonValue, timestampMs } from '../database/columns.ts'
import type { SprintRow } from '../database/sprint.ts'
import { insertEvents, type NewEvent } from '../feed/event-log.ts'
import type { Transaction } from '../fleet/transaction.ts'
import { countIteration } from '../meters/meters.ts'

export type FactWrite = {
  readonly id: string
  readonly type: string
  /** The sprint before and after the fact. */
  readonly before: SprintRow
  readonly after: SprintRow
  readonly emitted: readonly SprintEvent[]
}

/**
 * Writes the fact, the new progress, the receipts of finished iterations and the events in one statement, because each
 * costs a round trip. Returns false if the fact was applied before; then nothing is written.
 */
export async function writeFact(t: Transaction, { id, type, before, after, emitted }: FactWrite): Promise<boolean> {
  const at = after.updatedAt
  const { id: sprintId, agentId } = after
  const ended = listEndedIterations(before.progress, after.progress)
  const events = emitted.map((event, index): NewEvent => ({ seq: before.seq + index + 1, at, event }))
  const { rows } = await t.tx.db.execute(sql`
    with taken as (
      insert into fact (sprint_id, id, rev, type, at)
      values (${sprintId}, ${id}, ${before.rev}, ${type}, ${timestampMs.literal(at)})
      on conflict do nothing returning 1
    ), changed as (
      update sprint set progress = ${jsonValue(trimIterations(after.progress))}, rev = ${after.rev}, status = ${after.status}, seq = ${after.seq},
        last_event_at = ${after.lastEventAt === null ? null : timestampMs.literal(after.lastEventAt)}, updated_at = ${timestampMs.literal(at)}
      where id = ${sprintId} and exists (select 1 from taken)
    ), receipts as (
      insert into iteration (sprint_id, number, agent_id, verdict, record, duration_ms, cost_usd, ended_at)
      select ${sprintId}, number, ${agentId}, verdict, record, duration, cost, ended
      from jsonb_to_recordset(${jsonValue(ended.map(toReceiptRow))})
        as row (number int, verdict text, record jsonb, duration bigint, cost double precision, ended timestamptz)
      where exists (select 1 from taken) on conflict do nothing
    ), kept as (
      insert into checkpoint (sprint_id, iteration, commit, at)
      select ${sprintId}, number, record ->> 'checkpoint', ended
      from jsonb_to_recordset(${jsonValue(ended.map(toReceiptRow))}) as row (number int, record jsonb, ended timestamptz)
      where record ->> 'checkpoint' is not null and exists (select 1 from taken) on conflict do nothing
    ), recorded as (${insertEvents({ agentId, sprintId }, events, sql`exists (select 1 from taken)`)})
    select 1 from taken`)
  if (rows.length === 1) {
    t.tx.afterCommit(() => {
      ended.forEach(countIteration)
      t.fleet.traces?.observe({ id: sprintId, name: after.progress.sprintId }, events)
    })
  }
  return rows.length === 1
}

const keptIterations = 20

/** Receipts have their own table: rewriting a hundred of them with every fact cost more than everything else. */
function trimIterations(progress: Progress): Progress {
  const { iterations } = progress
  const checked = iterations.findLast(({ checks }) => checks)
  const last = iterations.slice(-keptIterations)
  // The loop compares new check results with previous ones.
  return { ...progress, iterations: checked && !last.includes(checked) ? [checked, ...last] : last }
}

function listEndedIterations(before: Progress, after: Progress) {
  const known = new Set(before.iterations.map(({ number }) => number))
  return after.iterations.filter(({ number }) => !known.has(number))
}

const toReceiptRow = (record: Progress['iterations'][number]) => ({
  number: record.number,
  verdict: record.verdict,
  record,
  duration: record.endedAt - record.startedAt,
  cost: record.costUsd,
  ended: new Date(record.endedAt),
})
