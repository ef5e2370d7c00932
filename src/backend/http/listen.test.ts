import { once } from 'node:events'
import { connect } from 'node:tls'
import { Hono } from 'hono'
import { expect, it, onTestFinished } from 'vitest'
import { createTestAuthority } from '../../../test/support/certificate-authority.ts'
import { listenHttp, type ListenOptions } from './listen.ts'

const authority = await createTestAuthority()
const app = new Hono().get('/', (c) => c.text('hello'))

async function listen(options: Partial<ListenOptions>) {
  const listening = await listenHttp(app, { host: '127.0.0.1', port: 0, authenticates: false, ...options })
  onTestFinished(listening.close)
  return listening
}

const issue = async (period?: Parameters<typeof authority.issue>[1]) => {
  const { cert: certificate, key } = await authority.issue('localhost', period)
  return { certificate, key }
}

it('says which of TLS and sign-in is missing where others can reach it', async () => {
  const tls = await issue()
  const refusal = (options: Partial<ListenOptions>) =>
    listen({ host: '0.0.0.0', ...options }).then(
      () => 'listens',
      (error: Error) => error.message.match(/TLS|sign-in/g)?.filter((word, at, all) => all.indexOf(word) === at),
    )
  expect([
    await refusal({}),
    await refusal({ tls }),
    await refusal({ authenticates: true }),
    await refusal({ behindProxy: true }),
    await refusal({ tls, authenticates: true }),
    await refusal({ behindProxy: true, authenticates: true }),
  ]).toEqual([['TLS', 'sign-in'], ['sign-in'], ['TLS'], ['sign-in'], 'listens', 'listens'])
})

it('refuses a key that belongs to another certificate', async () => {
  const [{ certificate }, { key }] = [await issue(), await issue()]
  await expect(listen({ tls: { certificate, key } })).rejects.toThrow('the key belongs to another certificate')
})

it('serves a renewed certificate without a pause, and keeps the previous one while the files do not match', async () => {
  const [first, second, third] = [await issue(), await issue(), await issue()]
  let files = first
  const logged: string[] = []
  const log = (level: string, text: string) => void logged.push(`${level} ${text}`)
  const { port } = await listen({ tls: { ...first, read: () => files }, rereadMs: 20, log })
  const serial = async () => {
    const socket = connect({ port, host: '127.0.0.1', servername: 'localhost', ca: authority.ca })
    await once(socket, 'secureConnect')
    const { serialNumber } = socket.getPeerCertificate()
    return { serialNumber, socket }
  }
  const before = await serial()
  onTestFinished(() => void before.socket.destroy())
  files = { certificate: second.certificate, key: third.key }
  await expect.poll(() => logged.length, { timeout: 10_000 }).toBe(1)
  const during = await serial()
  during.socket.destroy()
  files = second
  await expect.poll(() => logged.length, { timeout: 10_000 }).toBe(2)
  const after = await serial()
  after.socket.destroy()
  expect(during.serialNumber).toBe(before.serialNumber)
  expect(after.serialNumber).not.toBe(before.serialNumber)
  expect(logged).toEqual([
    expect.stringMatching(/^warn .*another certificate; the previous certificate stays in use$/),
    expect.stringMatching(/^info serves a renewed certificate, valid until 20/),
  ])
  // A connection that was open before still works.
  before.socket.write('GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n')
  const [answer] = await once(before.socket, 'data')
  expect(String(answer)).toContain('200 OK')
})

it('warns of a certificate that has expired or is not valid yet, at the start and after a renewal', async () => {
  const expired = await issue({ from: Date.UTC(2025, 0, 1), until: Date.UTC(2025, 0, 31) })
  const early = await issue({ from: Date.now() + 86_400_000, until: Date.now() + 2 * 86_400_000 })
  let files = expired
  const warnings: string[] = []
  const log = (level: string, text: string) => void (level === 'warn' && warnings.push(text))
  await listen({ tls: { ...expired, read: () => files }, rereadMs: 20, log })
  files = early
  await expect.poll(() => warnings.length, { timeout: 10_000 }).toBe(2)
  expect(warnings).toEqual([
    expect.stringMatching(/^the certificate of --tls-cert expired on 2025-01-31: .*clock says 20/),
    expect.stringMatching(/^the certificate of --tls-cert is valid only from 20\d\d-/),
  ])
})
