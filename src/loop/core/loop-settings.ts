import { isSameData } from './same-data.ts'
import type { Sprint } from './sprint.ts'
import type { RecompileResult } from './way.ts'

/** Takes the `ralph` settings of a changed SPRINT.yaml and keeps their counters. */
export function mergeLoopSettings(sprint: Sprint, compiled: Sprint): RecompileResult {
  const { way } = sprint
  const { idleCount, goalCompleteAttemptedAt } = way.ralph
  const ralph = {
    ...compiled.way.ralph,
    idleCount,
    ...(goalCompleteAttemptedAt !== undefined && { goalCompleteAttemptedAt }),
  }
  if (isSameData(way.ralph, ralph)) return { sprint, changes: [] }
  return {
    sprint: { ...sprint, way: { ...way, ralph } },
    changes: ['ralph (idle-threshold, min-iterations or prompts)'],
  }
}
