import { and, asc, eq, isNull, sql } from 'drizzle-orm'
import { setTimeout as sleep } from 'node:timers/promises'
import { agents, type AgentRow } from '../database/agent.ts'
import { machines } from '../database/machine.ts'
import { createAgent, makeWorkspace, setState } from './agents.ts'
import type { Asker, Fleet } from './ports.ts'

export type Project = {
  readonly machineId: string
  readonly folder: string
  readonly name: string
  /** The agent program that would work in it, and what is wrong with that. */
  readonly program: string
  readonly problem?: string | undefined
}

/** The agent of a project folder, made if there is none: one per machine and folder, however often this is called. */
export async function projectAgent(fleet: Fleet, project: Project, by: Asker): Promise<AgentRow> {
  const { machineId, folder: path, name, program, problem } = project
  await untilConnected(fleet, machineId)
  const known = await agentOf(fleet, project)
  if (known) return known.state === 'failed' && problem === undefined ? repaired(fleet, known, project) : known
  const made = await createAgent(fleet, { name, machineId, program, workspace: { kind: 'folder', path } }, by)
  return problem === undefined
    ? made
    : setState(fleet, made.id, { state: 'failed', reason: `${noProgram}: ${problem}` })
}

const noProgram = 'no agent program'

/** What it lacked may be there now. Its program is only chosen again if there was none to choose from. */
async function repaired(fleet: Fleet, agent: AgentRow, { program, machineId }: Project): Promise<AgentRow> {
  if (agent.reason?.startsWith(noProgram)) {
    const chosen = { program, account: `${program}@${machineId}` }
    await fleet.database.db.update(agents).set(chosen).where(eq(agents.id, agent.id))
  }
  return makeWorkspace(fleet, agent)
}

/** An agent that was archived is not that of its folder any more. */
async function agentOf({ database: { db } }: Fleet, { machineId, folder }: Project): Promise<AgentRow | undefined> {
  const workspace = sql`${agents.workspace} @> ${JSON.stringify({ kind: 'folder', path: folder })}::jsonb`
  const isIts = and(eq(agents.machineId, machineId), isNull(agents.archivedAt), workspace)
  const [agent] = await db.select().from(agents).where(isIts).orderBy(asc(agents.createdAt)).limit(1)
  return agent
}

const patienceMs = 60_000
const lookEveryMs = 100

async function untilConnected({ database: { db }, clock }: Fleet, machineId: string): Promise<void> {
  const deadline = clock.now() + patienceMs
  for (;;) {
    const [machine] = await db.select().from(machines).where(eq(machines.id, machineId))
    if (machine?.connectedTo || clock.now() > deadline) return
    await sleep(lookEveryMs)
  }
}
