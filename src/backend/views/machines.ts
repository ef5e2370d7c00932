import { eq, sql } from 'drizzle-orm'
import type { Machine } from '../../contract/fleet/machine.ts'
import type { Queries } from '../database/database.ts'
import { machines } from '../database/machine.ts'
import { showMachine } from './show.ts'

/** Number of prompts running on a machine. */
export const runningPrompts = sql<number>`(select count(*)::int from agent_prompt p join agent a on a.id = p.agent_id
  where a.machine_id = machine.id and p.status = 'running')`

export async function listMachines(db: Queries, now: number): Promise<Machine[]> {
  const rows = await db
    .select({ row: machines, running: runningPrompts })
    .from(machines)
    .orderBy(machines.name, machines.id)
  return rows.map((found) => showMachine(found.row, { running: found.running, now }))
}

export async function findMachine(db: Queries, id: string, now: number): Promise<Machine | undefined> {
  const [found] = await db.select({ row: machines, running: runningPrompts }).from(machines).where(eq(machines.id, id))
  return found && showMachine(found.row, { running: found.running, now })
}
