import { createHmac } from 'node:crypto'
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
  ['::', 128],
  ['::1', 128],
  ['64:ff9b::', 96],
  ['100::', 64],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['fc00::', 7],
  ['fe80::', 10],
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
  /** Signs the body, so that the receiver can verify its origin. */
  readonly secret?: string | undefined
  /** Whether this address may be called. */
  readonly allows?: (address: string) => boolean
  /** Limit for the whole call, not between two bytes. */
  readonly timeoutMs?: number
}

/**
 * Posts a JSON body. Resolves the name once, calls exactly the address that was checked, and follows no redirect. Rejects with
 * a reason for the user.
 */
export async function postWebhook(
  url: string,
  body: string,
  { secret, allows = (address) => !isInternalAddress(address), timeoutMs = 5000 }: WebhookOptions = {},
): Promise<void> {
  const target = new URL(url)
  if (target.protocol !== 'https:') throw new Error(`only https URLs are allowed, not ${target.protocol}`)
  const host = target.hostname.replace(/^\[|\]$/g, '')
  const addresses = isIP(host) ? [{ address: host, family: isIPv6(host) ? 6 : 4 }] : await lookup(host, { all: true })
  const refused = addresses.find(({ address }) => !allows(address))
  const [first] = addresses
  if (refused || !first) throw new Error(`${host} is an internal address (${refused?.address ?? 'none'})`)
  const signature =
    secret === undefined
      ? {}
      : { 'x-ralph-signature': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}` }
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), ...signature }
  await new Promise<void>((resolve, reject) => {
    const call = request(target, {
      method: 'POST',
      headers,
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
