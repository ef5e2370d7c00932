import { z } from 'zod'
import { Timestamp } from '../time.ts'
import { Uuid } from './page.ts'

export const WebhookEvent = z.enum([
  'needs-human',
  'completed',
  'failed',
  'parked',
  'resumed',
  'stopped',
  'machine-lost',
  'budget',
])
export type WebhookEvent = z.infer<typeof WebhookEvent>

export const Webhook = z.object({
  id: Uuid,
  url: z.url(),
  events: z.array(WebhookEvent),
  enabled: z.boolean(),
  createdAt: Timestamp,
  /** The signing key; shown once, on creation. */
  secret: z.string().optional(),
})
export type Webhook = z.output<typeof Webhook>

/** One notification to one recipient, and its delivery state. */
export const Delivery = z.object({
  id: Uuid,
  webhookId: Uuid.optional(),
  /** `browser`: an open page showed it. `push`: a push service delivers it to a browser. */
  via: z.enum(['webhook', 'browser', 'push']),
  to: z.string(),
  event: WebhookEvent,
  sprintId: Uuid.optional(),
  status: z.enum(['waiting', 'sent', 'suppressed', 'failed']),
  tries: z.int(),
  nextTryAt: Timestamp.optional(),
  error: z.string().optional(),
  createdAt: Timestamp,
  sentAt: Timestamp.optional(),
})
export type Delivery = z.output<typeof Delivery>
