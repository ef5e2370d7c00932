import { z } from 'zod'
import { Timestamp } from '../time.ts'
import { Uuid } from './page.ts'

/** What a user may do with one agent. Each level includes the previous ones. */
export const AccessLevel = z.enum(['read', 'write', 'owner'])
export type AccessLevel = z.infer<typeof AccessLevel>

export const UserRole = z.enum(['member', 'admin'])
export type UserRole = z.infer<typeof UserRole>

export const User = z.object({
  id: Uuid,
  name: z.string(),
  email: z.string().optional(),
  role: UserRole,
  createdAt: Timestamp,
  /** Set if this user can no longer sign in. */
  disabledAt: Timestamp.optional(),
})
export type User = z.output<typeof User>

/** The signed-in user, and what the page should offer. */
export const Me = z.object({
  user: User,
  /** `local`: the only user of this machine, without an account. */
  signedInBy: z.enum(['local', 'oidc', 'passkey', 'token']),
  version: z.string(),
  /** The folder in which `ralph serve` was started, if it shows the sprints of a project. */
  project: z.string().optional(),
  /** The backend can run a demo sprint on its own computer. */
  demo: z.boolean().optional(),
})
export type Me = z.output<typeof Me>

export const Access = z.object({ agentId: Uuid, userId: Uuid, userName: z.string(), level: AccessLevel })
export type Access = z.output<typeof Access>

export const TokenScope = z.enum(['read', 'write', 'admin'])

export const ApiToken = z.object({
  id: Uuid,
  name: z.string(),
  scope: TokenScope,
  createdAt: Timestamp,
  expiresAt: Timestamp,
  lastUsedAt: Timestamp.optional(),
})
export type ApiToken = z.output<typeof ApiToken>

export const AuditEntry = z.object({
  id: z.string(),
  at: Timestamp,
  /** Name of the user or the machine. */
  who: z.string(),
  /** Name of the route or event: `agents.start-ralph-mode`. */
  what: z.string(),
  target: z.string().optional(),
  details: z.record(z.string(), z.unknown()).optional(),
})
export type AuditEntry = z.output<typeof AuditEntry>
