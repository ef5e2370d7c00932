import { and, eq } from 'drizzle-orm'
import { RalphError } from '../../contract/errors.ts'
import { agents, type AgentRow } from './agent.ts'
import { agentPrompts, type PromptRow } from './agent-prompt.ts'
import type { Tx } from './database.ts'
import { sprints, type SprintRow } from './sprint.ts'

/**
 * Locks the agent with its prompts, sprints and orders until the end of the transaction. A transaction locks only one
 * agent, so there are no deadlocks.
 */
export async function lockAgent(tx: Tx, agentId: string): Promise<AgentRow> {
  const [agent] = await tx.db.select().from(agents).where(eq(agents.id, agentId)).for('update')
  if (!agent) throw notFoundError('agent')
  return agent
}

export type LockedSprint = { readonly agent: AgentRow; readonly sprint: SprintRow }

/** Reads a sprint and locks its agent. */
export async function lockSprintAgent(tx: Tx, sprintId: string): Promise<LockedSprint> {
  const [found] = await tx.db.select({ agentId: sprints.agentId }).from(sprints).where(eq(sprints.id, sprintId))
  if (!found) throw notFoundError('sprint')
  const agent = await lockAgent(tx, found.agentId)
  return { agent, sprint: await readSprintRow(tx, sprintId) }
}

export async function readSprintRow(tx: Tx, sprintId: string): Promise<SprintRow> {
  const [sprint] = await tx.db.select().from(sprints).where(eq(sprints.id, sprintId))
  if (!sprint) throw notFoundError('sprint')
  return sprint
}

export async function findRunningPrompt(tx: Tx, agentId: string): Promise<PromptRow | undefined> {
  const running = and(eq(agentPrompts.agentId, agentId), eq(agentPrompts.status, 'running'))
  const [prompt] = await tx.db.select().from(agentPrompts).where(running)
  return prompt
}

export const notFoundError = (what: string): RalphError => new RalphError('NOT_FOUND', `there is no such ${what}`)
