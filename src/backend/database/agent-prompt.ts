import { doublePrecision, integer, pgTable, text, uuid } from 'drizzle-orm/pg-core'
import type { PromptStatus } from '../../contract/fleet/prompt.ts'
import { moment } from './columns.ts'

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
  notBefore: moment('not_before'),
  leaseUntil: moment('lease_until'),
  /** When the machine stored it on disk. */
  storedAt: moment('stored_at'),
  error: text('error'),
  answer: text('answer'),
  costUsd: doublePrecision('cost_usd'),
  createdAt: moment('created_at').notNull(),
  startedAt: moment('started_at'),
  endedAt: moment('ended_at'),
  /** When a lost machine reported after all how the prompt ended. */
  lateAt: moment('late_at'),
})
export type PromptRow = typeof agentPrompts.$inferSelect
