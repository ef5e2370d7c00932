import { sql } from 'drizzle-orm'
import { bigserial, integer, jsonb, pgTable, text, uuid } from 'drizzle-orm/pg-core'
import type { SprintEvent } from '../../contract/events.ts'
import { timestampMs, transactionNumber } from './columns.ts'

/** The event log of the backend. Kind `event` is an event of a sprint; the other kinds name a changed row. */
export const events = pgTable('event', {
  id: bigserial('id', { mode: 'number' }).primaryKey(),
  tx: transactionNumber('tx')
    .notNull()
    .default(sql`pg_current_xact_id()`),
  kind: text('kind').$type<EventKind>().notNull(),
  agentId: uuid('agent_id'),
  sprintId: uuid('sprint_id'),
  promptId: uuid('prompt_id'),
  machineId: uuid('machine_id'),
  questionId: uuid('question_id'),
  /** Increases by one within the sprint, or within a prompt without a sprint. */
  seq: integer('seq'),
  type: text('type'),
  iteration: integer('iteration'),
  payload: jsonb('payload').$type<SprintEvent>(),
  /** Path of the whole output on the machine. */
  clipped: text('clipped'),
  at: timestampMs('at').notNull(),
})
export type EventRow = typeof events.$inferSelect
export type EventKind = 'event' | 'agent' | 'agent-gone' | 'prompt' | 'machine' | 'question' | 'sprint'
