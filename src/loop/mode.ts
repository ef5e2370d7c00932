import type { Mode, Progress, Step } from '../contract/progress.ts'

type Choice = { readonly mode: Mode; readonly step?: Step; readonly idleCount: number }

/** Pending steps: executing. None: planning, and reflecting once there have been none for `idle-threshold` iterations. */
export function chooseMode({ ralph, dynamicSteps, stats }: Progress): Choice {
  const step = dynamicSteps.find(({ status }) => status === 'pending')
  if (step) return { mode: 'executing', step, idleCount: 0 }
  const idleCount = ralph.idleCount + 1
  const reflects = idleCount >= ralph.idleThreshold && stats.currentIteration > 0
  return { mode: reflects ? 'reflecting' : 'planning', idleCount }
}
