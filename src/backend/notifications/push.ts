import { and, asc, eq, inArray, isNull, or } from 'drizzle-orm'
import { z } from 'zod'
import type { WebhookEvent } from '../../contract/fleet/webhook.ts'
import { createRedactor } from '../../contract/secrets/redact.ts'
import { HttpRefusal } from '../../platform/net/public-post.ts'
import { agents } from '../database/agent.ts'
import type { Database, Queries } from '../database/database.ts'
import { pushKeys, pushSubscriptions } from '../database/push.ts'
import { questions } from '../database/question.ts'
import { access, users } from '../database/user.ts'
import type { deliveries } from '../database/webhook.ts'
import type { Notice } from '../fleet/notice.ts'
import type { SecretBox } from '../secrets/secret-box.ts'
import { createPushKey, createPushRequest, type PushKey, type PushRequest } from './web-push.ts'

type DeliveryRow = typeof deliveries.$inferSelect
type SubscriptionRow = typeof pushSubscriptions.$inferSelect

export type PushChannelOptions = {
  readonly database: Database
  readonly box: Pick<SecretBox, 'open' | 'seal'>
  readonly now: () => number
  /** A mailto: or https: address for push services. */
  readonly contact: string
  /** Rejects with a `HttpRefusal` if the push service refuses. */
  readonly post: (endpoint: string, request: PushRequest) => Promise<void>
}

/** Notifications for browsers without an open page. */
export interface PushChannel {
  /** The subscriptions of the users who may see the agent of a notice. */
  readonly listTargets: (db: Queries, notice: Notice) => Promise<SubscriptionRow[]>
  /** `pointless`: the browser has unsubscribed, or the question is answered. */
  readonly send: (delivery: DeliveryRow) => Promise<'sent' | 'pointless'>
}

/** Questions, ends and limits. Users need no notification about what they did themselves. */
const pushedEvents: readonly WebhookEvent[] = ['needs-human', 'completed', 'failed', 'parked']

export const createPushChannel = (deps: PushChannelOptions): PushChannel => ({
  listTargets: async (db, { event, agentId }) =>
    agentId === undefined || !pushedEvents.includes(event) ? [] : selectTargets(db, agentId),
  send: (delivery) => sendPush(delivery, deps),
})

async function selectTargets(db: Queries, agentId: string): Promise<SubscriptionRow[]> {
  const reads = db.select({ id: access.userId }).from(access).where(eq(access.agentId, agentId))
  const mayRead = or(eq(users.role, 'admin'), inArray(users.id, reads))
  const rows = await db
    .select({ subscription: pushSubscriptions })
    .from(pushSubscriptions)
    .innerJoin(users, eq(users.id, pushSubscriptions.userId))
    .where(and(isNull(users.disabledAt), mayRead))
  return rows.map(({ subscription }) => subscription)
}

async function sendPush(delivery: DeliveryRow, deps: PushChannelOptions): Promise<'sent' | 'pointless'> {
  const { db } = deps.database
  const { agentId } = PushedNotice.parse(delivery.body)
  // Again, because retries take hours: the access of the user may have been revoked since.
  const targets = agentId === undefined ? [] : await selectTargets(db, agentId)
  const target = targets.find(({ id }) => id === delivery.pushId)
  const message = target && (await createMessage(db, delivery))
  if (!target || !message) return 'pointless'
  const key = await readPushKey(deps)
  const options = { key, contact: deps.contact, now: deps.now() }
  try {
    await deps.post(target.endpoint, createPushRequest(target, shortenMessage(message), options))
    return 'sent'
  } catch (error) {
    // The browser has unsubscribed, or was removed.
    if (!(error instanceof HttpRefusal) || (error.status !== 404 && error.status !== 410)) throw error
    await db.delete(pushSubscriptions).where(eq(pushSubscriptions.id, target.id))
    return 'pointless'
  }
}

/** Push services accept 4096 bytes; salt, keys and tag take 103 of them. */
const maxMessageBytes = 3900
const maxText = 700
const maxTitle = 100
const maxAnswers = 2
const maxAnswerLength = 60

/** Machines redact what agents write; keys that a person typed into a name or a task are only recognizable by their form. */
const redact = createRedactor()

/** A button cannot show a long answer or a secret, and half an answer would mislead. */
const isShowable = (option: string): boolean => option.length <= maxAnswerLength && redact(option) === option

const PushedNotice = z.object({ agentId: z.string().optional(), text: z.string().optional() })

/** The JSON of a message. Characters outside ASCII and escapes take several bytes, so the text is cut until the whole fits. */
function shortenMessage(message: { readonly title: string; readonly text: string }): string {
  // Before the cut: half a key is not recognizable.
  const [title, text] = [Array.from(redact(message.title)).slice(0, maxTitle), Array.from(redact(message.text))]
  for (let length = Math.min(text.length, maxText); ; length = Math.floor(length * 0.8)) {
    const cut = text.length > length ? [...text.slice(0, length), '…'] : text
    const json = JSON.stringify({ ...message, title: title.join(''), text: cut.join('') })
    if (length === 0 || Buffer.byteLength(json) <= maxMessageBytes) return json
  }
}

/** What the service worker shows; undefined if the question of the notice is no longer open. */
async function createMessage(db: Queries, { event, sprintId, body }: DeliveryRow) {
  const { agentId, text } = PushedNotice.parse(body)
  const [agent] = agentId === undefined ? [] : await db.select().from(agents).where(eq(agents.id, agentId))
  const about = { title: agent?.name ?? 'Ralph', text: text ?? '', tag: sprintId ?? event }
  if (sprintId === null) return { ...about, path: '/' }
  const place = { path: `/sprints/${sprintId}`, sprintId }
  if (event !== 'needs-human') return { ...about, ...place }
  const isOpen = and(eq(questions.sprintId, sprintId), eq(questions.status, 'open'))
  const [question] = await db.select().from(questions).where(isOpen).orderBy(asc(questions.askedAt)).limit(1)
  if (!question) return undefined
  const answers = (question.options ?? []).filter(isShowable).slice(0, maxAnswers)
  return { ...about, ...place, questionId: question.id, title: `${about.title} asks`, text: question.reason, answers }
}

/** The key pair of this backend; all replicas use the same one. */
export async function readPushKey({
  database: { db },
  box,
}: Pick<PushChannelOptions, 'database' | 'box'>): Promise<PushKey> {
  const made = createPushKey()
  const row = { id: 1, publicKey: made.publicKey, privateKey: box.seal(made.privateKey, 'push key') }
  const [known] = await db.select().from(pushKeys)
  if (!known) await db.insert(pushKeys).values(row).onConflictDoNothing()
  const [stored = known] = known ? [known] : await db.select().from(pushKeys)
  if (!stored) throw new Error('the push key was not stored')
  return { publicKey: stored.publicKey, privateKey: box.open(stored.privateKey, 'push key') }
}
