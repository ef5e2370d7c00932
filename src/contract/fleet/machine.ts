import { z } from 'zod'
import { Timestamp } from '../time.ts'
import { Uuid } from './page.ts'

/** What a machine was allowed to be. Whether it can be reached is another question. */
export const MachineStatus = z.enum(['pending', 'active', 'cordoned', 'draining', 'revoked'])
export type MachineStatus = z.infer<typeof MachineStatus>

/** An agent program that was found on a machine, as far as can be told without a paid call. */
export const Program = z.object({
  name: z.string(),
  version: z.string().optional(),
  tested: z.boolean().optional(),
  loggedIn: z.enum(['yes', 'no', 'unknown']),
  /** Why it cannot be used. */
  problem: z.string().optional(),
})
export type Program = z.output<typeof Program>

/** Of Ralph. It becomes a part of a command, so it is nothing but that. */
export const Version = z
  .string()
  .max(100)
  .regex(/^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/, 'a version like 1.2.3')

export const Machine = z.object({
  id: Uuid,
  name: z.string(),
  status: MachineStatus,
  /** The machine inside `ralph serve` itself. */
  local: z.boolean(),
  reachable: z.boolean(),
  lastSeenAt: Timestamp.optional(),
  version: z.string().optional(),
  platform: z.string().optional(),
  labels: z.array(z.string()),
  /** How many prompts may run at once, and how many do. */
  slots: z.int(),
  running: z.int(),
  diskFreeBytes: z.number().optional(),
  /** Its clock minus ours; no decision is taken on it. */
  clockSkewMs: z.number().optional(),
  programs: z.array(Program),
  /** Folders that workspaces may lie in. */
  roots: z.array(z.string()),
  certificate: z.object({ serial: z.string(), expiresAt: Timestamp }).optional(),
  /** Something a person should know: a second machine with the same key, a clock far off. It stays until an admin frees the machine. */
  alarm: z.string().optional(),
  createdAt: Timestamp,
})
export type Machine = z.output<typeof Machine>

export const JoinToken = z.object({
  id: Uuid,
  /** Shown once. */
  token: z.string(),
  /** What to type on the machine. */
  command: z.string(),
  expiresAt: Timestamp,
})
export type JoinToken = z.output<typeof JoinToken>

export const Preflight = z.object({
  program: Program,
  /** The account has reached its usage limit until then. */
  limitUntil: Timestamp.optional(),
  diskFreeBytes: z.number().optional(),
  /** As which user commands would run. */
  runsAs: z.string().optional(),
  sandbox: z.string().optional(),
})
export type Preflight = z.output<typeof Preflight>
