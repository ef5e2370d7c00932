import { integer, jsonb, pgTable, text, uuid } from 'drizzle-orm/pg-core'
import type { QuestionStatus } from '../../contract/fleet/question.ts'
import { timestampMs } from './columns.ts'

export const questions = pgTable('question', {
  id: uuid('id').primaryKey(),
  sprintId: uuid('sprint_id').notNull(),
  agentId: uuid('agent_id').notNull(),
  status: text('status').$type<QuestionStatus>().notNull(),
  reason: text('reason').notNull(),
  details: text('details').notNull(),
  options: jsonb('options').$type<string[]>(),
  defaultAnswer: text('default_answer'),
  iteration: integer('iteration'),
  askedAt: timestampMs('asked_at').notNull(),
  answer: text('answer'),
  answeredBy: text('answered_by'),
  answeredAt: timestampMs('answered_at'),
})
export type QuestionRow = typeof questions.$inferSelect
