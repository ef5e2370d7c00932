import { eq } from 'drizzle-orm'
import { findPlanWidening, isCallersCommand } from '../../contract/fleet/machine-grant.ts'
import type { Progress } from '../../contract/progress.ts'
import type { Queries } from '../database/database.ts'
import { users } from '../database/user.ts'
import { missingGrant, readMachineRights } from './machine-rights.ts'

/** Whether this user may run programs outside a cell there. A request without a user is the backend's own. */
export async function mayLeaveCell(
  db: Queries,
  userId: string | null | undefined,
  machineId: string,
): Promise<boolean> {
  if (!userId) return true
  const [user] = await db.select({ id: users.id, role: users.role }).from(users).where(eq(users.id, userId))
  return user !== undefined && (await readMachineRights(db, user, machineId))?.level === 'command'
}

/**
 * The plan as a user with the grant `run` may start it: in a cell, or not at all. Throws FORBIDDEN if it names a program of the
 * caller's own, or opens the cell.
 */
export function confinePlan(progress: Progress): Progress {
  const program = listPrograms(progress).find(isCallersCommand)
  if (program !== undefined) {
    throw missingGrant(`run "${program.slice(0, program.indexOf(':') + 1)}" programs on this machine`, 'command')
  }
  const opening = findOpening(progress)
  if (opening !== undefined) throw missingGrant(`use "${opening}" on this machine`, 'command')
  return { ...progress, sandbox: 'required' }
}

function listPrograms({ agent = [], review, phases = [] }: Progress): string[] {
  const items = phases.flatMap(({ steps = [] }) => steps)
  const parts = [...phases, ...items, ...items.flatMap((item) => item.phases)]
  return [...agent, ...(review ? [review.agent] : []), ...parts.flatMap((part) => part.agent ?? [])]
}

/** What in a plan lets programs out of the cell, or lets them see more of the machine than the cell shows. */
function findOpening(progress: Progress): string | undefined {
  const { sandbox, cell, network, perIterationHooks } = progress
  const settings = typeof cell === 'string' ? { kind: cell } : cell
  const reach = settings?.network ?? network
  const hook = perIterationHooks.find(({ cell: chosen }) => chosen === 'none')
  if (sandbox === 'off') return 'sandbox: off'
  if (settings?.kind === 'none') return 'cell: none'
  if (hook) return `cell: none of the hook ${hook.id}`
  if (reach === 'open') return 'network: open'
  return findPlanWidening(progress)
}
