import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'

type WebhookCall = { readonly headers: IncomingHttpHeaders; readonly body: string }

const toleranceMs = 5 * 60_000

/** Receives as https://www.standardwebhooks.com says, written from that text and not from the sender. */
export function createWebhookReceiver(secret: string, now: () => number = Date.now) {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const known = new Set<string>()
  return ({ headers, body }: WebhookCall): 'accepted' | 'repeated' | 'too old' | 'wrong signature' => {
    const id = String(headers['webhook-id'])
    const timestamp = String(headers['webhook-timestamp'])
    if (!(Math.abs(now() - Number(timestamp) * 1000) <= toleranceMs)) return 'too old'
    const expected = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest()
    const signatures = String(headers['webhook-signature']).split(' ')
    const isSigned = signatures.some((signature) => {
      const [version, value = ''] = signature.split(',')
      const bytes = Buffer.from(value, 'base64')
      return version === 'v1' && bytes.length === expected.length && timingSafeEqual(bytes, expected)
    })
    if (!isSigned) return 'wrong signature'
    if (known.has(id)) return 'repeated'
    known.add(id)
    return 'accepted'
  }
}
