import type { WorkRef } from '../../contract/phases.ts'
import type { LiveIteration, Progress } from '../../contract/progress.ts'
import { workAt } from './work.ts'

/** Who may work on it: first choice, then fallbacks. The command line counts before the phase, the phase before the sprint. */
export function agentsFor(progress: Progress, ref: WorkRef | undefined): readonly string[] {
  const { runAgents = [], runChoice = {} } = progress
  const own = ref && runChoice.agent !== true ? workAt(progress, ref).agent : undefined
  return own?.filter((name) => !runChoice.missing?.includes(name)) ?? runAgents
}

/** The model that the first choice is asked for; fallbacks are other programs, and work with their own. */
export function modelFor(progress: Progress, { work: ref, agent }: LiveIteration): string | undefined {
  if (!ref) return undefined
  const [first] = agentsFor(progress, ref)
  if (agent !== undefined && agent !== first) return undefined
  return progress.runChoice?.model ?? workAt(progress, ref).model
}
