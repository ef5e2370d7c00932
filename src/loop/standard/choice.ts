import type { WorkRef } from '../../contract/phases.ts'
import type { LiveIteration, Progress } from '../../contract/progress.ts'
import { workAt } from './work.ts'

/** Who may work on it: first choice, then fallbacks. The command line counts before the phase, the phase before the sprint. */
export function agentsFor(progress: Progress, ref: WorkRef | undefined): readonly string[] {
  const { runAgents = [], runChoice = {} } = progress
  const own = ref && runChoice.agent !== true ? workAt(progress, ref).agent : undefined
  return own?.filter((name) => !runChoice.missing?.includes(name)) ?? runAgents
}

/** A model belongs to the program that it is written for; any other one, such as a fallback, works with its own. */
export function modelFor(progress: Progress, { work: ref, agent }: LiveIteration): string | undefined {
  if (!ref) return undefined
  const { runAgents = [], runChoice = {} } = progress
  const { agent: [intended] = runAgents, model } = workAt(progress, ref)
  if (runChoice.model !== undefined && agent === agentsFor(progress, ref)[0]) return runChoice.model
  return agent === intended ? model : undefined
}
