import { z } from 'zod'
import { FleetChange } from './event.ts'
import { DoneResponse, PageQuery, pageSchema, Uuid, resourceName, emptyBody } from './page.ts'
import { ApiToken, AuditEntry, Me, TokenScope, User, UserRole } from './user.ts'
import { Delivery, Webhook, WebhookEvent } from './webhook.ts'
import type { Route } from './route.ts'

const EventStreamQuery = z.strictObject({
  /** Limits the stream to this agent, including events inside its sprint. */
  agentId: Uuid.optional(),
  /** Adds the events inside this sprint, or inside several: IDs separated by commas. */
  sprintId: z
    .string()
    .max(2000)
    .refine((text) => text.split(',').every((id) => Uuid.safeParse(id).success), { error: 'must be IDs of sprints' })
    .optional(),
  /** ID of the last received frame, for clients that cannot send `Last-Event-ID`, which takes precedence. */
  after: z.string().max(60).optional(),
})

export const adminRoutes = {
  me: { method: 'GET', path: '/api/me', needs: 'signed-in', summary: 'The signed-in user', response: Me },
  signIn: {
    method: 'POST',
    path: '/api/sign-in',
    needs: 'public',
    summary: 'Exchanges a one-time ticket for a cookie',
    body: z.strictObject({ ticket: z.string().max(200) }),
    response: Me,
  },
  waysToSignIn: {
    method: 'GET',
    path: '/api/sign-in',
    needs: 'public',
    summary: 'Ways to sign in besides a ticket',
    response: z.object({ organisation: z.boolean(), passkeys: z.boolean() }),
  },
  makeTicket: {
    method: 'POST',
    path: '/api/tickets',
    creates: true,
    needs: 'signed-in',
    summary: 'Creates an address that signs you in on another browser, once and within a minute',
    body: emptyBody,
    response: z.object({ address: z.string() }),
  },
  signOut: {
    method: 'POST',
    path: '/api/sign-out',
    needs: 'signed-in',
    summary: 'Ends the session',
    body: emptyBody,
    response: DoneResponse,
  },
  listUsers: {
    method: 'GET',
    path: '/api/users',
    needs: 'signed-in',
    summary: 'People',
    response: z.object({ items: z.array(User) }),
  },
  changeUser: {
    method: 'PATCH',
    path: '/api/users/{userId}',
    needs: 'admin',
    summary: "Changes a user's role, or disables the user",
    body: z.strictObject({ role: UserRole.optional(), disabled: z.boolean().optional() }),
    response: User,
  },
  listTokens: {
    method: 'GET',
    path: '/api/tokens',
    needs: 'signed-in',
    summary: 'Your API tokens',
    response: z.object({ items: z.array(ApiToken) }),
  },
  makeToken: {
    method: 'POST',
    path: '/api/tokens',
    creates: true,
    needs: 'signed-in',
    summary: 'Creates an API token; it is shown once',
    body: z.strictObject({ name: resourceName, scope: TokenScope, days: z.int().min(1).max(366).default(90) }),
    response: z.object({ token: z.string(), details: ApiToken }),
  },
  revokeToken: {
    method: 'DELETE',
    path: '/api/tokens/{tokenId}',
    needs: 'signed-in',
    summary: 'Revokes a token',
    response: DoneResponse,
  },
  listWebhooks: {
    method: 'GET',
    path: '/api/webhooks',
    needs: 'admin',
    summary: 'Webhooks',
    response: z.object({ items: z.array(Webhook) }),
  },
  makeWebhook: {
    method: 'POST',
    path: '/api/webhooks',
    creates: true,
    needs: 'admin',
    summary: 'Adds a webhook: an address that receives signed notifications',
    body: z.strictObject({ url: z.url({ protocol: /^https$/ }).max(2000), events: z.array(WebhookEvent).min(1) }),
    response: Webhook,
  },
  changeWebhook: {
    method: 'PATCH',
    path: '/api/webhooks/{webhookId}',
    needs: 'admin',
    summary: 'Enables or disables a webhook',
    body: z.strictObject({ enabled: z.boolean() }),
    response: Webhook,
  },
  deleteWebhook: {
    method: 'DELETE',
    path: '/api/webhooks/{webhookId}',
    needs: 'admin',
    summary: 'Deletes a webhook',
    response: DoneResponse,
  },
  listDeliveries: {
    method: 'GET',
    path: '/api/deliveries',
    needs: 'admin',
    summary: 'Notifications and whether they were delivered',
    query: PageQuery,
    response: pageSchema(Delivery),
  },
  testWebhook: {
    method: 'POST',
    path: '/api/webhooks/{webhookId}/test',
    creates: true,
    needs: 'admin',
    summary: 'Sends a test delivery to a webhook, signed like every other one',
    body: emptyBody,
    response: Delivery,
  },
  retryDelivery: {
    method: 'POST',
    path: '/api/deliveries/{deliveryId}/retry',
    needs: 'admin',
    summary: 'Retries a delivery',
    body: emptyBody,
    response: Delivery,
  },
  recordDelivery: {
    method: 'POST',
    path: '/api/deliveries',
    creates: true,
    needs: 'signed-in',
    summary: 'A browser reports whether it has shown a notification',
    body: z.strictObject({
      event: WebhookEvent,
      sprintId: Uuid.optional(),
      status: z.enum(['sent', 'suppressed', 'failed']),
      error: z.string().max(500).optional(),
    }),
    response: Delivery,
  },
  listAudit: {
    method: 'GET',
    path: '/api/audit',
    needs: 'admin',
    summary: 'Who did what, newest first',
    query: PageQuery,
    response: pageSchema(AuditEntry),
  },
  events: {
    method: 'GET',
    path: '/api/events',
    needs: 'signed-in',
    summary:
      'Server-sent events: changed rows, and events inside a sprint; with Last-Event-ID it first sends what was missed',
    query: EventStreamQuery,
    response: FleetChange,
  },
} as const satisfies Record<string, Route>
