import type { SprintEvent } from '../contract/events.ts'
import type { CheckResult, LiveIteration, Progress } from '../contract/progress.ts'
import type { Proof } from '../contract/proof.ts'
import type { Check } from '../contract/settings.ts'
import { warnUnpriced, addCost } from './cost.ts'
import type { Fact } from './fact.ts'
import { runHooks } from './hooks.ts'
import { startIteration } from './iteration.ts'
import { createIllegalFact, getLiveIteration, replaceLive } from './live-iteration.ts'
import { andThen, emitEvent, type Order, type Transition } from './order.ts'
import { isStopped, restOnRequest } from './rest.ts'
import { decideClaim, labelExit } from './proof.ts'
import { findFirstPending } from './steps.ts'
import { startGateIfDue } from './standard/gate.ts'

export const getCheckName = (check: Check): string => check.name ?? check.run

/** Checks that are due now: all after a claim, otherwise those with `each-iteration`. */
export const listDueChecks = (progress: Progress, live: LiveIteration): string[] =>
  (progress.doneWhen ?? [])
    .filter((check) => check.eachIteration || live.goalCompleteSummary !== undefined)
    .map((check) => getCheckName(check))

/** Runs the checks that are due after the agent's turn; without any, continues with the review. */
export function startChecks(progress: Progress, live: LiveIteration, at: number): Transition {
  const names = listDueChecks(progress, live)
  if (names.length > 0) {
    const checking = replaceLive(progress, { ...live, stage: 'checks' })
    const order: Order = { type: 'run-checks', iteration: live.number, names }
    return { progress: checking, orders: isStopped(progress) ? [] : [order] }
  }
  return startReview(progress, live, at)
}

type ChecksEnded = Extract<Fact, { type: 'checks-ended' }>

export function onChecksEnded(progress: Progress, fact: ChecksEnded): Transition {
  if (fact.iteration === 0) return onBaseline(progress, fact)
  const before = getLiveIteration(progress, fact.iteration, fact)
  if (before.stage !== 'checks') throw createIllegalFact(progress, fact, 'no check is running')
  const missing = listDueChecks(progress, before).filter((name) => !fact.results.some((result) => result.name === name))
  if (missing.length > 0) throw createIllegalFact(progress, fact, `no result for ${missing.join(', ')}`)
  const red = fact.results.filter((result) => !result.passed)
  const { tampered = [] } = fact
  const live: LiveIteration = {
    ...before,
    checks: toCheckMarks(fact),
    ...(tampered.length > 0 && { tampered: [...tampered] }),
  }
  const known = replaceLive(red.length > 0 ? { ...progress, refusedBy: red } : progress, live)
  const notes = tampered.length > 0 ? [emitEvent(tamperedNote(tampered))] : []
  if (live.goalCompleteSummary !== undefined && fact.proof)
    return andThen(notes, judgeProof(known, live, { ...fact, proof: fact.proof }))
  if (live.goalCompleteSummary === undefined || red.length === 0)
    return andThen(notes, startReview(known, live, fact.at))
  const reason = red.map(({ name, reason: why, exitCode }) => `${name}: ${why ?? `exit code ${exitCode}`}`).join('; ')
  return andThen(notes, refuseClaim(known, live, fact.at, { by: red.map(({ name }) => name), reason }))
}

function judgeProof(
  progress: Progress,
  before: LiveIteration,
  { proof, at, results }: ChecksEnded & { readonly proof: Proof },
): Transition {
  const decision = decideClaim(progress, before, proof, at)
  const { live } = decision
  const known = replaceLive(decision.progress, live)
  switch (decision.kind) {
    case 'accept':
      return startReview(known, live, at)
    case 'run-again':
      return startChecks(known, live, at)
    case 'refuse':
    case 'ask': {
      const red = results.filter(({ passed }) => !passed).map(({ name }) => name)
      return refuseClaim(known, live, at, { by: red.length > 0 ? red : ['proof'], reason: decision.reason })
    }
  }
}

const toCheckMarks = ({ results }: ChecksEnded) => results.map(({ name, passed }) => ({ name, passed }))

const tamperedNote = (files: readonly string[]): SprintEvent => ({
  type: 'note',
  level: 'warning',
  text: `the agent changed files that define the checks: ${files.join(', ')}`,
})

/** Records the check results before any change, so that later prompts can say which checks were red from the start. */
function onBaseline(progress: Progress, fact: ChecksEnded): Transition {
  if (progress.baseline) throw createIllegalFact(progress, fact, 'there already is a baseline')
  if (progress.stats.currentIteration > 0) throw createIllegalFact(progress, fact, 'it is too late for a baseline')
  const { checkFiles, proofBaseline } = fact
  const known: Progress = {
    ...progress,
    baseline: toCheckMarks(fact),
    ...(checkFiles && { checkFiles }),
    ...(proofBaseline && { proofBaseline }),
  }
  if (progress.status !== 'in-progress') return { progress: known, orders: [] }
  if (progress.stopRequested) return restOnRequest(known, progress.stopRequested.as)
  if (progress.mode === 'standard') return { progress: known, orders: [] }
  return startIteration(known, fact.at)
}

/** After green checks, a second agent reviews the claim if one is configured. */
function startReview(progress: Progress, live: LiveIteration, at: number): Transition {
  if (live.goalCompleteSummary === undefined) return startGateIfDue(progress, live, at)
  if (!progress.review) return acceptClaim(progress, live, at)
  const reviewing = replaceLive(progress, { ...live, stage: 'review' })
  return { progress: reviewing, orders: isStopped(progress) ? [] : [{ type: 'run-review', iteration: live.number }] }
}

type ReviewEnded = Extract<Fact, { type: 'review-ended' }>

export function onReviewEnded(progress: Progress, fact: ReviewEnded): Transition {
  const before = getLiveIteration(progress, fact.iteration, fact)
  if (before.stage !== 'review') throw createIllegalFact(progress, fact, 'no review is running')
  const { passed, summary, spent } = fact
  const paid = spent ? addCost(progress, before, spent) : { progress, live: before }
  const live: LiveIteration = { ...paid.live, review: { passed, summary } }
  const next = fact.unable ? askAboutReview(paid.progress, live, fact) : judgeReview(paid.progress, live, fact)
  return andThen(warnUnpriced(progress, paid.progress), next)
}

/** The review itself failed, so asks a person instead of sending the agent back to work. */
function askAboutReview(progress: Progress, live: LiveIteration, { at, summary }: ReviewEnded): Transition {
  const reason = 'The claim could not be reviewed'
  const humanNeeded = { reason, details: `${summary}. The agent says: ${live.goalCompleteSummary ?? ''}`, askedAt: at }
  return refuseClaim({ ...progress, humanNeeded }, live, at, { by: ['review'], reason: summary })
}

function judgeReview(progress: Progress, live: LiveIteration, { passed, summary, at }: ReviewEnded): Transition {
  if (passed) return acceptClaim(progress, live, at)
  const result: CheckResult = {
    name: 'review',
    passed,
    exitCode: null,
    durationMs: 0,
    output: summary,
    reason: 'the reviewer is not convinced',
  }
  const known: Progress = { ...progress, refusedBy: [...(progress.refusedBy ?? []), result] }
  return refuseClaim(known, live, at, { by: ['review'], reason: summary })
}

/** Accepts the claim. If no check could have refused it, the exit records that. */
function acceptClaim(progress: Progress, live: LiveIteration, at: number): Transition {
  const by = [...(live.checks ?? []).map(({ name }) => name), ...(live.review ? ['review'] : [])]
  const summary = live.goalCompleteSummary ?? ''
  const openSteps = progress.dynamicSteps.slice(findFirstPending(progress.dynamicSteps)).map(({ id }) => id)
  const accepted: Progress = {
    ...progress,
    ralphExit: {
      detectedAt: at,
      iteration: live.number,
      finalSummary: summary,
      ...(by.length === 0 && { unchecked: true }),
      ...labelExit(live),
      ...(openSteps.length > 0 && { openSteps }),
    },
  }
  const acceptedEvent = emitEvent({ type: 'claim-accepted', iteration: live.number, by, summary })
  return andThen([acceptedEvent], runHooks(accepted, { ...live, verdict: 'accepted' }, at))
}

type ClaimRefusal = { readonly by: readonly string[]; readonly reason: string }

/** Refuses the claim; the next prompt includes the output of the red checks. */
function refuseClaim(progress: Progress, live: LiveIteration, at: number, { by, reason }: ClaimRefusal): Transition {
  const refusedEvent = emitEvent({ type: 'claim-refused', iteration: live.number, by: [...by], reason })
  const { goalCompleteSummary: _claim, ...open } = live
  return andThen([refusedEvent], runHooks(progress, { ...open, verdict: 'refused' }, at))
}
