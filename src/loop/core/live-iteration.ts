import { RalphError } from '../../contract/errors.ts'
import type { LiveIteration } from '../../contract/progress.ts'
import type { Fact } from './fact.ts'
import type { Sprint } from './sprint.ts'

/** Returns the live iteration that a fact is about. A fact about any other iteration is a bug of the sender. */
export function getLiveIteration(sprint: Sprint, iteration: number, fact: Fact): LiveIteration {
  const live = sprint.live.find(({ number }) => number === iteration)
  if (!live) throw createIllegalFact(sprint, fact, `iteration ${iteration} is not live`)
  return live
}

export function replaceLive(sprint: Sprint, changed: LiveIteration): Sprint {
  return { ...sprint, live: sprint.live.map((live) => (live.number === changed.number ? changed : live)) }
}

export const createIllegalFact = (sprint: Sprint, fact: Fact, why: string): RalphError =>
  new RalphError('FACT_ILLEGAL', `${fact.type} cannot happen to ${sprint.id} (${sprint.status}): ${why}`)

/** The iteration waits for another attempt, with a fresh context. */
export function nextAttempt(live: LiveIteration): LiveIteration {
  const { repair: _repair, interrupted: _interrupted, ...kept } = live
  return { ...kept, stage: 'waiting', attempt: live.attempt + 1 }
}
