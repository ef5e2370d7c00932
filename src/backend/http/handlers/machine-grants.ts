import { and, eq } from 'drizzle-orm'
import { RalphError } from '../../../contract/errors.ts'
import type { Database } from '../../database/database.ts'
import { machineGrants } from '../../database/machine-grant.ts'
import { machines } from '../../database/machine.ts'
import { users } from '../../database/user.ts'
import { isShareable } from '../../fleet/machine-rights.ts'
import type { RouteHandlers } from '../calls/call.ts'

type GrantRoute = Pick<RouteHandlers, 'listMachineGrants' | 'grantMachine'>

/** Who may run agents on a machine. */
export function machineGrantHandlers(database: Database, now: () => number): GrantRoute {
  const list = async (machineId: string) => {
    const rows = await database.db
      .select({ grant: machineGrants, userName: users.name })
      .from(machineGrants)
      .innerJoin(users, eq(users.id, machineGrants.userId))
      .where(eq(machineGrants.machineId, machineId))
      .orderBy(users.name)
    return {
      items: rows.map(({ userName, grant: { userId, level, roots, createdAt } }) => ({
        machineId,
        userId,
        userName,
        level,
        roots: [...roots],
        createdAt,
      })),
    }
  }
  return {
    listMachineGrants: ({ ids }) => list(ids.machineId),
    grantMachine: async ({ ids: { machineId, userId }, body: { level, roots }, who }) => {
      await database.transaction(async ({ db }) => {
        const theirs = and(eq(machineGrants.machineId, machineId), eq(machineGrants.userId, userId))
        if (level === null) return void (await db.delete(machineGrants).where(theirs))
        const [machine] = await db.select().from(machines).where(eq(machines.id, machineId))
        const [user] = await db.select({ id: users.id }).from(users).where(eq(users.id, userId))
        if (!machine || !user) throw new RalphError('NOT_FOUND', 'not found, or you have no access')
        if (!isShareable(machine)) throw notShared()
        const row = { machineId, userId, level, roots, grantedBy: who.user.id, createdAt: now() }
        const target = [machineGrants.machineId, machineGrants.userId]
        await db.insert(machineGrants).values(row).onConflictDoUpdate({ target, set: row })
      })
      return list(machineId)
    },
  }
}

const notShared = (): RalphError =>
  new RalphError('FORBIDDEN', 'the owner of this machine does not share it', {
    hint: 'join it with `ralph agents-server join --shared`',
  })
