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
  /** The program to use, and what is wrong with it. */
  readonly program: string
  readonly problem?: string | undefined
}

/** The agent of a project folder: finds it, or creates one per machine and folder. Idempotent. */
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

/**
 * Retries a failed agent, because the missing program or folder may exist now. Chooses a program only if there was none
 * before.
 */
async function repaired(fleet: Fleet, agent: AgentRow, { program, machineId }: Project): Promise<AgentRow> {
  if (agent.reason?.startsWith(noProgram)) {
    const chosen = { program, account: `${program}@${machineId}` }
    await fleet.database.db.update(agents).set(chosen).where(eq(agents.id, agent.id))
  }
  return makeWorkspace(fleet, agent)
}

/** Archived agents do not count. */
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
