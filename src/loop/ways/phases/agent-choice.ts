import type { WorkRef } from '../../../contract/phases.ts'
import type { LiveIteration, Progress } from '../../../contract/progress.ts'
import { getWork } from './work.ts'

/** Agents that may work on it: first choice, then fallbacks. The command line overrides the phase, the phase the sprint. */
export function listPhaseAgents(progress: Progress, ref: WorkRef | undefined): readonly string[] {
  const { runAgents = [], runChoice = {} } = progress
  const own = ref && runChoice.agent !== true ? getWork(progress, ref).agent : undefined
  return own?.filter((name) => !runChoice.missing?.includes(name)) ?? runAgents
}

/** A model belongs to the agent program it is configured for; any other, such as a fallback, uses its own default. */
export function choosePhaseModel(progress: Progress, { work: ref, agent }: LiveIteration): string | undefined {
  if (!ref) return undefined
  const { runAgents = [], runChoice = {} } = progress
  const { agent: [intended] = runAgents, model } = getWork(progress, ref)
  if (runChoice.model !== undefined && agent === listPhaseAgents(progress, ref)[0]) return runChoice.model
  return agent === intended ? model : undefined
}
