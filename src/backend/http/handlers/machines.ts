import { eq } from 'drizzle-orm'
import { RalphError } from '../../../contract/errors.ts'
import type { Machine } from '../../../contract/fleet/machine.ts'
import { machines } from '../../database/machine.ts'
import { recordRowChanges } from '../../feed/event-log.ts'
import { assertProgramGranted, readMachineRights } from '../../fleet/machine-rights.ts'
import { dispatchMachine } from '../../machines/machine-state.ts'
import type { Fleet } from '../../fleet/fleet.ts'
import { listMachines, findMachine } from '../../views/machines.ts'
import type { RouteHandlers } from '../calls/call.ts'
import { transaction } from '../../fleet/transaction.ts'

/** Operations of the machine listener. */
export interface MachineAdmission {
  readonly token: (options: {
    readonly name?: string | undefined
    readonly labels?: readonly string[] | undefined
    readonly approve?: boolean | undefined
    readonly createdBy: string
  }) => Promise<{ readonly id: string; readonly token: string; readonly expiresAt: number; readonly command: string }>
  /** Closes its connection and refuses its certificate from now on. */
  readonly revoke: (machineId: string) => Promise<void>
}

type MachineRoute = Pick<
  RouteHandlers,
  'listMachines' | 'makeJoinToken' | 'changeMachine' | 'revokeMachine' | 'updateMachine' | 'preflight'
>

export function machineRouteHandlers(fleet: Fleet, admission: MachineAdmission, backendVersion: string): MachineRoute {
  const { db } = fleet.database
  const found = async (machineId: string): Promise<Machine> => {
    const machine = await findMachine(db, machineId, fleet.clock.now())
    if (!machine) throw new RalphError('NOT_FOUND', 'not found, or you have no access')
    return machine
  }
  return {
    listMachines: async () => ({ items: await listMachines(db, fleet.clock.now()) }),
    makeJoinToken: ({ body, who }) => admission.token({ ...body, createdBy: who.user.id }),
    changeMachine: async ({ ids: { machineId }, body }) => {
      const { status } = await found(machineId)
      if (status === 'revoked') throw new RalphError('MACHINE_REFUSED', 'a revoked machine must join again')
      const changes = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined))
      // Activating a machine acknowledges its alarm.
      const fields = { ...changes, ...(body.status === 'active' && { alarm: null }) }
      await transaction(fleet, async (t) => {
        if (Object.keys(fields).length > 0) await t.tx.db.update(machines).set(fields).where(eq(machines.id, machineId))
        await recordRowChanges(t, { kind: 'machine', machineId })
      })
      await dispatchMachine(fleet, machineId)
      return found(machineId)
    },
    revokeMachine: async ({ ids: { machineId } }) => {
      const { local } = await found(machineId)
      if (local) throw new RalphError('MACHINE_REFUSED', 'the backend itself runs on this machine')
      await admission.revoke(machineId)
      await transaction(fleet, (t) => recordRowChanges(t, { kind: 'machine', machineId }))
      return found(machineId)
    },
    updateMachine: async ({ ids: { machineId }, body: { version = backendVersion } }) => {
      const { local } = await found(machineId)
      if (local) throw new RalphError('MACHINE_REFUSED', 'the backend itself runs on this machine')
      await fleet.machines.ask(machineId, 'update', { version })
      return found(machineId)
    },
    preflight: async ({ ids: { machineId }, body: { program }, who }) => {
      assertProgramGranted(await readMachineRights(db, who.user, machineId), program)
      return (await fleet.machines.ask(machineId, 'preflight', { program })).preflight
    },
  }
}
