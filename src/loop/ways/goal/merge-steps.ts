import { stepId } from '../../../contract/ids.ts'
import { setStats, type Sprint } from '../../core/sprint.ts'
import type { RecompileResult } from '../../core/way.ts'
import { mergeLoopSettings } from '../../core/loop-settings.ts'
import { getGoal, setGoal } from './goal-state.ts'
import { nextStepNumber } from './step-ids.ts'

/** New steps in SPRINT.yaml become pending steps. */
export function mergeSteps(before: Sprint, compiled: Sprint, at: number): RecompileResult {
  const { sprint, changes } = mergeLoopSettings(before, compiled)
  const { dynamicSteps } = getGoal(sprint)
  const known = new Set(dynamicSteps.map((step) => step.prompt))
  const { stats } = sprint
  const next = nextStepNumber(dynamicSteps, stats.totalSteps)
  const steps = compiled.way.dynamicSteps
    .filter((step) => !known.has(step.prompt))
    .map(({ prompt }, index) => ({
      id: stepId(next + index),
      prompt,
      status: 'pending' as const,
      addedAt: at,
      addedInIteration: stats.currentIteration,
    }))
  if (steps.length === 0) return { sprint, changes }
  const counted = setStats(sprint, { totalSteps: stats.totalSteps + steps.length })
  return {
    sprint: setGoal(counted, { dynamicSteps: [...dynamicSteps, ...steps] }),
    changes: [...changes, ...steps.map(({ id }) => `${id} added`)],
  }
}
