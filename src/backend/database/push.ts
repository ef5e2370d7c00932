import { integer, pgTable, text, uuid } from 'drizzle-orm/pg-core'
import { timestampMs } from './columns.ts'

/** A browser of a user. The endpoint is a capability: it is never shown. */
export const pushSubscriptions = pgTable('push_subscription', {
  id: uuid('id').primaryKey(),
  userId: uuid('user_id').notNull(),
  endpoint: text('endpoint').notNull().unique(),
  p256dh: text('p256dh').notNull(),
  auth: text('auth').notNull(),
  createdAt: timestampMs('created_at').notNull(),
})

/** One row; `privateKey` is sealed. */
export const pushKeys = pgTable('push_key', {
  id: integer('id').primaryKey(),
  publicKey: text('public_key').notNull(),
  privateKey: text('private_key').notNull(),
})
