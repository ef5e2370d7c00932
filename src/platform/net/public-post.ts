import { lookup } from 'node:dns/promises'
import { request } from 'node:https'
import { BlockList, isIP, isIPv6 } from 'node:net'

/** Addresses that are only valid inside a machine or a network: a user-given address must not reach them. */
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

/** The receiver answered with a status that is no success. */
export class HttpRefusal extends Error {
  readonly status: number
  constructor(status: number) {
    super(`it answered ${status}`)
    this.status = status
  }
}

export type PublicPost = {
  readonly body: string | Buffer
  readonly headers: Readonly<Record<string, string>>
}

export type PublicPostOptions = {
  /** Whether this address may be called. */
  readonly allows?: ((address: string) => boolean) | undefined
  /** Limit for the whole call, not between two bytes. */
  readonly timeoutMs?: number | undefined
  /** Certificates to trust; default: those of Node. */
  readonly ca?: readonly string[] | undefined
}

/**
 * Posts to an address that a user has given. Resolves the name once, calls exactly the address that was checked, and follows no
 * redirect. Rejects with a reason for the user.
 */
export async function postPublicly(
  url: string,
  { body, headers }: PublicPost,
  { ca, allows = (address) => !isInternalAddress(address), timeoutMs = 5000 }: PublicPostOptions = {},
): Promise<void> {
  const target = new URL(url)
  if (target.protocol !== 'https:') throw new Error(`only https URLs are allowed, not ${target.protocol}`)
  const host = target.hostname.replace(/^\[|\]$/g, '')
  const addresses = isIP(host) ? [{ address: host, family: isIPv6(host) ? 6 : 4 }] : await lookup(host, { all: true })
  const refused = addresses.find(({ address }) => !allows(address))
  const [first] = addresses
  if (refused || !first) throw new Error(`${host} is an internal address (${refused?.address ?? 'none'})`)
  await new Promise<void>((resolve, reject) => {
    const call = request(target, {
      method: 'POST',
      headers: { ...headers, 'content-length': Buffer.byteLength(body) },
      ...(ca && { ca: [...ca] }),
      // All of them are checked. A machine may have no route to the first, such as an IPv6 address.
      lookup: (_name, options, done) => {
        if (options.all) done(null, addresses)
        else done(null, first.address, first.family)
      },
    })
    const late = setTimeout(() => call.destroy(new Error(`no answer in ${timeoutMs / 1000} s`)), timeoutMs)
    call.on('response', ({ statusCode = 0 }) => {
      if (statusCode >= 200 && statusCode < 300) resolve()
      else reject(new HttpRefusal(statusCode))
      // The rest of the response may never end, and would keep the process alive.
      call.destroy()
    })
    call.on('error', reject)
    call.on('close', () => clearTimeout(late))
    call.end(body)
  })
}
