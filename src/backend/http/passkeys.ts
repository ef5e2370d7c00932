import { and, eq, gt, lt, isNull } from 'drizzle-orm'
import { RalphError } from '../../contract/errors.ts'
import {
  NewPasskeyOptions,
  PasskeySignInOptions,
  type NewPasskeyResponse,
  type Passkey,
  type PasskeySignInResponse,
} from '../../contract/fleet/passkey.ts'
import type { Database } from '../database/database.ts'
import { passkeyChallenges, passkeys, users } from '../database/user.ts'
import type { ApiCaller } from './calls/call.ts'

/** Loaded on first use: a backend without passkeys starts without it. */
const webauthn = () => import('@simplewebauthn/server')

const challengeMs = 5 * 60_000

export type PasskeyDeps = {
  readonly database: Database
  readonly now: () => number
  readonly newId: () => string
  /** The address that users open. Passkeys are bound to its host name. */
  readonly origin: () => string
}

export interface Passkeys {
  readonly list: (userId: string) => Promise<Passkey[]>
  readonly prepareNew: (user: ApiCaller['user']) => Promise<NewPasskeyOptions>
  readonly add: (userId: string, name: string, credential: NewPasskeyResponse) => Promise<Passkey>
  readonly remove: (userId: string, id: string) => Promise<void>
  readonly prepareSignIn: () => Promise<PasskeySignInOptions>
  /** Returns the ID of the user; undefined if the signature is not valid. */
  readonly signIn: (credential: PasskeySignInResponse) => Promise<string | undefined>
}

export function requirePasskeys(find: () => Passkeys | undefined): Passkeys {
  const found = find()
  if (found) return found
  throw new RalphError('NOT_SUPPORTED', 'browsers allow passkeys only under a host name', {
    hint: 'start the backend with --origin https://a.host.name',
  })
}

/** Passkeys (WebAuthn) of users. A passkey verifies the person, so it replaces password and second factor. */
export function createPasskeys(deps: PasskeyDeps): Passkeys {
  const { database, now } = deps
  const { db } = database
  return {
    list: async (userId) => {
      const rows = await db.select().from(passkeys).where(eq(passkeys.userId, userId)).orderBy(passkeys.createdAt)
      return rows.map(showPasskey)
    },
    prepareNew: async ({ id, name }) => {
      const own = await db.select().from(passkeys).where(eq(passkeys.userId, id))
      const { generateRegistrationOptions } = await webauthn()
      const options = await generateRegistrationOptions({
        rpName: 'Ralph',
        rpID: getHost(deps),
        userName: name,
        userID: new TextEncoder().encode(id),
        excludeCredentials: own.map(({ credentialId, transports }) => ({ id: credentialId, transports })),
        authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      })
      await saveChallenge(deps, options.challenge, id)
      return NewPasskeyOptions.parse(options)
    },
    add: (userId, name, credential) => addPasskey(deps, { userId, name, credential }),
    remove: async (userId, id) => {
      const own = and(eq(passkeys.id, id), eq(passkeys.userId, userId))
      const { rowCount } = await db.delete(passkeys).where(own)
      if (rowCount === 0) throw new RalphError('NOT_FOUND', 'there is no such passkey')
    },
    prepareSignIn: async () => {
      await db.delete(passkeyChallenges).where(lt(passkeyChallenges.expiresAt, now()))
      const { generateAuthenticationOptions } = await webauthn()
      const options = await generateAuthenticationOptions({ rpID: getHost(deps), userVerification: 'required' })
      await saveChallenge(deps, options.challenge, null)
      return PasskeySignInOptions.parse(options)
    },
    signIn: (credential) => verifySignIn(deps, credential),
  }
}

const getHost = ({ origin }: PasskeyDeps): string => new URL(origin()).hostname

const saveChallenge = async ({ database: { db }, now }: PasskeyDeps, challenge: string, userId: string | null) =>
  void (await db.insert(passkeyChallenges).values({ challenge, userId, expiresAt: now() + challengeMs }))

/** Each challenge works once, and only for the user it was created for. */
async function redeemChallenge(
  { database: { db }, now }: PasskeyDeps,
  challenge: string,
  userId: string | null,
): Promise<boolean> {
  const isOwn = userId === null ? isNull(passkeyChallenges.userId) : eq(passkeyChallenges.userId, userId)
  const isValid = and(eq(passkeyChallenges.challenge, challenge), isOwn, gt(passkeyChallenges.expiresAt, now()))
  const { rowCount } = await db.delete(passkeyChallenges).where(isValid)
  return rowCount === 1
}

type AddPasskey = { readonly userId: string; readonly name: string; readonly credential: NewPasskeyResponse }

async function addPasskey(deps: PasskeyDeps, { userId, name, credential }: AddPasskey): Promise<Passkey> {
  const { verifyRegistrationResponse } = await webauthn()
  const { verified, registrationInfo } = await verifyRegistrationResponse({
    response: credential,
    expectedChallenge: (challenge) => redeemChallenge(deps, challenge, userId),
    expectedOrigin: deps.origin(),
    expectedRPID: getHost(deps),
    requireUserVerification: true,
  }).catch(() => ({ verified: false, registrationInfo: undefined }))
  if (!verified || !registrationInfo) {
    throw new RalphError('INVALID_REQUEST', 'this passkey could not be verified', { hint: 'start again' })
  }
  const { id: credentialId, publicKey, counter } = registrationInfo.credential
  const row = {
    id: deps.newId(),
    credentialId,
    userId,
    name,
    publicKey: Buffer.from(publicKey).toString('base64url'),
    counter,
    transports: credential.response.transports,
    createdAt: deps.now(),
  }
  const [made] = await deps.database.db.insert(passkeys).values(row).onConflictDoNothing().returning()
  if (!made) throw new RalphError('INVALID_REQUEST', 'this passkey is in use already')
  return showPasskey(made)
}

async function verifySignIn(deps: PasskeyDeps, credential: PasskeySignInResponse): Promise<string | undefined> {
  const { db } = deps.database
  const [found] = await db
    .select({ passkey: passkeys, disabledAt: users.disabledAt })
    .from(passkeys)
    .innerJoin(users, eq(users.id, passkeys.userId))
    .where(eq(passkeys.credentialId, credential.id))
  if (!found || found.disabledAt !== null) return undefined
  const { id, credentialId, publicKey, counter, transports, userId } = found.passkey
  const { verifyAuthenticationResponse } = await webauthn()
  const { verified, authenticationInfo } = await verifyAuthenticationResponse({
    response: credential,
    expectedChallenge: (challenge) => redeemChallenge(deps, challenge, null),
    expectedOrigin: deps.origin(),
    expectedRPID: getHost(deps),
    credential: {
      id: credentialId,
      publicKey: new Uint8Array(Buffer.from(publicKey, 'base64url')),
      counter,
      transports,
    },
    requireUserVerification: true,
  }).catch(() => ({ verified: false, authenticationInfo: undefined }))
  if (!verified || !authenticationInfo) return undefined
  const used = { counter: authenticationInfo.newCounter, lastUsedAt: deps.now() }
  await db.update(passkeys).set(used).where(eq(passkeys.id, id))
  return userId
}

const showPasskey = ({ id, name, createdAt, lastUsedAt }: typeof passkeys.$inferSelect): Passkey => ({
  id,
  name,
  createdAt,
  ...(lastUsedAt !== null && { lastUsedAt }),
})
