import { pgTable, text } from 'drizzle-orm/pg-core'
import { timestampMs } from './columns.ts'

/** Replicas. The others take over the work of a replica that has not been seen for a while. */
export const executors = pgTable('executor', {
  id: text('id').primaryKey(),
  lastSeen: timestampMs('last_seen').notNull(),
})
