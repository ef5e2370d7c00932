import { expect, it } from 'vitest'
import { createTestIo } from '../../../test/support/test-io.ts'
import { parseServeSettings } from './settings.ts'

const { io } = createTestIo({ env: { HOME: '/home/ada' } })

it('listens for machines only on this computer, unless the user names an address', () => {
  const machines = (flags: Parameters<typeof parseServeSettings>[0]) => parseServeSettings(flags, io).machines
  expect([
    machines({}),
    machines({ 'machines-port': '7258' }),
    machines({ 'machines-port': '7258', 'machines-host': '0.0.0.0' }),
    machines({ 'machines-port': '7258', host: '192.0.2.1' }),
  ]).toEqual([
    undefined,
    { host: '127.0.0.1', port: 7258 },
    { host: '0.0.0.0', port: 7258 },
    { host: '192.0.2.1', port: 7258 },
  ])
})

it('refuses a first admin without an identity provider, or without an address', () => {
  const env = {
    HOME: '/home/ada',
    RALPH_OIDC_ISSUER: 'https://id.example.com',
    RALPH_OIDC_CLIENT_ID: 'ralph',
    RALPH_OIDC_CLIENT_SECRET: 's',
    RALPH_OIDC_ALLOW: '@example.com',
  }
  const provided = createTestIo({ env }).io
  const origin = 'https://ralph.example.com'
  expect(() => parseServeSettings({ 'first-admin': 'ada@example.com' }, io)).toThrow('requires an identity provider')
  expect(() => parseServeSettings({ 'first-admin': 'ada', origin }, provided)).toThrow('expects an address')
  expect(parseServeSettings({ 'first-admin': 'ada@example.com', origin }, provided).oidc).toMatchObject({
    firstAdmin: 'ada@example.com',
  })
  expect(parseServeSettings({ origin }, provided).oidc).not.toHaveProperty('firstAdmin')
})
