import { RalphError } from '../../contract/errors.ts'
import type { LiveIteration, Progress } from '../../contract/progress.ts'
import type { Fact } from './fact.ts'

/** Returns the live iteration that a fact is about. A fact about any other iteration is a bug of the sender. */
export function getLiveIteration(progress: Progress, iteration: number, fact: Fact): LiveIteration {
  const live = progress.live.find(({ number }) => number === iteration)
  if (!live) throw createIllegalFact(progress, fact, `iteration ${iteration} is not live`)
  return live
}

export function replaceLive(progress: Progress, changed: LiveIteration): Progress {
  return { ...progress, live: progress.live.map((live) => (live.number === changed.number ? changed : live)) }
}

export const createIllegalFact = (progress: Progress, fact: Fact, why: string): RalphError =>
  new RalphError('FACT_ILLEGAL', `${fact.type} cannot happen to ${progress.sprintId} (${progress.status}): ${why}`)
