import type { CheckResult, LiveIteration, Progress } from '../contract/progress.ts'
import type { Check } from '../contract/settings.ts'
import type { Fact } from './fact.ts'
import { runHooks } from './hooks.ts'
import { illegal, liveIteration, withLive } from './live.ts'
import { andThen, tell, type Transition } from './order.ts'

export const checkName = (check: Check): string => check.name ?? check.run

/** The checks due now: all of them after a claim, else those that want to run after every iteration. */
export const checksFor = (progress: Progress, live: LiveIteration): string[] =>
  (progress.doneWhen ?? [])
    .filter((check) => check.eachIteration || live.goalCompleteSummary !== undefined)
    .map((check) => checkName(check))

export function onChecksEnded(progress: Progress, fact: Extract<Fact, { type: 'checks-ended' }>): Transition {
  const before = liveIteration(progress, fact.iteration, fact)
  if (before.stage !== 'checks') throw illegal(progress, fact, 'no check is running')
  const missing = checksFor(progress, before).filter((name) => !fact.results.some((result) => result.name === name))
  if (missing.length > 0) throw illegal(progress, fact, `there is no result of ${missing.join(', ')}`)
  const red = fact.results.filter((result) => !result.passed)
  const checks = fact.results.map(({ name, passed }) => ({ name, passed }))
  const live: LiveIteration = { ...before, checks }
  const known = withLive(red.length > 0 ? { ...progress, refusedBy: red } : progress, live)
  if (live.goalCompleteSummary === undefined) return runHooks(known, live, fact.at)
  if (red.length === 0)
    return accept(
      known,
      live,
      fact.at,
      checks.map(({ name }) => name),
    )
  return refuse(known, live, fact.at, red)
}

/** The goal counts as reached. Without any check that could have refused it, the exit says so. */
export function accept(progress: Progress, live: LiveIteration, at: number, by: readonly string[]): Transition {
  const summary = live.goalCompleteSummary ?? ''
  const openSteps = progress.dynamicSteps.filter((step) => step.status === 'pending').map((step) => step.id)
  const accepted: Progress = {
    ...progress,
    ralphExit: {
      detectedAt: at,
      iteration: live.number,
      finalSummary: summary,
      ...(by.length === 0 && { unchecked: true }),
      ...(openSteps.length > 0 && { openSteps }),
    },
  }
  const told = tell({ type: 'claim-accepted', iteration: live.number, by: [...by], summary })
  return andThen([told], runHooks(accepted, { ...live, verdict: 'accepted' }, at))
}

/** A red check refuses the claim; what it printed is in the next prompt. */
function refuse(progress: Progress, live: LiveIteration, at: number, red: readonly CheckResult[]): Transition {
  const by = red.map(({ name }) => name)
  const reason = red.map(({ name, reason: why, exitCode }) => `${name}: ${why ?? `exit code ${exitCode}`}`).join('; ')
  const told = tell({ type: 'claim-refused', iteration: live.number, by, reason })
  const { goalCompleteSummary: _claim, ...open } = live
  return andThen([told], runHooks(progress, { ...open, verdict: 'refused' }, at))
}
