import type { WorkRef } from '../../contract/phases.ts'
import type { LiveIteration, Progress } from '../../contract/progress.ts'
import { workAt } from './work.ts'

/** Agents that may work on it: first choice, then fallbacks. The command line overrides the phase, the phase the sprint. */
export function agentsFor(progress: Progress, ref: WorkRef | undefined): readonly string[] {
  const { runAgents = [], runChoice = {} } = progress
  const own = ref && runChoice.agent !== true ? workAt(progress, ref).agent : undefined
  return own?.filter((name) => !runChoice.missing?.includes(name)) ?? runAgents
}

/** A model belongs to the agent program it is configured for; any other, such as a fallback, uses its own default. */
export function modelFor(progress: Progress, { work: ref, agent }: LiveIteration): string | undefined {
  if (!ref) return undefined
  const { runAgents = [], runChoice = {} } = progress
  const { agent: [intended] = runAgents, model } = workAt(progress, ref)
  if (runChoice.model !== undefined && agent === agentsFor(progress, ref)[0]) return runChoice.model
  return agent === intended ? model : undefined
}
