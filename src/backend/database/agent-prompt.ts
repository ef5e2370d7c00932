import { doublePrecision, integer, pgTable, text, uuid } from 'drizzle-orm/pg-core'
import type { PromptStatus } from '../../contract/fleet/prompt.ts'
import { timestampMs } from './columns.ts'

/** The loop has one row per attempt. */
export const agentPrompts = pgTable('agent_prompt', {
  id: uuid('id').primaryKey(),
  agentId: uuid('agent_id').notNull(),
  prompt: text('prompt').notNull(),
  status: text('status').$type<PromptStatus>().notNull(),
  model: text('model'),
  by: text('by').notNull(),
  userId: uuid('user_id'),
  sprintId: uuid('sprint_id'),
  iteration: integer('iteration'),
  orderId: text('order_id'),
  attempt: integer('attempt').notNull().default(0),
  position: doublePrecision('position').notNull(),
  notBefore: timestampMs('not_before'),
  leaseUntil: timestampMs('lease_until'),
  /** When the machine stored it on disk. */
  storedAt: timestampMs('stored_at'),
  error: text('error'),
  answer: text('answer'),
  costUsd: doublePrecision('cost_usd'),
  createdAt: timestampMs('created_at').notNull(),
  startedAt: timestampMs('started_at'),
  endedAt: timestampMs('ended_at'),
  /** When a lost machine reported after all how the prompt ended. */
  lateAt: timestampMs('late_at'),
})
export type PromptRow = typeof agentPrompts.$inferSelect
