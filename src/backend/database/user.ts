import { pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import type { z } from 'zod'
import type { AccessLevel, TokenScope, UserRole } from '../../contract/fleet/user.ts'
import { timestampMs } from './columns.ts'

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
  signedInBy: text('signed_in_by').$type<'local' | 'oidc'>().notNull(),
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
