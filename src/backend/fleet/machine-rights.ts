import { and, eq } from 'drizzle-orm'
import { RalphError } from '../../contract/errors.ts'
import type { AgentWorkspace } from '../../contract/fleet/agent.ts'
import { isCallersCommand, type MachineGrantLevel } from '../../contract/fleet/machine-grant.ts'
import type { UserRole } from '../../contract/fleet/user.ts'
import type { Queries } from '../database/database.ts'
import { machineGrants } from '../database/machine-grant.ts'
import { machines, type MachineRow } from '../database/machine.ts'

/** What a user may do on a machine. */
export type MachineRights = {
  readonly level: MachineGrantLevel | undefined
  /** Folders that workspaces must be in; undefined: all that the machine allows. */
  readonly roots: readonly string[] | undefined
  /** Whether the user grants access to others. */
  readonly manages: boolean
}

export type MachineUser = { readonly id: string; readonly role: UserRole }

/**
 * The owner of a machine may do everything there. All others, admins too, need its consent (`shared`), because they
 * work under the same account of its operating system. Undefined if there is no such machine.
 */
export async function readMachineRights(
  db: Queries,
  user: MachineUser,
  machineId: string,
): Promise<MachineRights | undefined> {
  const [machine] = await db.select().from(machines).where(eq(machines.id, machineId))
  if (!machine) return undefined
  const [grant] = await db
    .select()
    .from(machineGrants)
    .where(and(eq(machineGrants.machineId, machineId), eq(machineGrants.userId, user.id)))
  return resolveRights(user, machine, grant)
}

export function resolveRights(
  user: MachineUser,
  machine: Pick<MachineRow, 'ownerId' | 'shared'>,
  grant: Pick<typeof machineGrants.$inferSelect, 'level' | 'roots'> | undefined,
): MachineRights {
  const isOwner = machine.ownerId === user.id
  const manages = isOwner || user.role === 'admin'
  if (isOwner || (manages && isShareable(machine))) return { level: 'command', roots: undefined, manages }
  if (!grant || !isShareable(machine)) return { level: undefined, roots: [], manages }
  return { level: grant.level, roots: grant.level === 'command' ? undefined : grant.roots, manages }
}

/** A machine without an owner joined before machines had one. */
export const isShareable = ({ ownerId, shared }: Pick<MachineRow, 'ownerId' | 'shared'>): boolean =>
  shared || ownerId === null

/** Which machines a user may use for this program and workspace. */
export async function createMachineFilter(
  db: Queries,
  user: MachineUser,
  { program, workspace }: { readonly program: string; readonly workspace: AgentWorkspace },
): Promise<(machine: MachineRow) => boolean> {
  const rows = await db.select().from(machineGrants).where(eq(machineGrants.userId, user.id))
  const grants = new Map(rows.map((row) => [row.machineId, row]))
  return (machine) => {
    const { level, roots } = resolveRights(user, machine, grants.get(machine.id))
    const needed: MachineGrantLevel = isCallersCommand(program) ? 'command' : 'run'
    return (level === 'command' || level === needed) && findFolderOutside(roots, workspace) === undefined
  }
}

/** Throws FORBIDDEN unless the user may run this program there. */
export function assertProgramGranted(rights: MachineRights | undefined, program: string): void {
  if (rights?.level === undefined) throw missingGrant('run agents on this machine', 'run')
  if (isCallersCommand(program) && rights.level !== 'command')
    throw missingGrant(`run "${program.slice(0, program.indexOf(':') + 1)}" programs on this machine`, 'command')
}

/**
 * Throws FORBIDDEN unless the user may work in this folder. The comparison is of paths; the machine compares again with
 * links resolved.
 */
export function assertWorkspaceGranted({ roots }: MachineRights, workspace: AgentWorkspace): void {
  const outside = findFolderOutside(roots, workspace)
  if (outside !== undefined) throw missingGrant(`use the folder "${outside}" of this machine`, 'command')
}

const findFolderOutside = (roots: MachineRights['roots'], workspace: AgentWorkspace): string | undefined =>
  roots && listLocalFolders(workspace).find((path) => !roots.some((root) => isInside(path, root)))

function listLocalFolders(workspace: AgentWorkspace): string[] {
  if (workspace.kind !== 'clone') return [workspace.path]
  const { repository, push = 'origin' } = workspace
  return [repository, ...(push === 'origin' ? [] : [push])].filter((address) => !isRemote(address))
}

const isRemote = (address: string): boolean => /^(?:https?:\/\/|ssh:\/\/|git:\/\/|[\w.-]+@[\w.-]+:)/.test(address)

const isInside = (path: string, root: string): boolean =>
  !path.split('/').includes('..') && (path === root || path.startsWith(root.endsWith('/') ? root : `${root}/`))

export const missingGrant = (what: string, level: MachineGrantLevel): RalphError =>
  new RalphError('FORBIDDEN', `you are not allowed to ${what}`, {
    hint: `the owner of the machine or an admin can grant you "${level}" on it`,
  })
