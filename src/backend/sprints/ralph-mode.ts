import { isNotesProtocol } from '../../contract/way.ts'
import { RalphError } from '../../contract/errors.ts'
import type { StartRalphMode, StopWhen } from '../../contract/fleet/sprint.ts'
import type { AgentRow } from '../database/agent.ts'
import { createNotesProgress } from './new-progress.ts'
import type { Requester, Fleet } from '../fleet/fleet.ts'
import { dispatchNext } from './dispatch.ts'
import { createFleetSprint, detectProjectChecks, applyStop } from './sprints.ts'
import { agentTransaction, readAgentRow, readSprintRow } from '../fleet/transaction.ts'

export type RalphModeStart = { readonly agent: AgentRow; readonly sprintId: string }

/**
 * In the order of the seed: the agent exists; its machine is set up (notes folder, lock, task in the README); a busy
 * agent is interrupted; then the fields and the first prompt in one transaction. The caller has checked write access.
 */
export async function startRalphMode(
  fleet: Fleet,
  agentId: string,
  options: StartRalphMode,
  by: Requester,
): Promise<RalphModeStart> {
  const agent = await readAgentRow(fleet, agentId)
  const { taskDescription, minIntervalMs = 0 } = options
  const { directory } = await fleet.machines.ask(agent.machineId, 'ralph-mode-setup', { agentId, taskDescription })
  const sprintId = fleet.newId()
  const progress = createNotesProgress(sprintId, options)
  const detectedChecks = await detectProjectChecks(fleet, agent, progress)
  const fields = {
    notesFolder: directory,
    inRalphMode: true,
    ralphModeTaskDescription: taskDescription,
    ralphModeLastPromptAt: null,
    ralphModeMinIntervalMs: minIntervalMs,
  }
  await createFleetSprint(fleet, agentId, { id: sprintId, progress, detectedChecks, by, fields, ...options })
  return { agent: await readAgentRow(fleet, agentId), sprintId }
}

/** Stops the turn as chosen, cancels queued prompts of the loop, and removes the lock once the turn is over. */
export async function stopRalphMode(fleet: Fleet, agentId: string, when: StopWhen, by: Requester): Promise<AgentRow> {
  await agentTransaction(fleet, agentId, async (t) => {
    const sprint = t.agent.sprintId === null ? undefined : await readSprintRow(t, t.agent.sprintId)
    const isOn = t.agent.inRalphMode || (sprint && isNotesProtocol(sprint.protocol) && sprint.resumeAskedAt !== null)
    if (!sprint || !isOn) throw new RalphError('NOT_RUNNING', 'the agent is not in Ralph Mode')
    await applyStop(t, sprint, { as: 'interrupted', when, by })
    await dispatchNext(t)
  })
  return readAgentRow(fleet, agentId)
}
