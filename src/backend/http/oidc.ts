import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Context, Hono } from 'hono'
import * as client from 'openid-client'
import { errorMessage, RalphError } from '../../contract/errors.ts'
import { createTrustingFetch } from '../../platform/net/trusting-fetch.ts'
import type { Database } from '../database/database.ts'
import type { AuditLog } from './calls/audit.ts'
import { createCookie } from './calls/credentials.ts'
import { hashCredential, findOrCreateUser, type UserAuthentication } from './identity.ts'

export type OidcSettings = {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
  /**
   * Addresses (`ada@example.com`) and domains (`@example.com`) that may sign in. An account at the provider alone
   * grants no access.
   */
  readonly allow: readonly string[]
  /** The address that becomes admin when it signs in; absent: the local user makes admins. */
  readonly firstAdmin?: string | undefined
  /** The public address: `https://ralph.example.com`. */
  readonly origin: string
  readonly trusted?: readonly string[] | undefined
  /** For tests only: allows an issuer without TLS. */
  readonly insecure?: boolean
}

export type OidcDeps = {
  readonly people: UserAuthentication
  readonly database: Database
  readonly now: () => number
  readonly newId: () => string
  readonly audit: Pick<AuditLog, 'recordEvent' | 'recordRefusal'>
}

const signInTimeoutMs = 10 * 60_000
const startPath = '/auth/start'
const endPath = '/auth/end'

/** Sign-in with an identity provider: authorization code with PKCE; the state in between is a signed cookie. */
export async function oidcRoutes(settings: OidcSettings, deps: OidcDeps): Promise<(app: Hono) => void> {
  const { clientSecret, origin } = settings
  const provider = await discoverProvider(settings)
  // The same key on every replica, derived from a secret in the database.
  const seal = createStateSeal(hashCredential(`sign-in ${clientSecret}`))
  const redirectUri = `${origin}${endPath}`

  return (app) => {
    app.get(startPath, async () => {
      const going = {
        verifier: client.randomPKCECodeVerifier(),
        state: client.randomState(),
        nonce: client.randomNonce(),
      }
      const url = client.buildAuthorizationUrl(provider, {
        redirect_uri: redirectUri,
        scope: 'openid email profile',
        code_challenge: await client.calculatePKCECodeChallenge(going.verifier),
        code_challenge_method: 'S256',
        state: going.state,
        nonce: going.nonce,
      })
      // Lax, because the provider redirects the browser back from its own site.
      const cookie = `ralph-signing-in=${seal.close({ ...going, until: deps.now() + signInTimeoutMs })}; HttpOnly; SameSite=Lax; Path=${endPath}; Max-Age=600${cookieSecurity(origin)}`
      return new Response(null, { status: 302, headers: { location: url.href, 'set-cookie': cookie } })
    })

    app.get(endPath, async (c) => {
      try {
        return await endSignIn(c)
      } catch (error) {
        if (!c.req.header('accept')?.includes('text/html') || !(error instanceof RalphError)) throw error
        return openPage(`/sign-in?refused=${error.code}`, { status: 403 })
      }
    })
  }

  async function endSignIn(c: Context): Promise<Response> {
    const sealed = /(?:^|;\s*)ralph-signing-in=([\w.-]+)/.exec(c.req.header('cookie') ?? '')?.[1]
    const going = sealed === undefined ? undefined : seal.open(sealed)
    if (!going || going.until < deps.now())
      throw new RalphError('TICKET_INVALID', 'the sign-in took too long; start again')
    const checks = { pkceCodeVerifier: going.verifier, expectedState: going.state, expectedNonce: going.nonce }
    const here = new URL(`${redirectUri}${new URL(c.req.url).search}`)
    const tokens = await client.authorizationCodeGrant(provider, here, checks).catch((cause: unknown) => {
      throw new RalphError('UNAUTHENTICATED', 'the identity provider did not authenticate you', { cause })
    })
    const session = await createOidcSession(tokens.claims(), settings, deps)
    // A page instead of a redirect: the cookie is Strict, and a browser redirected from another site would not send
    // it.
    return openPage('/', { cookie: createCookie(session, origin.startsWith('https:')) })
  }
}

const openPage = (path: string, { status = 200, cookie }: { status?: number; cookie?: string }): Response =>
  new Response(`<!doctype html><meta http-equiv="refresh" content="0;url=${path}"><title>Ralph</title>`, {
    status,
    headers: { 'content-type': 'text/html; charset=utf-8', ...(cookie !== undefined && { 'set-cookie': cookie }) },
  })

async function discoverProvider(settings: OidcSettings): Promise<client.Configuration> {
  const { issuer, clientId, clientSecret, insecure, trusted } = settings
  const execute = insecure ? [client.allowInsecureRequests] : []
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same fetch in two declarations
  const trusting = trusted && (createTrustingFetch({ ca: () => trusted }) as unknown as client.CustomFetch)
  const options = { execute, ...(trusting && { [client.customFetch]: trusting }) }
  try {
    return await client.discovery(new URL(issuer), clientId, clientSecret, undefined, options)
  } catch (error) {
    const cause = findRalphError(error) ?? error
    throw new RalphError('IDENTITY_PROVIDER_UNUSABLE', `RALPH_OIDC_ISSUER: ${issuer}: ${errorMessage(cause)}`, {
      hint: (cause instanceof RalphError ? cause.hint : undefined) ?? 'check the address of the issuer',
      cause: error,
    })
  }
}

const findRalphError = (error: unknown): RalphError | undefined =>
  error instanceof RalphError ? error : error instanceof Error ? findRalphError(error.cause) : undefined

const cookieSecurity = (origin: string): string => (origin.startsWith('https:') ? '; Secure' : '')

async function createOidcSession(
  claims: client.IDToken | undefined,
  settings: OidcSettings,
  deps: OidcDeps,
): Promise<string> {
  // A provider that does not verify addresses lets anyone claim one.
  const email = typeof claims?.['email'] === 'string' && isVerified(claims) ? claims['email'] : undefined
  if (!claims || !isAllowedEmail(email, settings.allow)) {
    const account = `${claims?.iss} ${claims?.sub}`
    const details = { by: 'oidc', claimed: claims?.['email'] ?? null }
    await deps.audit.recordRefusal(account, { who: email ?? 'unknown', what: 'signInRefused', details })
    throw new RalphError('FORBIDDEN', `${email ?? 'this account'} is not on the list of allowed users`)
  }
  const name = typeof claims['name'] === 'string' ? claims['name'] : (email ?? claims.sub)
  const isFirstAdmin = email !== undefined && email.toLowerCase() === settings.firstAdmin?.toLowerCase()
  const make = { id: deps.newId(), at: deps.now(), role: isFirstAdmin ? ('admin' as const) : ('member' as const) }
  const userId = await findOrCreateUser(deps.database, `${claims.iss} ${claims.sub}`, { name, email }, make)
  await deps.audit.recordEvent({ who: name, userId, what: 'signIn', details: { by: 'oidc' } })
  return deps.people.createSession(userId, 'oidc')
}

/** Some providers send the claim as a string. */
const isVerified = ({ email_verified: verified }: client.IDToken): boolean => verified === true || verified === 'true'

function isAllowedEmail(email: string | undefined, allow: readonly string[]): boolean {
  const address = email?.toLowerCase()
  if (address === undefined) return false
  return allow.some((entry) => {
    const allowed = entry.toLowerCase()
    return allowed.startsWith('@') ? address.slice(address.lastIndexOf('@')) === allowed : address === allowed
  })
}

type SignInState = { readonly verifier: string; readonly state: string; readonly nonce: string; readonly until: number }

function createStateSeal(key: string) {
  const sign = (text: string): Buffer => createHmac('sha256', key).update(text).digest()
  return {
    close: (going: SignInState): string => {
      const text = Buffer.from(JSON.stringify(going)).toString('base64url')
      return `${text}.${sign(text).toString('base64url')}`
    },
    open: (sealed: string): SignInState | undefined => {
      const [text = '', signature = ''] = sealed.split('.')
      const received = Buffer.from(signature, 'base64url')
      const right = sign(text)
      if (received.length !== right.length || !timingSafeEqual(received, right)) return undefined
      const opened: SignInState = JSON.parse(Buffer.from(text, 'base64url').toString())
      return opened
    },
  }
}
