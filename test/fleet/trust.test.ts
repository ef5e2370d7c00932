import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer as createPlainServer } from 'node:http'
import { createServer } from 'node:https'
import type { Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { createTestAuthority, type TestCertificate } from '../support/certificate-authority.ts'
import { readTrustedCertificates } from '../../src/platform/net/trust.ts'
import { createTrustingFetch } from '../../src/platform/net/trusting-fetch.ts'

const folder = mkdtempSync(join(tmpdir(), 'ralph-trust-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const authority = await createTestAuthority()
const dayMs = 86_400_000

const listen = async (server: Server): Promise<number> => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const address = server.address()
  return typeof address === 'object' && address ? address.port : 0
}

const serve = ({ cert, key }: TestCertificate) =>
  listen(createServer({ cert, key }, (request, response) => request.pipe(response)))

const writeFile = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}

/** Calls the server as a command does; the answer, or the whole error. */
async function call(url: string, env: Record<string, string> = {}, ca?: string) {
  const fetching = createTrustingFetch({ ca: () => readTrustedCertificates({ env, ca }) })
  try {
    return await (await fetching(url, { method: 'POST', body: 'hello' })).text()
  } catch (error) {
    const { code, message, hint } = Object(error)
    return { code, message, hint }
  }
}

describe('a private authority', () => {
  it('is trusted if --ca, RALPH_CA, NODE_EXTRA_CA_CERTS or the store of the system names it', async () => {
    const port = await serve(await authority.issue('localhost'))
    const file = writeFile('ca.pem', authority.ca)
    const url = `https://localhost:${port}/`
    expect([
      await call(url, {}, file),
      await call(url, { RALPH_CA: file }),
      await call(url, { NODE_EXTRA_CA_CERTS: file }),
      await call(url, { SSL_CERT_FILE: file }),
    ]).toEqual(['hello', 'hello', 'hello', 'hello'])
  })

  it('is replaced without a gap if the file names the next one too', async () => {
    const next = await createTestAuthority('Next')
    const both = writeFile('both.pem', `${authority.ca}\n${next.ca}`)
    for (const { issue } of [authority, next])
      expect(await call(`https://localhost:${await serve(await issue('localhost'))}/`, {}, both)).toBe('hello')
  })

  it('is refused otherwise, and the message names the certificate, the reason and the variable', async () => {
    const port = await serve(await authority.issue('localhost'))
    const other = writeFile('other.pem', (await createTestAuthority('Another')).ca)
    const refusal = {
      code: 'CERTIFICATE_INVALID',
      message: `the certificate of localhost:${port} (localhost, issued by Example Corp Root) is signed by an authority that this computer does not trust`,
      hint: expect.stringMatching(/--ca FILE or RALPH_CA=FILE/),
    }
    expect(await call(`https://localhost:${port}/`)).toEqual(refusal)
    expect(await call(`https://localhost:${port}/`, { RALPH_CA: other })).toEqual(refusal)
  })
})

describe('a certificate', () => {
  const ca = writeFile('trusted.pem', authority.ca)

  it('that has expired is refused with its end and the time of this computer', async () => {
    const until = Date.UTC(2025, 0, 31)
    const port = await serve(await authority.issue('localhost', { from: until - dayMs, until }))
    expect(await call(`https://localhost:${port}/`, {}, ca)).toEqual({
      code: 'CERTIFICATE_INVALID',
      message: `the certificate of localhost:${port} (localhost, issued by Example Corp Root) expired on 2025-01-31`,
      hint: expect.stringContaining("this computer's clock says"),
    })
  })

  it('that is not valid yet points at the clock', async () => {
    const from = Date.now() + dayMs
    const port = await serve(await authority.issue('localhost', { from, until: from + dayMs }))
    expect(await call(`https://localhost:${port}/`, {}, ca)).toMatchObject({
      message: expect.stringContaining('is not valid yet, but from'),
      hint: expect.stringContaining('set the clock right'),
    })
  })

  it('for another name is refused with both names', async () => {
    const port = await serve(await authority.issue('ralph.example.com'))
    expect(await call(`https://localhost:${port}/`, {}, ca)).toMatchObject({
      code: 'CERTIFICATE_INVALID',
      message: expect.stringContaining('is not for localhost but for DNS:ralph.example.com'),
    })
  })

  it('is missing where the server speaks plain http', async () => {
    const port = await listen(createPlainServer((_, response) => response.end()))
    expect(await call(`https://localhost:${port}/`, {}, ca)).toMatchObject({
      code: 'CERTIFICATE_INVALID',
      message: `localhost:${port} does not speak TLS`,
    })
  })
})

it('says that nothing answers, and where', async () => {
  const server = createPlainServer()
  const port = await listen(server)
  server.close()
  expect(await call(`http://localhost:${port}/`)).toMatchObject({
    code: 'BACKEND_UNREACHABLE',
    message: expect.stringMatching(new RegExp(`^http://localhost:${port} is unreachable: .*ECONNREFUSED`)),
  })
})

it.each([
  ['does not exist', join(folder, 'absent.pem'), 'FILE_NOT_FOUND'],
  ['has no certificate', writeFile('empty.pem', 'nothing'), 'CERTIFICATE_INVALID'],
  [
    'has a damaged certificate',
    writeFile('damaged.pem', '-----BEGIN CERTIFICATE-----\nabcd\n-----END CERTIFICATE-----\n'),
    'CERTIFICATE_INVALID',
  ],
])('refuses a file for RALPH_CA that %s', (_, file, code) => {
  expect(() => readTrustedCertificates({ env: { RALPH_CA: file } })).toThrow(
    expect.objectContaining({ code, message: expect.stringMatching(/^RALPH_CA names/), place: { file } }),
  )
})
