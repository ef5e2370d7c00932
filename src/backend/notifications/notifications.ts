import { and, eq, inArray, lte, sql } from 'drizzle-orm'
import type { Delivery } from '../../contract/fleet/webhook.ts'
import { formatTimestamp } from '../../contract/time.ts'
import type { Database, Tx } from '../database/database.ts'
import { deliveries, webhooks } from '../database/webhook.ts'
import type { Notice, Notifications } from '../fleet/ports.ts'

export type NotificationsDeps = {
  readonly database: Database
  readonly now: () => number
  readonly newId: () => string
  /** Rejects with a message for users. */
  readonly post: (url: string, body: string, signing: { readonly secret: string; readonly id: string }) => Promise<void>
  readonly log: (error: unknown) => void
}

export interface NotificationSender extends Notifications {
  /** Retries a delivery that was given up. */
  readonly retry: (id: string) => Promise<void>
  readonly close: () => Promise<void>
}

type DeliveryRow = typeof deliveries.$inferSelect

const deliveriesTopic = 'deliveries'
const pollIntervalMs = 5000
/** Retries after 10 s, 40 s, 160 s … */
const maxAttempts = 6
const firstRetryDelayMs = 10_000
/** Time after which another replica may retry a delivery whose sender died. */
const claimMs = 60_000

/** Delivers notifications to webhooks. Every notification is a row, whatever its outcome. */
export function createNotifications(deps: NotificationsDeps): NotificationSender {
  const { database, now, log } = deps
  let work: Promise<void> | undefined
  let again = false

  const send = (): void => {
    if (work) {
      again = true
      return
    }
    again = false
    work = sendDueDeliveries(deps)
      .catch(log)
      .finally(() => {
        work = undefined
        if (again) send()
      })
  }

  const unsubscribe = database.signals.on(deliveriesTopic, send)
  const timer = setInterval(send, pollIntervalMs)
  return {
    notify: (tx, notice) => addDeliveries(tx, notice, deps),
    retry: async (id) => {
      const waiting = { status: 'waiting' as const, nextTryAt: now(), tries: 0, error: null }
      await database.db.update(deliveries).set(waiting).where(eq(deliveries.id, id))
      send()
    },
    close: async () => {
      unsubscribe()
      clearInterval(timer)
      again = false
      await work
    },
  }
}

async function addDeliveries(tx: Tx, notice: Notice, { database, now, newId }: NotificationsDeps): Promise<void> {
  const at = now()
  const hooks = await tx.db.select().from(webhooks)
  const subscribed = hooks.filter(({ events }) => events.includes(notice.event))
  if (subscribed.length === 0) return
  const body = { ...notice, at: formatTimestamp(at) }
  await tx.db.insert(deliveries).values(
    subscribed.map(({ id, url, enabled }) => ({
      id: newId(),
      webhookId: id,
      via: 'webhook' as const,
      to: url,
      event: notice.event,
      sprintId: notice.sprintId ?? null,
      body,
      createdAt: at,
      ...(enabled ? { status: 'waiting' as const, nextTryAt: at } : { status: 'suppressed' as const }),
    })),
  )
  tx.afterCommit(() => database.signals.emit(deliveriesTopic, ''))
}

async function sendDueDeliveries(deps: NotificationsDeps): Promise<void> {
  for (;;) {
    const due = await claimDeliveries(deps)
    if (due.length === 0) return
    await Promise.all(due.map((delivery) => sendDelivery(delivery, deps)))
  }
}

/** Claims deliveries that are due, so that no other replica sends them too. */
function claimDeliveries({ database, now }: NotificationsDeps): Promise<DeliveryRow[]> {
  return database.transaction(async ({ db }) => {
    const due = db
      .select({ id: deliveries.id })
      .from(deliveries)
      .where(and(eq(deliveries.status, 'waiting'), lte(deliveries.nextTryAt, now())))
      .orderBy(deliveries.nextTryAt)
      .limit(10)
      .for('update', { skipLocked: true })
    const taken = { nextTryAt: now() + claimMs, tries: sql`${deliveries.tries} + 1` }
    return db.update(deliveries).set(taken).where(inArray(deliveries.id, due)).returning()
  })
}

async function sendDelivery(delivery: DeliveryRow, { database: { db }, now, post }: NotificationsDeps): Promise<void> {
  const [hook] = await db
    .select()
    .from(webhooks)
    .where(eq(webhooks.id, delivery.webhookId ?? delivery.id))
  const error = hook?.enabled
    ? await post(delivery.to, JSON.stringify({ id: delivery.id, ...asObject(delivery.body) }), {
        secret: hook.secret,
        id: delivery.id,
      }).then(
        () => undefined,
        (cause: unknown) => (cause instanceof Error ? cause.message : String(cause)),
      )
    : undefined
  const update = (fields: Partial<DeliveryRow>) =>
    db.update(deliveries).set(fields).where(eq(deliveries.id, delivery.id))
  if (!hook?.enabled) await update({ status: 'suppressed', nextTryAt: null })
  else if (error === undefined) await update({ status: 'sent', sentAt: now(), nextTryAt: null, error: null })
  else if (delivery.tries >= maxAttempts) await update({ status: 'failed', nextTryAt: null, error })
  else await update({ nextTryAt: now() + firstRetryDelayMs * 4 ** (delivery.tries - 1), error })
}

const asObject = (body: unknown): object => (typeof body === 'object' && body !== null ? body : {})

export const showDelivery = (row: DeliveryRow): Delivery => ({
  id: row.id,
  via: row.via,
  to: row.to,
  event: row.event,
  status: row.status,
  tries: row.tries,
  createdAt: row.createdAt,
  ...(row.webhookId !== null && { webhookId: row.webhookId }),
  ...(row.sprintId !== null && { sprintId: row.sprintId }),
  ...(row.nextTryAt !== null && row.status === 'waiting' && { nextTryAt: row.nextTryAt }),
  ...(row.error !== null && { error: row.error }),
  ...(row.sentAt !== null && { sentAt: row.sentAt }),
})
