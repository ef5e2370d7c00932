import { boolean, integer, jsonb, pgTable, text, uuid } from 'drizzle-orm/pg-core'
import type { Delivery, WebhookEvent } from '../../contract/fleet/webhook.ts'
import { timestampMs } from './columns.ts'

export const webhooks = pgTable('webhook', {
  id: uuid('id').primaryKey(),
  url: text('url').notNull(),
  events: jsonb('events').$type<readonly WebhookEvent[]>().notNull(),
  enabled: boolean('enabled').notNull().default(true),
  secret: text('secret').notNull(),
  createdBy: uuid('created_by'),
  createdAt: timestampMs('created_at').notNull(),
})

export const deliveries = pgTable('delivery', {
  id: uuid('id').primaryKey(),
  webhookId: uuid('webhook_id'),
  pushId: uuid('push_id'),
  via: text('via').$type<Delivery['via']>().notNull(),
  to: text('to').notNull(),
  event: text('event').$type<WebhookEvent>().notNull(),
  sprintId: uuid('sprint_id'),
  body: jsonb('body').notNull(),
  status: text('status').$type<Delivery['status']>().notNull(),
  tries: integer('tries').notNull().default(0),
  nextTryAt: timestampMs('next_try_at'),
  error: text('error'),
  createdAt: timestampMs('created_at').notNull(),
  sentAt: timestampMs('sent_at'),
})
