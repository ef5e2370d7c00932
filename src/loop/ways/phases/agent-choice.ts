import type { WorkRef } from '../../../contract/phases.ts'
import type { LiveIteration } from '../../../contract/progress.ts'
import type { Sprint } from '../../core/sprint.ts'
import { getWork } from './work.ts'

/** Agents that may work on it: first choice, then fallbacks. The command line overrides the phase, the phase the sprint. */
export function listPhaseAgents(sprint: Sprint, ref: WorkRef | undefined): readonly string[] {
  const { agents: runAgents = [], choice: runChoice = {} } = sprint.run ?? {}
  const own = ref && runChoice.agent !== true ? getWork(sprint, ref).agent : undefined
  return own?.filter((name) => !runChoice.missing?.includes(name)) ?? runAgents
}

/** A model belongs to the agent program it is configured for; any other, such as a fallback, uses its own default. */
export function choosePhaseModel(sprint: Sprint, { work: ref, agent }: LiveIteration): string | undefined {
  if (!ref) return undefined
  const { agents: runAgents = [], choice: runChoice = {} } = sprint.run ?? {}
  const { agent: [intended] = runAgents, model } = getWork(sprint, ref)
  if (runChoice.model !== undefined && agent === listPhaseAgents(sprint, ref)[0]) return runChoice.model
  return agent === intended ? model : undefined
}
