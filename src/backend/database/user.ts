import { jsonb, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import type { z } from 'zod'
import type { NewPasskeyResponse } from '../../contract/fleet/passkey.ts'
import type { AccessLevel, TokenScope, UserRole } from '../../contract/fleet/user.ts'
import { bigintColumn, timestampMs } from './columns.ts'

export const users = pgTable('user', {
  id: uuid('id').primaryKey(),
  name: text('name').notNull(),
  email: text('email'),
  role: text('role').$type<UserRole>().notNull(),
  /** Issuer and subject of the identity provider. */
  subject: text('subject').unique(),
  createdAt: timestampMs('created_at').notNull(),
  disabledAt: timestampMs('disabled_at'),
})

export const access = pgTable(
  'access',
  {
    agentId: uuid('agent_id').notNull(),
    userId: uuid('user_id').notNull(),
    level: text('level').$type<AccessLevel>().notNull(),
  },
  (table) => [primaryKey({ columns: [table.agentId, table.userId] })],
)

/** `hash`: SHA-256 of the cookie. */
export const sessions = pgTable('session', {
  hash: text('hash').primaryKey(),
  userId: uuid('user_id').notNull(),
  signedInBy: text('signed_in_by').$type<'local' | 'oidc' | 'passkey'>().notNull(),
  /** At most the scope of the credential that created the session. */
  scope: text('scope').$type<z.output<typeof TokenScope>>().notNull().default('admin'),
  createdAt: timestampMs('created_at').notNull(),
  lastUsedAt: timestampMs('last_used_at').notNull(),
  expiresAt: timestampMs('expires_at').notNull(),
})

/** Single use: redeemed by deleting the row. */
export const tickets = pgTable('ticket', {
  hash: text('hash').primaryKey(),
  userId: uuid('user_id').notNull(),
  /** The scope of the credential that created the ticket; its session inherits it. */
  scope: text('scope').$type<z.output<typeof TokenScope>>().notNull().default('admin'),
  expiresAt: timestampMs('expires_at').notNull(),
})

export const apiTokens = pgTable('api_token', {
  id: uuid('id').primaryKey(),
  userId: uuid('user_id').notNull(),
  name: text('name').notNull(),
  scope: text('scope').$type<'read' | 'write' | 'admin'>().notNull(),
  hash: text('hash').notNull().unique(),
  createdAt: timestampMs('created_at').notNull(),
  expiresAt: timestampMs('expires_at').notNull(),
  lastUsedAt: timestampMs('last_used_at'),
  revokedAt: timestampMs('revoked_at'),
})

export const passkeys = pgTable('passkey', {
  id: uuid('id').primaryKey(),
  /** The ID that the authenticator gave it. */
  credentialId: text('credential_id').notNull().unique(),
  userId: uuid('user_id').notNull(),
  name: text('name').notNull(),
  publicKey: text('public_key').notNull(),
  /** How often the authenticator says it was used; a lower number than before reveals a copy. */
  counter: bigintColumn('counter').notNull(),
  transports: jsonb('transports').$type<NewPasskeyResponse['response']['transports']>().notNull(),
  createdAt: timestampMs('created_at').notNull(),
  lastUsedAt: timestampMs('last_used_at'),
})

/** Single use: redeemed by deleting the row. */
export const passkeyChallenges = pgTable('passkey_challenge', {
  challenge: text('challenge').primaryKey(),
  /** The user who adds a passkey; null for a sign-in. */
  userId: uuid('user_id'),
  expiresAt: timestampMs('expires_at').notNull(),
})
