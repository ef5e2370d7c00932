import { eq } from 'drizzle-orm'
import { RalphError } from '../../contract/errors.ts'
import type { StartRalphMode, StopWhen } from '../../contract/fleet/sprint.ts'
import { agents, type AgentRow } from '../database/agent.ts'
import { notesProgress } from './new-progress.ts'
import type { Asker, Fleet } from './ports.ts'
import { pump } from './pump.ts'
import { lockAgent, notFound, sprintIn } from './rows.ts'
import { beginSprint, detectChecks, stop } from './sprints.ts'

export type Started = { readonly agent: AgentRow; readonly sprintId: string }

/**
 * In the order of the seed: the agent exists; its machine is set up (notes folder, lock, task in the README); a busy
 * agent is interrupted; then the fields and the first prompt in one transaction. The caller has checked write access.
 */
export async function startRalphMode(
  fleet: Fleet,
  agentId: string,
  wanted: StartRalphMode,
  by: Asker,
): Promise<Started> {
  const [agent] = await fleet.database.db.select().from(agents).where(eq(agents.id, agentId))
  if (!agent) throw notFound('agent')
  const { taskDescription, minIntervalMs = 0 } = wanted
  const { directory } = await fleet.machines.ask(agent.machineId, 'ralph-mode-setup', { agentId, taskDescription })
  const sprintId = fleet.newId()
  const progress = notesProgress(sprintId, wanted)
  const detectedChecks = await detectChecks(fleet, agentId, progress)
  const fields = {
    notesFolder: directory,
    inRalphMode: true,
    ralphModeTaskDescription: taskDescription,
    ralphModeLastPromptAt: null,
    ralphModeMinIntervalMs: minIntervalMs,
  }
  await beginSprint(fleet, agentId, { id: sprintId, progress, detectedChecks, by, fields, ...wanted })
  return { agent: await agentNow(fleet, agentId), sprintId }
}

/** Stops the turn as chosen, cancels queued prompts of the loop, and removes the lock once the turn is over. */
export async function stopRalphMode(fleet: Fleet, agentId: string, when: StopWhen): Promise<AgentRow> {
  await fleet.database.transaction(async (tx) => {
    const agent = await lockAgent(tx, agentId)
    const sprint = agent.sprintId === null ? undefined : await sprintIn(tx, agent.sprintId)
    const isOn = agent.inRalphMode || (sprint?.protocol === 'notes' && sprint.resumeAskedAt !== null)
    if (!sprint || !isOn) throw new RalphError('NOT_RUNNING', 'the agent is not in Ralph Mode')
    const held = await stop(fleet, tx, { agent, sprint }, { as: 'interrupted', when })
    await pump(fleet, tx, held.agent)
  })
  return agentNow(fleet, agentId)
}

async function agentNow(fleet: Fleet, agentId: string): Promise<AgentRow> {
  const [agent] = await fleet.database.db.select().from(agents).where(eq(agents.id, agentId))
  if (!agent) throw notFound('agent')
  return agent
}
