import { isNotesProtocol } from '../../../contract/way.ts'
import { api } from '../../data/api.ts'
import { useAction } from '../../data/use-action.ts'
import { draftChecks, type Draft, draftLimits, draftWorkspace, newAgent } from './draft.ts'

type StartInput = {
  readonly draft: Draft
  readonly detected: readonly { readonly run: string; readonly name: string }[] | undefined
  readonly busy: boolean
}

/** Creates the agent if necessary, then starts. */
export const useStart = (onStarted: (sprintId: string) => void) => useAction(submitStart, { onDone: onStarted })

async function submitStart(
  { draft, detected, busy }: StartInput,
  options?: { readonly idempotencyKey?: string | undefined },
): Promise<string> {
  const agentId = draft.agentId === newAgent ? await createAgentForDraft(draft) : draft.agentId
  const common = {
    agentId,
    doneWhen: draftChecks(draft, detected),
    limits: draftLimits(draft),
    ...(draft.program !== '' && { program: draft.program }),
    ...(draft.model.trim() !== '' && { model: draft.model.trim() }),
    ifBusy: busy ? draft.ifBusy : ('refuse' as const),
  }
  if (!isNotesProtocol(draft.protocol)) return (await api.startSprint({ ...common, goal: draft.task }, options)).id
  return (await api.startRalphMode({ ...common, taskDescription: draft.task }, options)).sprintId
}

async function createAgentForDraft(draft: Draft): Promise<string> {
  const { name, machineId, program, model } = draft
  const agent = await api.createAgent({
    name: name.trim(),
    ...(machineId !== '' && { machineId }),
    workspace: draftWorkspace(draft),
    ...(program !== '' && { program }),
    ...(model.trim() !== '' && { model: model.trim() }),
  })
  return agent.id
}
