import { eq } from 'drizzle-orm'
import { RalphError } from '../../../contract/errors.ts'
import type { Route } from '../../../contract/fleet/route.ts'
import { agents } from '../../database/agent.ts'
import type { Database } from '../../database/database.ts'
import { assertProgramGranted, readMachineRights, type MachineRights } from '../../fleet/machine-rights.ts'
import { findAgentId } from './agent-access.ts'
import type { ApiCaller } from './call.ts'

/** The caller's rights on the machine that the IDs in a path lead to. */
export async function readCallerRights(
  { db }: Database,
  { user }: ApiCaller,
  ids: Readonly<Record<string, string>>,
): Promise<MachineRights | undefined> {
  if (ids['machineId'] !== undefined) return readMachineRights(db, user, ids['machineId'])
  const agentId = await findAgentId(db, ids)
  if (agentId === undefined) return undefined
  const [agent] = await db.select({ machineId: agents.machineId }).from(agents).where(eq(agents.id, agentId))
  return agent && readMachineRights(db, user, agent.machineId)
}

/** Throws NOT_FOUND if there is no such machine, FORBIDDEN if the caller may not do this there. */
export function assertMachineRights(
  { scope }: ApiCaller,
  needs: NonNullable<Route['machine']>,
  rights: MachineRights | undefined,
): void {
  if (!rights) throw new RalphError('NOT_FOUND', 'not found, or you have no access')
  if (needs === 'run') return assertProgramGranted(rights, '')
  if (!rights.manages || scope !== 'admin')
    throw new RalphError('FORBIDDEN', 'only the owner of the machine and admins may do this')
}
