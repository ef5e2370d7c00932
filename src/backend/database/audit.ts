import { bigserial, integer, jsonb, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import { timestampMs } from './columns.ts'

/** Who did what. The database refuses updates and deletes. */
export const audit = pgTable('audit', {
  id: bigserial('id', { mode: 'number' }).primaryKey(),
  at: timestampMs('at').notNull(),
  who: text('who').notNull(),
  userId: uuid('user_id'),
  what: text('what').notNull(),
  target: text('target'),
  details: jsonb('details').$type<Readonly<Record<string, unknown>>>(),
})

/** Stored responses of calls with an idempotency key; a row without status belongs to a call in progress. */
export const idempotency = pgTable(
  'idempotency',
  {
    userId: uuid('user_id').notNull(),
    key: text('key').notNull(),
    requestHash: text('request_hash').notNull(),
    status: integer('status'),
    response: jsonb('response'),
    createdAt: timestampMs('created_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.userId, table.key] })],
)
