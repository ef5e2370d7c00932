import { createHmac, randomUUID } from 'node:crypto'
import { lookup } from 'node:dns/promises'
import { request } from 'node:https'
import { BlockList, isIP, isIPv6 } from 'node:net'

/** Addresses that are only valid inside a machine or a network: a webhook must not reach them. */
const internalAddresses = new BlockList()
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const) {
  internalAddresses.addSubnet(network, prefix, 'ipv4')
}
for (const [network, prefix] of [
  // Includes ::, ::1 and addresses that embed an IPv4 address.
  ['::', 96],
  ['::ffff:0:0:0', 96],
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['100::', 64],
  ['100:0:0:1::', 64],
  // Includes Teredo (2001::/32), benchmarks and ORCHIDs.
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
  ['5f00::', 16],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
] as const) {
  internalAddresses.addSubnet(network, prefix, 'ipv6')
}

export function isInternalAddress(address: string): boolean {
  const mapped = /^::ffff:([\d.]+)$/i.exec(address)?.[1]
  if (mapped !== undefined) return isInternalAddress(mapped)
  if (isIP(address) === 0) return true
  return internalAddresses.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')
}

export type WebhookOptions = {
  /**
   * Signs the call as Standard Webhooks describe, so that the receiver can verify its origin and refuse a replay. Bytes
   * in base64 after `whsec_`, or any text.
   */
  readonly secret?: string | undefined
  /** The same for every attempt to deliver one message. */
  readonly id?: string | undefined
  /** Whether this address may be called. */
  readonly allows?: (address: string) => boolean
  /** Limit for the whole call, not between two bytes. */
  readonly timeoutMs?: number
  /** Certificates to trust; default: those of Node. */
  readonly ca?: readonly string[] | undefined
}

/**
 * Posts a JSON body. Resolves the name once, calls exactly the address that was checked, and follows no redirect. Rejects with
 * a reason for the user.
 */
export async function postWebhook(
  url: string,
  body: string,
  { secret, id, ca, allows = (address) => !isInternalAddress(address), timeoutMs = 5000 }: WebhookOptions = {},
): Promise<void> {
  const target = new URL(url)
  if (target.protocol !== 'https:') throw new Error(`only https URLs are allowed, not ${target.protocol}`)
  const host = target.hostname.replace(/^\[|\]$/g, '')
  const addresses = isIP(host) ? [{ address: host, family: isIPv6(host) ? 6 : 4 }] : await lookup(host, { all: true })
  const refused = addresses.find(({ address }) => !allows(address))
  const [first] = addresses
  if (refused || !first) throw new Error(`${host} is an internal address (${refused?.address ?? 'none'})`)
  const headers = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    ...signWebhook(body, id ?? `msg_${randomUUID()}`, secret),
  }
  await new Promise<void>((resolve, reject) => {
    const call = request(target, {
      method: 'POST',
      headers,
      ...(ca && { ca: [...ca] }),
      lookup: (_name, options, done) => {
        if (options.all) done(null, [first])
        else done(null, first.address, first.family)
      },
    })
    const late = setTimeout(() => call.destroy(new Error(`no answer in ${timeoutMs / 1000} s`)), timeoutMs)
    call.on('response', ({ statusCode = 0 }) => {
      if (statusCode >= 200 && statusCode < 300) resolve()
      else reject(new Error(`it answered ${statusCode}`))
      // The rest of the response may never end, and would keep the process alive.
      call.destroy()
    })
    call.on('error', reject)
    call.on('close', () => clearTimeout(late))
    call.end(body)
  })
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
