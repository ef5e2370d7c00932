import { and, eq } from 'drizzle-orm'
import { errorMessage } from '../../contract/errors.ts'
import type { Delivery } from '../../contract/fleet/webhook.ts'
import { formatTimestamp } from '../../contract/time.ts'
import { findChannel } from '../../runtime/channels/registry.ts'
import type { Database, Tx } from '../database/database.ts'
import type { SecretBox } from '../secrets/secret-box.ts'
import { deliveries, webhooks } from '../database/webhook.ts'
import type { Engine } from '../engine/engine.ts'
import type { DeliveryAttempt, Notice, Notifier } from '../fleet/notice.ts'
import type { PushChannel } from './push.ts'

export type NotifierOptions = {
  readonly database: Database
  readonly box: Pick<SecretBox, 'open'>
  readonly engine: () => Pick<Engine, 'enqueue'>
  readonly now: () => number
  readonly newId: () => string
  readonly push?: PushChannel | undefined
  /** Rejects with a message for users. */
  readonly post: (url: string, body: string, signing: { readonly secret: string; readonly id: string }) => Promise<void>
}

export interface NotificationSender extends Notifier {
  /** Retries a delivery that was given up. */
  readonly retry: (id: string) => Promise<void>
  /** Schedules waiting deliveries that have no task yet: those of a version without tasks for them. */
  readonly resume: () => Promise<void>
}

type DeliveryRow = typeof deliveries.$inferSelect

/** Retries after 10 s, 40 s, 160 s … */
const maxAttempts = 6
const firstRetryDelayMs = 10_000
const maxResumed = 1000

/** Delivers notifications to webhooks. Every notification is a row, whatever its outcome; each attempt is a task. */
export function createNotificationSender(deps: NotifierOptions): NotificationSender {
  const { database, now } = deps
  return {
    notify: (tx, notice) => addDeliveries(tx, notice, deps),
    deliver: (delivery) => sendDelivery(delivery, deps),
    retry: (id) =>
      database.transaction(async (tx) => {
        const nextTryAt = now()
        const waiting = { status: 'waiting' as const, nextTryAt, tries: 0, error: null }
        const { rowCount } = await tx.db.update(deliveries).set(waiting).where(eq(deliveries.id, id))
        if (rowCount !== 0) await scheduleDelivery(tx, { id, nextTryAt }, deps)
      }),
    resume: () =>
      database.transaction(async (tx) => {
        const isWaiting = eq(deliveries.status, 'waiting')
        const rows = await tx.db.select().from(deliveries).where(isWaiting).limit(maxResumed)
        for (const { id, nextTryAt } of rows) await scheduleDelivery(tx, { id, nextTryAt: nextTryAt ?? now() }, deps)
      }),
  }
}

type DueDelivery = { readonly id: string; readonly nextTryAt: number }

/** One task per attempt: its ID contains the time, so scheduling an attempt again changes nothing. */
const scheduleDelivery = (tx: Tx, { id, nextTryAt }: DueDelivery, { engine, now }: NotifierOptions): Promise<void> =>
  engine().enqueue(tx, {
    id: `delivery:${id}:${nextTryAt}`,
    kind: 'deliver',
    input: { id, at: nextTryAt },
    ...(nextTryAt > now() && { at: nextTryAt }),
  })

async function addDeliveries(tx: Tx, notice: Notice, deps: NotifierOptions): Promise<void> {
  const at = deps.now()
  const hooks = await tx.db.select().from(webhooks)
  const subscribed = hooks.filter(({ events }) => events.includes(notice.event))
  const browsers = (await deps.push?.listTargets(tx.db, notice)) ?? []
  if (subscribed.length === 0 && browsers.length === 0) return
  const { event, sprintId = null } = notice
  const common = () => ({
    id: deps.newId(),
    event,
    sprintId,
    body: { ...notice, at: formatTimestamp(at) },
    createdAt: at,
  })
  const waiting = { status: 'waiting' as const, nextTryAt: at }
  const rows = [
    ...subscribed.map(({ id, url, enabled }) => ({
      ...common(),
      webhookId: id,
      via: 'webhook' as const,
      to: url,
      ...(enabled ? waiting : { status: 'suppressed' as const }),
    })),
    // The address of a browser is a secret; its push service is not.
    ...browsers.map(({ id, endpoint }) => ({
      ...common(),
      pushId: id,
      via: 'push' as const,
      to: new URL(endpoint).host,
      ...waiting,
    })),
  ]
  await tx.db.insert(deliveries).values(rows)
  for (const { id, status } of rows) if (status === 'waiting') await scheduleDelivery(tx, { id, nextTryAt: at }, deps)
}

/** Sends a delivery and records the outcome. Does nothing if another attempt has replaced this one. */
async function sendDelivery({ id, at }: DeliveryAttempt, deps: NotifierOptions): Promise<void> {
  // Rejects while the backend opens, before anything is sent.
  deps.engine()
  const { db } = deps.database
  const [found] = await db
    .select({ delivery: deliveries, hook: webhooks })
    .from(deliveries)
    .leftJoin(webhooks, eq(webhooks.id, deliveries.webhookId))
    .where(and(eq(deliveries.id, id), eq(deliveries.status, 'waiting')))
  if (found?.delivery.nextTryAt !== at) return
  const { delivery, hook } = found
  const tries = delivery.tries + 1
  const save = (fields: Partial<DeliveryRow>) => db.update(deliveries).set(fields).where(eq(deliveries.id, id))
  const suppress = () => save({ status: 'suppressed', nextTryAt: null })
  if (delivery.via !== 'push' && !hook?.enabled) return void (await suppress())
  const outcome = await sendOnce(delivery, hook ?? undefined, deps).catch((error: unknown) => ({
    error: errorMessage(error),
  }))
  if (outcome === 'pointless') return void (await suppress())
  const error = outcome === 'sent' ? undefined : outcome.error
  if (error === undefined) await save({ status: 'sent', tries, sentAt: deps.now(), nextTryAt: null, error: null })
  else if (tries >= maxAttempts) await save({ status: 'failed', tries, nextTryAt: null, error })
  else await retryDelivery(id, { tries, error }, deps)
}

async function sendOnce(
  delivery: DeliveryRow,
  hook: typeof webhooks.$inferSelect | undefined,
  deps: NotifierOptions,
): Promise<'sent' | 'pointless'> {
  if (delivery.via === 'push') return (await deps.push?.send(delivery)) ?? 'pointless'
  if (!hook) return 'pointless'
  await sendThroughChannel(delivery, deps.box.open(hook.secret, 'webhook secret'), deps)
  return 'sent'
}

async function sendThroughChannel(delivery: DeliveryRow, secret: string, { post }: NotifierOptions): Promise<void> {
  const { id, via, to, event: about } = delivery
  const body = { id, ...toObject(delivery.body) }
  const text = 'text' in body ? String(body.text) : about
  const channel = findChannel(via)
  if (!channel) throw new Error(`${via} is not a channel`)
  await channel.send(
    to,
    { id, about, text, body },
    { platform: process.platform, post: (url, json) => post(url, json, { secret, id }) },
  )
}

type FailedAttempt = { readonly tries: number; readonly error: string }

const retryDelivery = (id: string, { tries, error }: FailedAttempt, deps: NotifierOptions): Promise<void> =>
  deps.database.transaction(async (tx) => {
    const nextTryAt = deps.now() + firstRetryDelayMs * 4 ** (tries - 1)
    await tx.db.update(deliveries).set({ tries, error, nextTryAt }).where(eq(deliveries.id, id))
    await scheduleDelivery(tx, { id, nextTryAt }, deps)
  })

const toObject = (body: unknown): object => (typeof body === 'object' && body !== null ? body : {})

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
