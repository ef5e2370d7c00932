import { boolean, doublePrecision, integer, jsonb, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import type { Protocol } from '../../contract/fleet/sprint.ts'
import type { IterationRecord, Progress, SprintStatus, Verdict } from '../../contract/progress.ts'
import type { Order } from '../../loop/core/order.ts'
import { bigintColumn, timestampMs } from './columns.ts'

export const sprints = pgTable('sprint', {
  id: uuid('id').primaryKey(),
  agentId: uuid('agent_id').notNull(),
  protocol: text('protocol').$type<Protocol>().notNull(),
  rev: integer('rev').notNull(),
  status: text('status').$type<SprintStatus>().notNull(),
  progress: jsonb('progress').$type<Progress>().notNull(),
  /** Controlled by `ralph run` in a terminal, not by this backend. */
  observed: boolean('observed').notNull().default(false),
  /** Number of events so far. */
  seq: integer('seq').notNull().default(0),
  diff: jsonb('diff').$type<{ added: number; removed: number }>(),
  branch: text('branch'),
  /** The commit with its current files, if the machine has pushed them. */
  pushed: text('pushed'),
  startAt: timestampMs('start_at'),
  startedBy: text('started_by'),
  /** Set to resume it once the machine confirms that the agent has stopped. */
  resumeAskedAt: timestampMs('resume_asked_at'),
  lastEventAt: timestampMs('last_event_at'),
  createdAt: timestampMs('created_at').notNull(),
  updatedAt: timestampMs('updated_at').notNull(),
})
export type SprintRow = typeof sprints.$inferSelect

/** Orders of a sprint. `queued` until dispatched, `open` until its fact arrives. */
export const sprintOrders = pgTable('sprint_order', {
  id: text('id').primaryKey(),
  sprintId: uuid('sprint_id').notNull(),
  agentId: uuid('agent_id').notNull(),
  type: text('type').$type<Order['type']>().notNull(),
  order: jsonb('order').$type<Order>().notNull(),
  status: text('status').$type<'queued' | 'open' | 'done' | 'dropped'>().notNull(),
  /** Prompts of the agent wait until it is done. */
  blocking: boolean('blocking').notNull(),
  promptId: uuid('prompt_id'),
  dueAt: timestampMs('due_at'),
  createdAt: timestampMs('created_at').notNull(),
  endedAt: timestampMs('ended_at'),
})
export type OrderRow = typeof sprintOrders.$inferSelect

/** Deduplicates facts. */
export const facts = pgTable(
  'fact',
  {
    sprintId: uuid('sprint_id').notNull(),
    id: text('id').notNull(),
    rev: integer('rev').notNull(),
    type: text('type').notNull(),
    at: timestampMs('at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.sprintId, table.id] })],
)

export const iterations = pgTable(
  'iteration',
  {
    sprintId: uuid('sprint_id').notNull(),
    number: integer('number').notNull(),
    agentId: uuid('agent_id').notNull(),
    verdict: text('verdict').$type<Verdict>().notNull(),
    record: jsonb('record').$type<IterationRecord>().notNull(),
    durationMs: bigintColumn('duration_ms').notNull(),
    costUsd: doublePrecision('cost_usd'),
    endedAt: timestampMs('ended_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.sprintId, table.number] })],
)

export const checkpoints = pgTable(
  'checkpoint',
  {
    sprintId: uuid('sprint_id').notNull(),
    iteration: integer('iteration').notNull(),
    commit: text('commit').notNull(),
    at: timestampMs('at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.sprintId, table.iteration] })],
)
