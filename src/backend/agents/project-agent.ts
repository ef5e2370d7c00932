import { and, asc, eq, isNull, sql } from 'drizzle-orm'
import { setTimeout as sleep } from 'node:timers/promises'
import { agents, type AgentRow } from '../database/agent.ts'
import { machines } from '../database/machine.ts'
import { createAgent, createWorkspace, setAgentState } from './agents.ts'
import type { Requester, Fleet } from '../fleet/fleet.ts'

export type ProjectFolder = {
  readonly machineId: string
  readonly folder: string
  readonly name: string
  /** The program to use, and what is wrong with it. */
  readonly program: string
  readonly problem?: string | undefined
}

/** The agent of a project folder: finds it, or creates one per machine and folder. Idempotent. */
export async function ensureProjectAgent(fleet: Fleet, project: ProjectFolder, by: Requester): Promise<AgentRow> {
  const { machineId, folder: path, name, program, problem } = project
  await waitUntilConnected(fleet, machineId)
  const known = await findProjectAgent(fleet, project)
  if (known) return known.state === 'failed' && problem === undefined ? retryFailedAgent(fleet, known, project) : known
  const made = await createAgent(fleet, { name, machineId, program, workspace: { kind: 'folder', path } }, by)
  return problem === undefined
    ? made
    : setAgentState(fleet, made.id, { state: 'failed', reason: `${missingProgram}: ${problem}` })
}

const missingProgram = 'no agent program'

/**
 * Retries a failed agent, because the missing program or folder may exist now. Chooses a program only if there was none
 * before.
 */
async function retryFailedAgent(
  fleet: Fleet,
  agent: AgentRow,
  { program, machineId }: ProjectFolder,
): Promise<AgentRow> {
  if (agent.reason?.startsWith(missingProgram)) {
    const chosen = { program, account: `${program}@${machineId}` }
    await fleet.database.db.update(agents).set(chosen).where(eq(agents.id, agent.id))
  }
  return createWorkspace(fleet, agent)
}

/** The agent of a project folder, if there is one. Archived agents do not count. */
export async function findProjectAgent(
  { database: { db } }: Fleet,
  { machineId, folder }: Pick<ProjectFolder, 'machineId' | 'folder'>,
): Promise<AgentRow | undefined> {
  const workspace = sql`${agents.workspace} @> ${JSON.stringify({ kind: 'folder', path: folder })}::jsonb`
  const isIts = and(eq(agents.machineId, machineId), isNull(agents.archivedAt), workspace)
  const [agent] = await db.select().from(agents).where(isIts).orderBy(asc(agents.createdAt)).limit(1)
  return agent
}

const connectTimeoutMs = 60_000
const connectPollMs = 100

async function waitUntilConnected({ database: { db }, clock }: Fleet, machineId: string): Promise<void> {
  const deadline = clock.now() + connectTimeoutMs
  for (;;) {
    const [machine] = await db.select().from(machines).where(eq(machines.id, machineId))
    if (machine?.connectedTo || clock.now() > deadline) return
    await sleep(connectPollMs)
  }
}
