import { z } from 'zod'
import { findWidening } from '../cell.ts'
import { findRoomWidening } from '../check.ts'
import type { Progress } from '../progress.ts'
import { Timestamp } from '../time.ts'
import { Uuid } from './page.ts'

/**
 * What a user may do on a machine. `run`: run its agent programs, in clones of remote repositories and in the folders of
 * the grant. `command`: also any other command, in any folder that the machine allows.
 */
export const MachineGrantLevel = z.enum(['run', 'command'])
export type MachineGrantLevel = z.infer<typeof MachineGrantLevel>

/** Absolute, without `..`: the machine resolves links. */
export const GrantFolder = z
  .string()
  .max(4096)
  .regex(/^\/(?!(?:.*\/)?\.\.(?:\/|$))\P{Cc}*$/u, 'an absolute path')

export const MachineGrant = z.object({
  machineId: Uuid,
  userId: Uuid,
  userName: z.string(),
  level: MachineGrantLevel,
  /** Folders that workspaces of this user may be in. */
  roots: z.array(z.string()),
  createdAt: Timestamp,
})
export type MachineGrant = z.output<typeof MachineGrant>

/** `command:`, `acp:` and similar names start a program that the caller chooses. */
export const isCallersCommand = (program: string): boolean => program.includes(':')

export type WidenedPlan = Partial<Pick<Progress, 'cell' | 'network' | 'env' | 'room' | 'doneWhen'>>

/** What in a plan shows agents or checks more of the machine than a cell and a clean room do by themselves. */
export function findPlanWidening(plan: WidenedPlan): string | undefined {
  const { cell, network, env } = plan
  // Variables of the daemon, which may hold keys of the owner of the machine.
  const passed = (env?.pass ?? []).length > 0 ? 'env: pass' : undefined
  return findWidening(cell, network) ?? findRoomWidening(plan) ?? passed
}
