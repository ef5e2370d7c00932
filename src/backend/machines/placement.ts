import { gt } from 'drizzle-orm'
import { RalphError } from '../../contract/errors.ts'
import { formatTimestamp } from '../../contract/time.ts'
import { machines, type MachineRow } from '../database/machine.ts'
import { accountLimits } from '../database/usage.ts'
import { isReachable } from '../views/show.ts'
import { runningPrompts } from '../views/machines.ts'
import type { Fleet } from '../fleet/fleet.ts'

export type PlacementRequest = {
  readonly program: string
  readonly labels: readonly string[]
  /** Machines to exclude. */
  readonly excluded?: readonly string[]
  /** Whether the user may run the agent there; absent: on every machine. */
  readonly isAllowed?: ((machine: MachineRow) => boolean) | undefined
}

/** The default account: agents of one program on one machine share a usage limit. */
export const defaultAccount = (program: string, machineId: string): string => `${program}@${machineId}`

const maxNamedMachines = 5

/**
 * Chooses a machine for an agent: active, reachable, with all labels and the program. Prefers accounts below their
 * limit, then the most free slots; if all are full or limited, the agent waits on the best one. Throws NO_MACHINE with
 * what each machine lacks.
 */
export async function chooseMachine(fleet: Fleet, request: PlacementRequest): Promise<MachineRow> {
  const { db } = fleet.database
  const now = fleet.clock.now()
  const rows = await db.select({ machine: machines, running: runningPrompts }).from(machines)
  const limited = await db.select().from(accountLimits).where(gt(accountLimits.until, now))
  const judged = rows.map((row) => ({ ...row, lacks: describeLack(row.machine, request, now) }))
  const findLimitEnd = ({ machine }: { readonly machine: MachineRow }) =>
    limited.find(({ account }) => account === defaultAccount(request.program, machine.id))?.until ?? 0
  const [best] = judged
    .filter(({ lacks }) => lacks === undefined)
    .toSorted(
      (a, b) => findLimitEnd(a) - findLimitEnd(b) || b.machine.slots - b.running - (a.machine.slots - a.running),
    )
  if (best) return best.machine
  const isThere = ({ machine }: { readonly machine: MachineRow }) => Number(isReachable(machine, now))
  const known = judged.filter(({ machine }) => machine.status !== 'revoked')
  const named = known.toSorted((a, b) => isThere(b) - isThere(a)).slice(0, maxNamedMachines)
  const why = named.map(({ machine, lacks }) => `${machine.name} ${lacks}`).join('; ')
  throw new RalphError('NO_MACHINE', why === '' ? 'there is no machine' : `no machine can take the agent: ${why}`, {
    hint: 'connect one with `ralph machine token`, or name a machine',
  })
}

/** Why this machine cannot take it, as the end of a sentence about the machine. */
function describeLack(
  machine: MachineRow,
  { program, labels, excluded: not = [], isAllowed = () => true }: PlacementRequest,
  now: number,
): string | undefined {
  const { status, programs, lastSeenAt, slots } = machine
  if (not.includes(machine.id)) return 'had it before'
  if (!isAllowed(machine)) return 'is not granted to you'
  if (status !== 'active') return `is ${status}`
  if (!isReachable(machine, now)) {
    return lastSeenAt === null ? 'was never seen' : `was last seen at ${formatTimestamp(lastSeenAt)}`
  }
  const label = labels.find((required) => !machine.labels.includes(required))
  if (label !== undefined) return `has no label ${label}`
  const found = programs.find(({ name }) => name === program)
  if (isDetectable(program) && !found) return `has no ${program}`
  if (found?.problem !== undefined) return `cannot run ${program}: ${found.problem}`
  return slots === 0 ? 'has no slots' : undefined
}

/** Machines report the programs that have a driver; a `command:` is assumed to exist. */
const isDetectable = (program: string): boolean => !program.includes(':') && program !== 'scripted'
