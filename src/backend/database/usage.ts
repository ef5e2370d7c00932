import { boolean, date, doublePrecision, integer, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import type { z } from 'zod'
import type { BudgetPeriod, BudgetScope } from '../../contract/fleet/budget.ts'
import { bigintColumn, timestampMs } from './columns.ts'

export const usage = pgTable(
  'usage',
  {
    day: date('day', { mode: 'string' }).notNull(),
    agentId: uuid('agent_id').notNull(),
    /** Empty if unknown. */
    model: text('model').notNull(),
    costUsd: doublePrecision('cost_usd').notNull().default(0),
    unpriced: integer('unpriced').notNull().default(0),
    inputTokens: bigintColumn('input_tokens').notNull().default(0),
    outputTokens: bigintColumn('output_tokens').notNull().default(0),
    cacheReadTokens: bigintColumn('cache_read_tokens').notNull().default(0),
    cacheWriteTokens: bigintColumn('cache_write_tokens').notNull().default(0),
    iterations: integer('iterations').notNull().default(0),
  },
  (table) => [primaryKey({ columns: [table.day, table.agentId, table.model] })],
)

/** Current usage limits, shared by all agents of the account. */
export const accountLimits = pgTable('account_limit', {
  account: text('account').primaryKey(),
  until: timestampMs('until').notNull(),
  reason: text('reason').notNull(),
  agentId: uuid('agent_id'),
  notedAt: timestampMs('noted_at').notNull(),
})

export const budgets = pgTable('budget', {
  id: uuid('id').primaryKey(),
  scope: text('scope').$type<z.output<typeof BudgetScope>>().notNull(),
  /** The ID of the user or the label; empty for the fleet. */
  subject: text('subject').notNull().default(''),
  period: text('period').$type<BudgetPeriod>().notNull(),
  limitUsd: doublePrecision('limit_usd').notNull(),
  hard: boolean('hard').notNull(),
  /** First day of the period for which a warning was sent. */
  warnedFor: date('warned_for', { mode: 'string' }),
  createdBy: text('created_by').notNull(),
  createdAt: timestampMs('created_at').notNull(),
})
export type BudgetRow = typeof budgets.$inferSelect
