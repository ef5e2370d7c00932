import { and, eq } from 'drizzle-orm'
import { RalphError } from '../../contract/errors.ts'
import { agents, type AgentRow } from '../database/agent.ts'
import { agentPrompts, type PromptRow } from '../database/agent-prompt.ts'
import type { Tx } from '../database/database.ts'
import { sprints, type SprintRow } from '../database/sprint.ts'
import type { Fleet } from './fleet.ts'

/** One transaction of the fleet: everything that its functions need. */
export type Transaction = { readonly fleet: Fleet; readonly tx: Tx }

/**
 * A transaction that has locked an agent with its prompts, sprints and orders. A transaction locks only one agent, so
 * there are no deadlocks.
 */
export type AgentTransaction = Transaction & {
  /** The row as this transaction has left it. */
  agent: AgentRow
}

export const transaction = <T>(fleet: Fleet, run: (t: Transaction) => Promise<T>): Promise<T> =>
  fleet.database.transaction((tx) => run({ fleet, tx }))

export const agentTransaction = <T>(
  fleet: Fleet,
  agentId: string,
  run: (t: AgentTransaction) => Promise<T>,
): Promise<T> => transaction(fleet, async (t) => run(await lockAgent(t, agentId)))

/** Locks the agent of the sprint. */
export const sprintTransaction = <T>(
  fleet: Fleet,
  sprintId: string,
  run: (t: AgentTransaction, sprint: SprintRow) => Promise<T>,
): Promise<T> =>
  transaction(fleet, async (t) => {
    const [found] = await t.tx.db.select({ agentId: sprints.agentId }).from(sprints).where(eq(sprints.id, sprintId))
    if (!found) throw notFoundError('sprint')
    const locked = await lockAgent(t, found.agentId)
    return run(locked, await readSprintRow(t, sprintId))
  })

export async function lockAgent({ fleet, tx }: Transaction, agentId: string): Promise<AgentTransaction> {
  const [agent] = await tx.db.select().from(agents).where(eq(agents.id, agentId)).for('update')
  if (!agent) throw notFoundError('agent')
  return { fleet, tx, agent }
}

/** Changes the locked agent. */
export async function updateAgent(t: AgentTransaction, fields: Partial<AgentRow>): Promise<void> {
  await t.tx.db.update(agents).set(fields).where(eq(agents.id, t.agent.id))
  t.agent = { ...t.agent, ...fields }
}

/** Reads the agent outside of a transaction. */
export async function readAgentRow({ database }: Fleet, agentId: string): Promise<AgentRow> {
  const [agent] = await database.db.select().from(agents).where(eq(agents.id, agentId))
  if (!agent) throw notFoundError('agent')
  return agent
}

export async function readSprintRow({ tx }: Transaction, sprintId: string): Promise<SprintRow> {
  const [sprint] = await tx.db.select().from(sprints).where(eq(sprints.id, sprintId))
  if (!sprint) throw notFoundError('sprint')
  return sprint
}

export async function findRunningPrompt({ tx, agent }: AgentTransaction): Promise<PromptRow | undefined> {
  const running = and(eq(agentPrompts.agentId, agent.id), eq(agentPrompts.status, 'running'))
  const [prompt] = await tx.db.select().from(agentPrompts).where(running)
  return prompt
}

export const notFoundError = (what: string): RalphError => new RalphError('NOT_FOUND', `there is no such ${what}`)
