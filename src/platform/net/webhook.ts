import { createHmac, randomUUID } from 'node:crypto'
import { postPublicly, type PublicPostOptions } from './public-post.ts'

export type WebhookOptions = PublicPostOptions & {
  /**
   * Signs the call as Standard Webhooks describe, so that the receiver can verify its origin and refuse a replay. Bytes
   * in base64 after `whsec_`, or any text.
   */
  readonly secret?: string | undefined
  /** The same for every attempt to deliver one message. */
  readonly id?: string | undefined
}

/** Posts a JSON body to a public address. Rejects with a reason for the user. */
export const postWebhook = (
  url: string,
  body: string,
  { secret, id, ...options }: WebhookOptions = {},
): Promise<void> => {
  const signature = signWebhook(body, id ?? `msg_${randomUUID()}`, secret)
  return postPublicly(url, { body, headers: { 'content-type': 'application/json', ...signature } }, options)
}

/** The headers of Standard Webhooks, and `x-ralph-signature` of earlier versions, which does not cover the time. */
function signWebhook(body: string, id: string, secret: string | undefined): Readonly<Record<string, string>> {
  const timestamp = `${Math.floor(Date.now() / 1000)}`
  const about = { 'webhook-id': id, 'webhook-timestamp': timestamp }
  if (secret === undefined) return about
  const key = secret.startsWith(secretPrefix) ? Buffer.from(secret.slice(secretPrefix.length), 'base64') : secret
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
  const earlier = createHmac('sha256', secret).update(body).digest('hex')
  return { ...about, 'webhook-signature': `v1,${signature}`, 'x-ralph-signature': `sha256=${earlier}` }
}

const secretPrefix = 'whsec_'
