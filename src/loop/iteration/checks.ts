import type { SprintEvent } from '../../contract/events.ts'
import type { CheckResult, LiveIteration } from '../../contract/progress.ts'
import type { Proof } from '../../contract/proof.ts'
import { warnUnpriced, addCost } from '../core/cost.ts'
import type { Fact } from '../core/fact.ts'
import { runHooks } from './hooks.ts'
import { createIllegalFact, getLiveIteration, replaceLive } from '../core/live-iteration.ts'
import { andThen, createNote, emitEvent, type Decision, type Order } from '../core/order.ts'
import { listDueChecks, requestChecks, requestReview } from '../core/request-checks.ts'
import { restOnRequest } from '../core/rest.ts'
import { setHistory, setInbox, type Sprint } from '../core/sprint.ts'
import { getWay } from '../ways/registry.ts'
import { startGate } from './gate.ts'
import { decideClaim, isProofOptional, labelExit } from './proof.ts'

/** Runs the checks that are due after the agent's turn; without any, continues with the review. */
export const startChecks = (sprint: Sprint, live: LiveIteration, at: number): Decision =>
  requestChecks(sprint, live) ?? startReview(sprint, live, at)

type ChecksEnded = Extract<Fact, { type: 'checks-ended' }>

export function onChecksEnded(sprint: Sprint, fact: ChecksEnded): Decision {
  if (fact.iteration === 0) return onBaseline(sprint, fact)
  const before = getLiveIteration(sprint, fact.iteration, fact)
  if (before.stage !== 'checks') throw createIllegalFact(sprint, fact, 'no check is running')
  const missing = listDueChecks(sprint, before).filter((name) => !fact.results.some((result) => result.name === name))
  if (missing.length > 0) throw createIllegalFact(sprint, fact, `no result for ${missing.join(', ')}`)
  const red = fact.results.filter((result) => !result.passed)
  const { tampered = [] } = fact
  const live: LiveIteration = {
    ...before,
    checks: toCheckMarks(fact),
    ...(tampered.length > 0 && { tampered: [...tampered] }),
  }
  const known = replaceLive(red.length > 0 ? setInbox(sprint, { refusedBy: red }) : sprint, live)
  const notes = tampered.length > 0 ? [emitEvent(tamperedNote(tampered))] : []
  if (live.goalCompleteSummary !== undefined && fact.proof)
    return andThen(notes, judgeProof(known, live, { ...fact, proof: fact.proof }))
  if (live.goalCompleteSummary === undefined || red.length === 0)
    return andThen(notes, startReview(known, live, fact.at))
  const reason = red.map(({ name, reason: why, exitCode }) => `${name}: ${why ?? `exit code ${exitCode}`}`).join('; ')
  return andThen(notes, refuseClaim(known, live, fact.at, { by: red.map(({ name }) => name), reason }))
}

function judgeProof(
  sprint: Sprint,
  before: LiveIteration,
  { proof, at, results }: ChecksEnded & { readonly proof: Proof },
): Decision {
  const decision = decideClaim(sprint, before, proof, at)
  const { live } = decision
  const known = replaceLive(decision.sprint, live)
  switch (decision.kind) {
    case 'accept':
      return acceptProof(known, live, { proof, at })
    case 'run-again':
      return andThen([describeFlakes(live)], startChecks(known, live, at))
    case 'refuse':
    case 'ask': {
      const red = results.filter(({ passed }) => !passed).map(({ name }) => name)
      return refuseClaim(known, live, at, { by: red.length > 0 ? red : ['proof'], reason: decision.reason })
    }
  }
}

function describeFlakes({ proof }: LiveIteration): Order {
  const names = (proof?.tests?.flaky ?? []).slice(0, 5).join(', ')
  return createNote(
    'warning',
    `flaky: red, and green when run again: ${names}. The checks run once more; no iteration is spent`,
  )
}

/** What no test noticed goes to the reviewer and to the person; no prompt of the agent has it. */
function acceptProof(
  sprint: Sprint,
  live: LiveIteration,
  { proof: { survivors = [] }, at }: Pick<ChecksEnded, 'at'> & { readonly proof: Proof },
): Decision {
  if (survivors.length === 0) return startReview(sprint, live, at)
  const note = createNote('warning', `no test noticed these small changes of the work: ${survivors.join('; ')}`)
  const kept = sprint.plan.review ? { ...live, survivors: [...survivors] } : live
  return andThen([note], startReview(replaceLive(sprint, kept), kept, at))
}

const toCheckMarks = ({ results }: ChecksEnded) => results.map(({ name, passed }) => ({ name, passed }))

const tamperedNote = (files: readonly string[]): SprintEvent => ({
  type: 'note',
  level: 'warning',
  text: `the agent changed files that define the checks: ${files.join(', ')}`,
})

/** Records the check results before any change, so that later prompts can say which checks were red from the start. */
function onBaseline(sprint: Sprint, fact: ChecksEnded): Decision {
  if (sprint.history.baseline) throw createIllegalFact(sprint, fact, 'there already is a baseline')
  if (sprint.live.length + sprint.history.iterations.length > 0)
    throw createIllegalFact(sprint, fact, 'it is too late for a baseline')
  const { checkFiles, proofBaseline } = fact
  const known = setHistory(sprint, {
    baseline: toCheckMarks(fact),
    ...(checkFiles && { checkFiles }),
    ...(proofBaseline && { proofBaseline }),
  })
  if (sprint.status !== 'in-progress') return { sprint: known, orders: [] }
  const { stopRequested } = sprint.run ?? {}
  const next: Decision = stopRequested ? restOnRequest(known, stopRequested.as) : { sprint: known, orders: [] }
  return andThen(describeGreenStart(known, fact), next)
}

/** Says before the first agent is paid what done will need. */
function describeGreenStart(sprint: Sprint, { results, proofBaseline }: ChecksEnded): Order[] {
  if (!proofBaseline || results.some(({ passed }) => !passed)) return []
  if (isProofOptional(sprint, { named: proofBaseline.named, changed: true })) return []
  const text =
    'all checks pass already: done will need a test that fails without the change. Without one, run with --proof optional; the end is then marked unproven'
  return [createNote('info', text)]
}

/** After green checks, a second agent reviews the claim if one is configured. */
function startReview(sprint: Sprint, live: LiveIteration, at: number): Decision {
  if (live.goalCompleteSummary === undefined) return startGate(sprint, live, at)
  return requestReview(sprint, live) ?? acceptClaim(sprint, live, at)
}

type ReviewEnded = Extract<Fact, { type: 'review-ended' }>

export function onReviewEnded(sprint: Sprint, fact: ReviewEnded): Decision {
  const { survivors: _forReviewer, ...before } = getLiveIteration(sprint, fact.iteration, fact)
  if (before.stage !== 'review') throw createIllegalFact(sprint, fact, 'no review is running')
  const { passed, summary, spent } = fact
  const paid = spent ? addCost(sprint, before, spent) : { sprint, live: before }
  const live: LiveIteration = { ...paid.live, review: { passed, summary } }
  const next = fact.unable ? askAboutReview(paid.sprint, live, fact) : judgeReview(paid.sprint, live, fact)
  return andThen(warnUnpriced(sprint, paid.sprint), next)
}

/** The review itself failed, so asks a person instead of sending the agent back to work. */
function askAboutReview(sprint: Sprint, live: LiveIteration, { at, summary }: ReviewEnded): Decision {
  const reason = 'The claim could not be reviewed'
  const question = { reason, details: `${summary}. The agent says: ${live.goalCompleteSummary ?? ''}`, askedAt: at }
  return refuseClaim({ ...sprint, question }, live, at, { by: ['review'], reason: summary })
}

function judgeReview(sprint: Sprint, live: LiveIteration, { passed, summary, at }: ReviewEnded): Decision {
  if (passed) return acceptClaim(sprint, live, at)
  const result: CheckResult = {
    name: 'review',
    passed,
    exitCode: null,
    durationMs: 0,
    output: summary,
    reason: 'the reviewer is not convinced',
  }
  const known = setInbox(sprint, { refusedBy: [...(sprint.inbox.refusedBy ?? []), result] })
  return refuseClaim(known, live, at, { by: ['review'], reason: summary })
}

/** Accepts the claim. If no check could have refused it, the exit records that. */
function acceptClaim(sprint: Sprint, live: LiveIteration, at: number): Decision {
  const by = [...(live.checks ?? []).map(({ name }) => name), ...(live.review ? ['review'] : [])]
  const summary = live.goalCompleteSummary ?? ''
  const openSteps = getWay(sprint).openSteps(sprint)
  const accepted = setHistory(sprint, {
    ralphExit: {
      detectedAt: at,
      iteration: live.number,
      finalSummary: summary,
      ...(by.length === 0 && { unchecked: true }),
      ...labelExit(live),
      ...(openSteps.length > 0 && { openSteps }),
    },
  })
  const acceptedEvent = emitEvent({ type: 'claim-accepted', iteration: live.number, by, summary })
  return andThen([acceptedEvent], runHooks(accepted, { ...live, verdict: 'accepted' }, at))
}

type ClaimRefusal = { readonly by: readonly string[]; readonly reason: string }

/** Refuses the claim; the next prompt includes the output of the red checks. */
function refuseClaim(sprint: Sprint, live: LiveIteration, at: number, { by, reason }: ClaimRefusal): Decision {
  const refusedEvent = emitEvent({ type: 'claim-refused', iteration: live.number, by: [...by], reason })
  const { goalCompleteSummary: _claim, ...open } = live
  return andThen([refusedEvent], runHooks(sprint, { ...open, verdict: 'refused' }, at))
}
