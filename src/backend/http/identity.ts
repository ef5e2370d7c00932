import { createHash, randomBytes } from 'node:crypto'
import { and, eq, gt, isNull, lt, ne } from 'drizzle-orm'
import { RalphError } from '../../contract/errors.ts'
import type { UserRole } from '../../contract/fleet/user.ts'
import type { Database, Queries } from '../database/database.ts'
import { apiTokens, sessions, tickets, users } from '../database/user.ts'
import type { Authenticator } from './app.ts'
import type { ApiCaller } from './calls/call.ts'

const ticketLifetimeMs = 60_000
/** An unused session expires earlier than a used one. */
const sessionIdleMs = 12 * 3_600_000
const sessionLifetimeMs = 7 * 24 * 3_600_000
const commandTokenLifetimeMs = 365 * 24 * 3_600_000
/** Limits how often the last use of a session or token is written. */
const touchIntervalMs = 60_000

type SignInWay = (typeof sessions.$inferSelect)['signedInBy']

export interface UserAuthentication extends Authenticator {
  /** Creates a one-time ticket for the address that the user opens. Its session has this scope. */
  readonly createTicket: (userId: string, scope: ApiCaller['scope'], lifetimeMs?: number) => Promise<string>
  /** Creates a session for a user that the identity provider or a passkey has authenticated. */
  readonly createSession: (userId: string, by: SignInWay) => Promise<string>
  /** Makes a token that the operator has chosen valid, and the previous one of that name invalid. */
  readonly registerToken: (
    userId: string,
    id: string,
    localUser: { readonly name: string; readonly token: string },
  ) => Promise<void>
  /** Creates a token for the commands on this machine. Those of other replicas stay valid. */
  readonly createCommandToken: (userId: string, id: string) => Promise<string>
  readonly deleteToken: (token: string) => Promise<void>
}

/** Authenticates users by cookie or token. Stores only hashes, so a reader of the database cannot sign in with them. */
export function createAuthentication({ db, transaction }: Database, now: () => number): UserAuthentication {
  const begin = async (userId: string, by: SignInWay, scope: ApiCaller['scope']): Promise<string> => {
    const session = generateSecret()
    const at = now()
    await db.delete(sessions).where(lt(sessions.expiresAt, at))
    const times = { createdAt: at, lastUsedAt: at, expiresAt: at + sessionLifetimeMs }
    await db.insert(sessions).values({ hash: hashCredential(session), userId, signedInBy: by, scope, ...times })
    return session
  }
  return {
    createSession: (userId, by) => begin(userId, by, 'admin'),
    bySession: (session) => findBySession(db, session, now()),
    byToken: (token) => findByToken(db, token, now()),
    end: async (session) => void (await db.delete(sessions).where(eq(sessions.hash, hashCredential(session)))),
    createTicket: async (userId, scope, lifetimeMs = ticketLifetimeMs) => {
      const ticket = generateSecret()
      const expiresAt = now() + lifetimeMs
      await db.insert(tickets).values({ hash: hashCredential(ticket), userId, scope, expiresAt })
      return ticket
    },
    createCommandToken: async (userId, id) => {
      const token = `ralph_${generateSecret()}`
      const name = 'commands on this machine'
      const times = { createdAt: now(), expiresAt: now() + commandTokenLifetimeMs }
      await db.insert(apiTokens).values({ id, userId, name, scope: 'admin', hash: hashCredential(token), ...times })
      return token
    },
    deleteToken: async (token) => {
      await db.delete(apiTokens).where(eq(apiTokens.hash, hashCredential(token)))
    },
    registerToken: async (userId, id, { name, token }) => {
      const hash = hashCredential(token)
      const times = { createdAt: now(), expiresAt: now() + commandTokenLifetimeMs }
      const before = and(eq(apiTokens.userId, userId), eq(apiTokens.name, name), ne(apiTokens.hash, hash))
      await db.delete(apiTokens).where(before)
      await db
        .insert(apiTokens)
        .values({ id, userId, name, scope: 'admin', hash, ...times })
        .onConflictDoUpdate({ target: apiTokens.hash, set: { expiresAt: times.expiresAt } })
    },
    redeem: async (ticket) => {
      const taken = await transaction(async (tx) => {
        const [row] = await tx.db
          .delete(tickets)
          .where(eq(tickets.hash, hashCredential(ticket)))
          .returning()
        await tx.db.delete(tickets).where(lt(tickets.expiresAt, now()))
        return row
      })
      if (!taken || taken.expiresAt <= now()) return undefined
      const session = await begin(taken.userId, 'local', taken.scope)
      const who = await findBySession(db, session, now())
      return who && { session, who }
    },
  }
}

/** The only user of a single-user backend; created at the first start. */
export async function ensureLocalUser({ db }: Database, name: string, now: number): Promise<string> {
  const id = '00000000-0000-4000-8000-000000000001'
  await db.insert(users).values({ id, name, role: 'admin', createdAt: now, subject: 'local' }).onConflictDoNothing()
  return id
}

async function findBySession(db: Queries, session: string, at: number): Promise<ApiCaller | undefined> {
  const hash = hashCredential(session)
  const [found] = await db
    .select({ user: users, session: sessions })
    .from(sessions)
    .innerJoin(users, eq(users.id, sessions.userId))
    .where(and(eq(sessions.hash, hash), gt(sessions.expiresAt, at), gt(sessions.lastUsedAt, at - sessionIdleMs)))
  if (!found || found.user.disabledAt !== null) return undefined
  if (at - found.session.lastUsedAt > touchIntervalMs) {
    await db.update(sessions).set({ lastUsedAt: at }).where(eq(sessions.hash, hash))
  }
  return { user: toUser(found.user), by: found.session.signedInBy, scope: found.session.scope }
}

async function findByToken(db: Queries, token: string, at: number): Promise<ApiCaller | undefined> {
  const [found] = await db
    .select({ user: users, token: apiTokens })
    .from(apiTokens)
    .innerJoin(users, eq(users.id, apiTokens.userId))
    .where(and(eq(apiTokens.hash, hashCredential(token)), gt(apiTokens.expiresAt, at), isNull(apiTokens.revokedAt)))
  if (!found || found.user.disabledAt !== null) return undefined
  if (at - (found.token.lastUsedAt ?? 0) > touchIntervalMs) {
    await db.update(apiTokens).set({ lastUsedAt: at }).where(eq(apiTokens.id, found.token.id))
  }
  return { user: toUser(found.user), by: 'token', scope: found.token.scope }
}

type UserRow = typeof users.$inferSelect

export const toUser = ({ id, name, email, role, createdAt, disabledAt }: UserRow): ApiCaller['user'] => ({
  id,
  name,
  role,
  createdAt,
  ...(email !== null && { email }),
  ...(disabledAt !== null && { disabledAt }),
})

/** Finds or creates the user for an identity of the provider. The role counts only for a new user. */
export async function findOrCreateUser(
  { transaction }: Database,
  subject: string,
  claims: { readonly name: string; readonly email?: string | undefined },
  make: { readonly id: string; readonly at: number; readonly role: UserRole },
): Promise<string> {
  return transaction(async ({ db }) => {
    const [known] = await db.select().from(users).where(eq(users.subject, subject))
    if (known?.disabledAt) throw new RalphError('UNAUTHENTICATED', 'this account is disabled')
    if (known) return known.id
    const { name, email = null } = claims
    await db.insert(users).values({ id: make.id, name, email, role: make.role, subject, createdAt: make.at })
    return make.id
  })
}

export const generateSecret = (): string => randomBytes(32).toString('base64url')

export const hashCredential = (text: string): string => createHash('sha256').update(text).digest('hex')
