import { expect, it } from 'vitest'
import { resolvePeer } from './peer.ts'

it('believes the header only of a proxy on this computer, and only what that proxy appended', () => {
  expect([
    resolvePeer('127.0.0.1', 'spoofed, 203.0.113.7'),
    resolvePeer('::1', '203.0.113.7'),
    resolvePeer('198.51.100.9', '203.0.113.7'),
    resolvePeer('127.0.0.1', undefined),
    resolvePeer(undefined, undefined),
  ]).toEqual(['203.0.113.7', '203.0.113.7', '198.51.100.9', '127.0.0.1', 'unknown'])
})

it('counts an IPv4 address once, and the addresses of an IPv6 network together', () => {
  expect(resolvePeer('::ffff:198.51.100.9', undefined)).toBe('198.51.100.9')
  expect(resolvePeer('2001:db8:1:2:3:4:5:6', undefined)).toBe(resolvePeer('2001:db8:1:2::9', undefined))
  expect(resolvePeer('2001:db8:1:3::9', undefined)).not.toBe(resolvePeer('2001:db8:1:2::9', undefined))
})
