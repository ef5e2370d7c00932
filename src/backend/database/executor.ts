import { pgTable, text } from 'drizzle-orm/pg-core'
import { moment } from './columns.ts'

/** Replicas. One that was not seen for a while is dead, and its work is taken over. */
export const executors = pgTable('executor', {
  id: text('id').primaryKey(),
  lastSeen: moment('last_seen').notNull(),
})
