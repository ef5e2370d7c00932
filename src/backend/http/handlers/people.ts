import { randomBytes } from 'node:crypto'
import { and, desc, eq, isNull, lt } from 'drizzle-orm'
import { RalphError } from '../../../contract/errors.ts'
import { doneResponse } from '../../../contract/fleet/page.ts'
import type { ApiToken, AuditEntry } from '../../../contract/fleet/user.ts'
import type { Webhook } from '../../../contract/fleet/webhook.ts'
import { audit } from '../../database/audit.ts'
import type { Database } from '../../database/database.ts'
import type { SecretBox } from '../../secrets/secret-box.ts'
import { access, apiTokens, users } from '../../database/user.ts'
import { deliveries, webhooks } from '../../database/webhook.ts'
import { showDelivery, type NotificationSender } from '../../notifications/notifications.ts'
import { decodeCursor, olderThan, toPage } from '../../views/cursor.ts'
import type { ApiCaller, RouteHandlers } from '../calls/call.ts'
import { hashCredential, generateSecret, toUser } from '../identity.ts'

export type PeopleDeps = {
  readonly database: Database
  readonly box: SecretBox
  readonly sender: NotificationSender
  readonly now: () => number
  readonly newId: () => string
  readonly version: string
  readonly project: string | undefined
  readonly demo: boolean
  readonly ticketAddress: (userId: string, scope: ApiCaller['scope']) => Promise<string>
}

type PeopleRoute = Pick<
  RouteHandlers,
  | 'me'
  | 'listUsers'
  | 'changeUser'
  | 'makeTicket'
  | 'listTokens'
  | 'makeToken'
  | 'revokeToken'
  | 'listAccess'
  | 'giveAccess'
  | 'listWebhooks'
  | 'makeWebhook'
  | 'changeWebhook'
  | 'deleteWebhook'
  | 'listDeliveries'
  | 'retryDelivery'
  | 'testWebhook'
  | 'recordDelivery'
  | 'listAudit'
>

/** Users, tokens, access, webhooks and the audit log. */
export const peopleHandlers = (deps: PeopleDeps): PeopleRoute => ({
  ...userHandlers(deps),
  ...tokenHandlers(deps),
  ...accessHandlers(deps),
  ...webhookHandlers(deps),
  ...deliveryHandlers(deps),
})

const rowNotFound = () => new RalphError('NOT_FOUND', 'not found, or you have no access')

const userHandlers = ({
  database: { db },
  now,
  version,
  project,
  demo,
  ticketAddress,
}: PeopleDeps): Pick<RouteHandlers, 'me' | 'makeTicket' | 'listUsers' | 'changeUser' | 'listAudit'> => ({
  makeTicket: async ({ who }) => ({ address: await ticketAddress(who.user.id, who.scope) }),
  me: async ({ who }) => ({
    user: who.user,
    signedInBy: who.by,
    version,
    ...(project !== undefined && { project }),
    ...(demo && { demo }),
  }),
  listUsers: async () => ({ items: (await db.select().from(users).orderBy(users.name)).map(toUser) }),
  changeUser: async ({ ids, body: { role, disabled }, who }) => {
    if (ids.userId === who.user.id) throw new RalphError('FORBIDDEN', 'you cannot change your own role')
    const change = {
      ...(role !== undefined && { role }),
      ...(disabled !== undefined && { disabledAt: disabled ? now() : null }),
    }
    const [row] =
      Object.keys(change).length > 0
        ? await db.update(users).set(change).where(eq(users.id, ids.userId)).returning()
        : await db.select().from(users).where(eq(users.id, ids.userId))
    if (!row) throw rowNotFound()
    return toUser(row)
  },
  listAudit: async ({ query: { cursor, limit } }) => {
    const after = decodeCursor(cursor)
    const rows = await db
      .select()
      .from(audit)
      .where(after && lt(audit.id, after.at))
      .orderBy(desc(audit.id))
      .limit(limit + 1)
    return toPage(rows, limit, { show: showAudit, cursor: ({ id }) => ({ at: id, id: 'n' }) })
  },
})

const showAudit = ({ id, at, who, what, target, details }: typeof audit.$inferSelect): AuditEntry => ({
  id: `${id}`,
  at,
  who,
  what,
  ...(target !== null && { target }),
  ...(details !== null && { details }),
})

const dayMs = 86_400_000

const tokenHandlers = ({
  database: { db },
  now,
  newId,
}: PeopleDeps): Pick<RouteHandlers, 'listTokens' | 'makeToken' | 'revokeToken'> => ({
  listTokens: async ({ who }) => {
    const mine = and(eq(apiTokens.userId, who.user.id), isNull(apiTokens.revokedAt))
    return { items: (await db.select().from(apiTokens).where(mine).orderBy(desc(apiTokens.createdAt))).map(showToken) }
  },
  makeToken: async ({ who, body: { name, scope, days } }) => {
    if (scopesAllowedBy.indexOf(scope) > scopesAllowedBy.indexOf(who.scope)) {
      throw new RalphError('FORBIDDEN', 'a token cannot create a token with more rights than itself')
    }
    const token = `ralph_${generateSecret()}`
    const times = { createdAt: now(), expiresAt: now() + days * dayMs }
    const row = { id: newId(), userId: who.user.id, name, scope, hash: hashCredential(token), ...times }
    await db.insert(apiTokens).values(row)
    return { token, details: { id: row.id, name, scope, ...times } }
  },
  revokeToken: async ({ who, ids }) => {
    const mine = and(eq(apiTokens.id, ids.tokenId), eq(apiTokens.userId, who.user.id))
    const [row] = await db.update(apiTokens).set({ revokedAt: now() }).where(mine).returning()
    if (!row) throw rowNotFound()
    return doneResponse
  },
})

const scopesAllowedBy = ['read', 'write', 'admin']

const showToken = ({ id, name, scope, createdAt, expiresAt, lastUsedAt }: typeof apiTokens.$inferSelect): ApiToken => ({
  id,
  name,
  scope,
  createdAt,
  expiresAt,
  ...(lastUsedAt !== null && { lastUsedAt }),
})

function accessHandlers({ database }: PeopleDeps): Pick<RouteHandlers, 'listAccess' | 'giveAccess'> {
  const list = async (agentId: string) => {
    const rows = await database.db
      .select({ agentId: access.agentId, userId: access.userId, userName: users.name, level: access.level })
      .from(access)
      .innerJoin(users, eq(users.id, access.userId))
      .where(eq(access.agentId, agentId))
      .orderBy(users.name)
    return { items: rows }
  }
  return {
    listAccess: ({ ids }) => list(ids.agentId),
    giveAccess: async ({ ids: { agentId, userId }, body: { level } }) => {
      await database.transaction(async ({ db }) => {
        const theirs = and(eq(access.agentId, agentId), eq(access.userId, userId))
        if (level === null) return void (await db.delete(access).where(theirs))
        const [known] = await db.select({ id: users.id }).from(users).where(eq(users.id, userId))
        if (!known) throw rowNotFound()
        const row = { agentId, userId, level }
        const target = [access.agentId, access.userId]
        await db.insert(access).values(row).onConflictDoUpdate({ target, set: { level } })
      })
      return list(agentId)
    },
  }
}

const webhookHandlers = ({
  database: { db },
  box,
  now,
  newId,
}: PeopleDeps): Pick<RouteHandlers, 'listWebhooks' | 'makeWebhook' | 'changeWebhook' | 'deleteWebhook'> => ({
  listWebhooks: async () => ({
    items: (await db.select().from(webhooks).orderBy(webhooks.createdAt)).map(showWebhook),
  }),
  makeWebhook: async ({ who, body: { url, events } }) => {
    const secret = createWebhookSecret()
    const sealed = box.seal(secret, 'webhook secret')
    const made = { id: newId(), url, events, secret: sealed, createdBy: who.user.id, createdAt: now() }
    await db.insert(webhooks).values(made)
    return { ...showWebhook({ ...made, enabled: true }), secret }
  },
  changeWebhook: async ({ ids, body: { enabled } }) => {
    const [row] = await db.update(webhooks).set({ enabled }).where(eq(webhooks.id, ids.webhookId)).returning()
    if (!row) throw rowNotFound()
    return showWebhook(row)
  },
  deleteWebhook: async ({ ids }) => {
    const [row] = await db.delete(webhooks).where(eq(webhooks.id, ids.webhookId)).returning()
    if (!row) throw rowNotFound()
    return doneResponse
  },
})

/** In the form that libraries for Standard Webhooks expect. */
const createWebhookSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`

const showWebhook = ({ id, url, events, enabled, createdAt }: typeof webhooks.$inferSelect): Webhook => ({
  id,
  url,
  events: [...events],
  enabled,
  createdAt,
})

const deliveryHandlers = ({
  database: { db },
  sender,
  now,
  newId,
}: PeopleDeps): Pick<RouteHandlers, 'listDeliveries' | 'retryDelivery' | 'testWebhook' | 'recordDelivery'> => ({
  listDeliveries: async ({ query: { cursor, limit } }) => {
    const rows = await db
      .select()
      .from(deliveries)
      .where(olderThan(decodeCursor(cursor), deliveries.createdAt, deliveries.id))
      .orderBy(desc(deliveries.createdAt), desc(deliveries.id))
      .limit(limit + 1)
    return toPage(rows, limit, { show: showDelivery, cursor: ({ createdAt, id }) => ({ at: createdAt, id }) })
  },
  retryDelivery: async ({ ids }) => {
    await sender.retry(ids.deliveryId)
    const [row] = await db.select().from(deliveries).where(eq(deliveries.id, ids.deliveryId))
    if (!row) throw rowNotFound()
    return showDelivery(row)
  },
  testWebhook: async ({ ids, who }) => {
    const [hook] = await db.select().from(webhooks).where(eq(webhooks.id, ids.webhookId))
    if (!hook) throw rowNotFound()
    if (!hook.enabled) throw new RalphError('INVALID_REQUEST', 'this webhook is disabled', { hint: 'enable it first' })
    const body = { event: 'completed', test: true, text: `A test by ${who.user.name}: Ralph can reach this address.` }
    const about = { webhookId: hook.id, via: 'webhook' as const, to: hook.url, event: 'completed' as const }
    const row = { id: newId(), ...about, sprintId: null, body, status: 'failed' as const, createdAt: now() }
    await db.insert(deliveries).values(row)
    await sender.retry(row.id)
    const [made] = await db.select().from(deliveries).where(eq(deliveries.id, row.id))
    if (!made) throw rowNotFound()
    return showDelivery(made)
  },
  recordDelivery: async ({ who, body: { event, sprintId = null, status, error = null } }) => {
    const at = { createdAt: now(), sentAt: status === 'sent' ? now() : null }
    const row = {
      id: newId(),
      via: 'browser' as const,
      to: who.user.name,
      event,
      sprintId,
      status,
      error,
      body: {},
      ...at,
    }
    const [made] = await db.insert(deliveries).values(row).returning()
    if (!made) throw new RalphError('INTERNAL', 'nothing was inserted')
    return showDelivery(made)
  },
})
