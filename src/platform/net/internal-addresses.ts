import { BlockList, isIP, isIPv6 } from 'node:net'
import { lazy } from '../lazy.ts'

/** Addresses that are only valid inside a machine or a network: a user-given address must not reach them. */
const listInternalAddresses = lazy(() => {
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
  return internalAddresses
})

export function isInternalAddress(address: string): boolean {
  const mapped = /^::ffff:([\d.]+)$/i.exec(address)?.[1]
  if (mapped !== undefined) return isInternalAddress(mapped)
  if (isIP(address) === 0) return true
  return listInternalAddresses().check(address, isIPv6(address) ? 'ipv6' : 'ipv4')
}
