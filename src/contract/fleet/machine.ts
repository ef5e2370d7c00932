import { z } from 'zod'
import { Timestamp } from '../time.ts'
import { Uuid } from './page.ts'

/** The administrative status of a machine. Whether it is reachable is tracked separately. */
export const MachineStatus = z.enum(['pending', 'active', 'cordoned', 'draining', 'revoked'])
export type MachineStatus = z.infer<typeof MachineStatus>

/** An agent program found on a machine, with what is known about it without a paid call. */
export const InstalledProgram = z.object({
  name: z.string(),
  version: z.string().optional(),
  tested: z.boolean().optional(),
  loggedIn: z.enum(['yes', 'no', 'unknown']),
  /** Why it is unusable. */
  problem: z.string().optional(),
})
export type InstalledProgram = z.output<typeof InstalledProgram>

/** A version of Ralph. It becomes part of a shell command, so nothing else is accepted. */
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
  /** Maximum number of concurrent prompts, and number of running prompts. */
  slots: z.int(),
  running: z.int(),
  diskFreeBytes: z.number().optional(),
  /** The machine's clock minus ours; informational only. */
  clockSkewMs: z.number().optional(),
  programs: z.array(InstalledProgram),
  /** Folders that may contain workspaces. */
  roots: z.array(z.string()),
  certificate: z.object({ serial: z.string(), expiresAt: Timestamp }).optional(),
  /**
   * A problem that needs a person: a second machine with the same key, or a clock that is far off. Cleared when an
   * admin frees the machine.
   */
  alarm: z.string().optional(),
  ownerId: Uuid.optional(),
  /** Users other than the owner may run agents on it, if they have a grant. */
  shared: z.boolean().optional(),
  createdAt: Timestamp,
})
export type Machine = z.output<typeof Machine>

export const CreatedJoinToken = z.object({
  id: Uuid,
  /** Shown once. */
  token: z.string(),
  /** The command to run on the machine. */
  command: z.string(),
  expiresAt: Timestamp,
})
export type CreatedJoinToken = z.output<typeof CreatedJoinToken>

export const Preflight = z.object({
  program: InstalledProgram,
  /** The account's usage limit resets at this time. */
  limitUntil: Timestamp.optional(),
  diskFreeBytes: z.number().optional(),
  /** The operating system user that runs commands. */
  runsAs: z.string().optional(),
  sandbox: z.string().optional(),
  /** What the owner of the machine allows, one line per field of machine.yaml; absent: there is no such file. */
  policy: z.array(z.string()).optional(),
})
export type Preflight = z.output<typeof Preflight>
