import type { Mode, Progress, Step } from '../../../contract/progress.ts'
import { isStuck } from '../../core/limits.ts'
import { findFirstPending } from './steps.ts'

type ModeChoice = { readonly mode: Mode; readonly step?: Step; readonly idleCount: number }

/**
 * With pending steps: executing. Without: planning, or reflecting once there were none for `idle-threshold` iterations. After
 * `limits.no-progress` iterations without progress: reflecting, whatever is pending. The notes protocol has no steps: the agent
 * finds its own work.
 */
export function chooseMode(progress: Progress): ModeChoice {
  const { ralph, dynamicSteps, stats } = progress
  if (progress.protocol === 'notes') return { mode: 'executing', idleCount: 0 }
  if (isStuck(progress)) return { mode: 'reflecting', idleCount: ralph.idleCount }
  const step = dynamicSteps[findFirstPending(dynamicSteps)]
  if (step) return { mode: 'executing', step, idleCount: 0 }
  const idleCount = ralph.idleCount + 1
  const reflects = idleCount >= ralph.idleThreshold && stats.currentIteration > 0
  return { mode: reflects ? 'reflecting' : 'planning', idleCount }
}
