import type { WorkRef } from '../contract/phases.ts'
import type { LiveIteration, Mode, Progress } from '../contract/progress.ts'
import type { Gate, IterationPreview } from './core/way.ts'
import { fromProgress } from './progress-codec.ts'
import { getWay } from './ways/registry.ts'

/** The iteration that runs, or that would start next; undefined if there is none. `mode` asks for another mode. */
export function previewIteration(progress: Progress, mode?: Mode): IterationPreview | undefined {
  const sprint = fromProgress(progress)
  return getWay(sprint).preview(sprint, mode)
}

/** The model for an iteration; undefined: the one of the sprint. */
export function chooseModel(progress: Progress, live: LiveIteration): string | undefined {
  const sprint = fromProgress(progress)
  return getWay(sprint).model(sprint, live)
}

/** The gate of a piece of work; undefined if it has none. */
export function findGate(progress: Progress, work: WorkRef): Gate | undefined {
  const sprint = fromProgress(progress)
  return getWay(sprint).gate?.find(sprint, work)
}

/** Whether the way of the sprint reads the end of a turn from the lock of the notes folder. */
export const usesLock = (progress: Progress): boolean => getWay(fromProgress(progress)).usesLock

/** Whether iterations that change nothing count against limits.no-progress, so that changes must be known. */
export const countsIdleIterations = (progress: Progress): boolean =>
  progress.limits.noProgress !== 'off' && getWay(fromProgress(progress)).countsIdleIterations
