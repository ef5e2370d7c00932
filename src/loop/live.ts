import { RalphError } from '../contract/errors.ts'
import type { LiveIteration, Progress } from '../contract/progress.ts'
import type { Fact } from './fact.ts'

/** The live iteration that a fact is about. A fact about any other one is a bug of whoever sent it. */
export function liveIteration(progress: Progress, iteration: number, fact: Fact): LiveIteration {
  const live = progress.live.find(({ number }) => number === iteration)
  if (!live) throw illegal(progress, fact, `iteration ${iteration} is not under way`)
  return live
}

export function withLive(progress: Progress, changed: LiveIteration): Progress {
  return { ...progress, live: progress.live.map((live) => (live.number === changed.number ? changed : live)) }
}

export const illegal = (progress: Progress, fact: Fact, why: string): RalphError =>
  new RalphError('FACT_ILLEGAL', `${fact.type} cannot happen to ${progress.sprintId} (${progress.status}): ${why}`)
