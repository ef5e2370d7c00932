import { createHash, createSign, generateKeyPairSync, randomUUID } from 'node:crypto'
import { createServer, get, type Server } from 'node:http'
import type { Server as NetServer } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Backend } from '../../src/backend/open-backend.ts'
import { findFreePort } from '../support/free-port.ts'
import { createTestBackend, createApiCaller } from './test-backend.ts'

function listeningPort(server: NetServer): number {
  const address = server.address()
  return typeof address === 'object' && address ? address.port : 0
}

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })

type Login = { readonly nonce: string; readonly challenge: string }

/** An identity provider that authenticates every user. */
async function createTestProvider(person: () => Record<string, unknown>) {
  const logins = new Map<string, Login>()
  const server: Server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', issuer)
    const json = (value: object, status = 200) => {
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(JSON.stringify(value))
    }
    if (url.pathname.endsWith('openid-configuration')) {
      return json({
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/keys`,
        response_types_supported: ['code'],
        id_token_signing_alg_values_supported: ['RS256'],
        code_challenge_methods_supported: ['S256'],
      })
    }
    if (url.pathname === '/keys') {
      return json({ keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'k', alg: 'RS256', use: 'sig' }] })
    }
    if (url.pathname === '/authorize') {
      const code = randomUUID()
      const {
        nonce = '',
        code_challenge: challenge = '',
        state = '',
        redirect_uri: back = '',
      } = Object.fromEntries(url.searchParams)
      logins.set(code, { nonce, challenge })
      response.writeHead(302, { location: `${back}?code=${code}&state=${state}&iss=${encodeURIComponent(issuer)}` })
      return response.end()
    }
    let body = ''
    request.on('data', (part: Buffer) => (body += part.toString()))
    request.on('end', () => {
      const form = new URLSearchParams(body)
      const login = logins.get(form.get('code') ?? '')
      logins.delete(form.get('code') ?? '')
      const verified = createHash('sha256')
        .update(form.get('code_verifier') ?? '')
        .digest('base64url')
      if (!login || verified !== login.challenge) return json({ error: 'invalid_grant' }, 400)
      const now = Math.floor(Date.now() / 1000)
      const claims = { iss: issuer, aud: 'ralph', iat: now, exp: now + 60, nonce: login.nonce, ...person() }
      json({ access_token: 'a', token_type: 'Bearer', id_token: signClaims(claims) })
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${listeningPort(server)}`
  return { issuer, close: () => server.close() }
}

function signClaims(claims: object): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const text = `${part({ alg: 'RS256', kid: 'k' })}.${part(claims)}`
  return `${text}.${createSign('RSA-SHA256').update(text).sign(privateKey, 'base64url')}`
}

/** Sets headers that `fetch` reserves. */
const navigate = (
  url: URL,
  headers: Record<string, string>,
): Promise<{ status: number; cookie: string; code: unknown; page?: string | undefined }> =>
  new Promise((resolve, reject) => {
    get(url, { headers }, (answer) => {
      let body = ''
      answer.on('data', (part: Buffer) => (body += part.toString()))
      answer.on('end', () => {
        const [cookie = ''] = answer.headers['set-cookie']?.[0]?.split(';') ?? []
        const code: unknown = body.startsWith('{') ? JSON.parse(body).code : undefined
        const page = /content="0;url=([^"]*)"/.exec(body)?.[1]
        resolve({ status: answer.statusCode ?? 0, cookie, code, page })
      })
    }).on('error', reject)
  })

describe('signing in with an identity provider', () => {
  let person: Record<string, unknown> = {}
  let provider: Awaited<ReturnType<typeof createTestProvider>>
  let backend: Backend
  beforeAll(async () => {
    provider = await createTestProvider(() => person)
    const port = await findFreePort()
    const origin = `http://127.0.0.1:${port}`
    const oidc = {
      issuer: provider.issuer,
      clientId: 'ralph',
      clientSecret: 'secret',
      allow: ['@example.com'],
      origin,
      insecure: true,
      firstAdmin: 'Ada@example.com',
    }
    backend = await createTestBackend('embedded', { port, oidc })
  }, 120_000)
  afterAll(async () => {
    await backend?.close()
    provider?.close()
  })

  /** Signs in like a browser: follows redirects and keeps cookies. */
  const signIn = async (tamper: (url: URL) => void = () => {}, headers: Record<string, string> = {}) => {
    const started = await fetch(`${backend.origin}/auth/start`, { redirect: 'manual' })
    const cookie = started.headers.get('set-cookie')?.split(';')[0] ?? ''
    const back = await fetch(started.headers.get('location') ?? '', { redirect: 'manual' })
    const end = new URL(back.headers.get('location') ?? '')
    tamper(end)
    return navigate(end, { cookie, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', ...headers })
  }
  const me = async (cookie: string) => (await createApiCaller(backend.origin, { cookie })('GET', '/api/me')).body

  it('is offered to unauthenticated users', async () => {
    expect(await (await fetch(`${backend.origin}/api/sign-in`)).json()).toEqual({ organisation: true, passkeys: false })
  })

  it('makes the named first admin an admin, and all others members, also the first to sign in', async () => {
    person = { sub: 'b', email: 'bob@example.com', email_verified: true, name: 'Bob' }
    const bob = await me((await signIn()).cookie)
    person = { sub: 'a', email: 'ada@example.com', email_verified: true, name: 'Ada' }
    const ada = await me((await signIn()).cookie)
    const again = await me((await signIn()).cookie)
    expect([ada['user'], bob['user']]).toMatchObject([
      { name: 'Ada', role: 'admin' },
      { name: 'Bob', role: 'member' },
    ])
    expect(again['user']).toEqual(ada['user'])
  })

  it.each([
    ['of another domain', { email: 'eve@evil.example', email_verified: true }],
    ['whose domain only ends like ours', { email: 'eve@notexample.com', email_verified: true }],
    ['without an address', {}],
    ['with an unverified address', { email: 'eve@example.com', email_verified: false }],
    ['with an address that the provider does not vouch for', { email: 'eve@example.com' }],
  ])('refuses users %s', async (_, claims) => {
    person = { sub: randomUUID(), ...claims }
    expect(await signIn()).toEqual({ status: 403, cookie: '', code: 'FORBIDDEN' })
  })

  it('leads a refused browser to the sign-in page, which says why', async () => {
    person = { sub: 'e', email: 'eve@evil.example', email_verified: true }
    const refused = { status: 403, cookie: '', page: '/sign-in?refused=FORBIDDEN' }
    expect(await signIn(undefined, { accept: 'text/html' })).toEqual(refused)
  })

  it('refuses a response that was not requested', async () => {
    person = { sub: 'a', email: 'ada@example.com', email_verified: true }
    const refused = { status: 401, cookie: '', code: 'UNAUTHENTICATED' }
    expect(await signIn((url) => url.searchParams.set('state', 'forged'))).toEqual(refused)
    expect(await signIn((url) => url.searchParams.set('code', 'forged'))).toEqual(refused)
    expect((await fetch(`${backend.origin}/auth/end?code=x&state=y`)).status).toBe(401)
  })
})
