import type { Mode, Step } from '../../../contract/progress.ts'
import { isStuck } from '../../core/limits.ts'
import type { Sprint } from '../../core/sprint.ts'
import { getGoal } from './goal-state.ts'
import { findFirstPending } from './steps.ts'

export type ModeChoice = { readonly mode: Mode; readonly step?: Step; readonly idleCount: number }

/**
 * With pending steps: executing. Without: planning, or reflecting once there were none for `idle-threshold` iterations. After
 * `limits.no-progress` iterations without progress: reflecting, whatever is pending.
 */
export function chooseMode(sprint: Sprint): ModeChoice {
  const { stats } = sprint
  const { ralph, dynamicSteps } = getGoal(sprint)
  if (isStuck(sprint)) return { mode: 'reflecting', idleCount: ralph.idleCount }
  const step = dynamicSteps[findFirstPending(dynamicSteps)]
  if (step) return { mode: 'executing', step, idleCount: 0 }
  const idleCount = ralph.idleCount + 1
  const reflects = idleCount >= ralph.idleThreshold && stats.currentIteration > 0
  return { mode: reflects ? 'reflecting' : 'planning', idleCount }
}
