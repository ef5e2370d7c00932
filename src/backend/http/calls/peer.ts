import { isIPv6 } from 'node:net'

/**
 * The caller's address for rate limits. A proxy on this computer appends the real one to `X-Forwarded-For`; what other
 * callers write there is ignored. IPv6 callers count per /64, because each of them has that many addresses.
 */
export function resolvePeer(socketAddress: string | undefined, forwardedFor: string | undefined): string {
  const direct = normalizeAddress(socketAddress ?? 'unknown')
  const forwarded = forwardedFor?.split(',').at(-1)?.trim()
  return forwarded && isLoopback(direct) ? normalizeAddress(forwarded.slice(0, 64)) : direct
}

const isLoopback = (address: string): boolean => address.startsWith('127.') || address === loopbackV6

const loopbackV6 = '::1'

function normalizeAddress(address: string): string {
  const mapped = /^::ffff:([\d.]+)$/i.exec(address)?.[1]
  if (mapped !== undefined) return mapped
  return isIPv6(address) && address !== loopbackV6 ? networkPrefix(address) : address
}

/** The first four groups of an IPv6 address. */
function networkPrefix(address: string): string {
  const [head = '', tail] = address.toLowerCase().split('%')[0]?.split('::') ?? []
  const before = head === '' ? [] : head.split(':')
  const after = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = tail === undefined ? [] : Array.from({ length: 8 - before.length - after.length }, () => '0')
  return `${[...before, ...zeros, ...after].slice(0, 4).join(':')}::/64`
}
