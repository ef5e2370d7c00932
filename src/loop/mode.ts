import type { Mode, Progress, Step } from '../contract/progress.ts'
import { isStuck } from './limits.ts'
import { firstPending } from './steps.ts'

type Choice = { readonly mode: Mode; readonly step?: Step; readonly idleCount: number }

/**
 * Pending steps: executing. None: planning, and reflecting once there have been none for `idle-threshold` iterations. An agent
 * that has not got anywhere for `limits.no-progress` iterations reflects too, whatever is pending. With notes there are no
 * steps: the agent finds out by itself what to do.
 */
export function chooseMode(progress: Progress): Choice {
  const { ralph, dynamicSteps, stats } = progress
  if (progress.protocol === 'notes') return { mode: 'executing', idleCount: 0 }
  if (isStuck(progress)) return { mode: 'reflecting', idleCount: ralph.idleCount }
  const step = dynamicSteps[firstPending(dynamicSteps)]
  if (step) return { mode: 'executing', step, idleCount: 0 }
  const idleCount = ralph.idleCount + 1
  const reflects = idleCount >= ralph.idleThreshold && stats.currentIteration > 0
  return { mode: reflects ? 'reflecting' : 'planning', idleCount }
}
