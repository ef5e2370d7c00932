import type { LiveIteration, Progress } from '../../contract/progress.ts'
import type { Proof, ProofMark } from '../../contract/proof.ts'
import { openQuestion } from '../core/question.ts'
import { setHistory, setInbox, setStats, type Sprint } from '../core/sprint.ts'

/** What the loop does with a claim after its proof. */
export type ClaimDecision =
  | { readonly kind: 'accept'; readonly sprint: Sprint; readonly live: LiveIteration }
  | { readonly kind: 'refuse' | 'ask'; readonly sprint: Sprint; readonly live: LiveIteration; readonly reason: string }
  /** Red tests passed when run again: the checks run once more, and no iteration is spent. */
  | { readonly kind: 'run-again'; readonly sprint: Sprint; readonly live: LiveIteration }

const maxFlakes = 3

/** Only a proved claim is accepted as such; with `proof: optional`, an unproven one is accepted and labelled. */
export function decideClaim(sprint: Sprint, before: LiveIteration, proof: Proof, at: number): ClaimDecision {
  const live = { ...before, proof: keepFlaky(markProof(proof), before) }
  const reason = proof.reasons.join('; ')
  const refused = setInbox(sprint, { claimPrompt: proof.prompt })
  const ask = (why: string) => ({
    kind: 'ask' as const,
    sprint: askAboutClaim(refused, live, { why, proof, at }),
    live,
    reason,
  })
  switch (proof.verdict) {
    case 'proved':
      return { kind: 'accept', sprint, live }
    case 'refused':
      return { kind: 'refuse', sprint: refused, live, reason }
    case 'unproven': {
      if (isProofOptional(sprint, proof)) return { kind: 'accept', sprint, live }
      if (proof.isForPeople) return ask('The checks pass, but a person should look at the change')
      const unprovenClaims = (sprint.history.unprovenClaims ?? 0) + 1
      // With phases no agent could add the test.
      if (unprovenClaims > 1 || sprint.way.concurrent) return ask('The checks pass, but nothing proves the claim')
      return { kind: 'refuse', sprint: setHistory(refused, { unprovenClaims }), live, reason }
    }
    case 'contested':
      return ask('The claim holds only with what the agent changed in the tests')
    case 'flaky': {
      const flakes = (live.flakes ?? 0) + 1
      if (flakes >= maxFlakes) return ask('Tests are red and then green without any change')
      const { refusedBy: _red, ...inbox } = sprint.inbox
      return { kind: 'run-again', sprint: { ...sprint, inbox }, live: { ...live, flakes } }
    }
    case 'failed-to-run':
      return ask('Ralph could not run the checks')
  }
}

const markProof = ({ verdict, room, labels, tests }: Proof): ProofMark => ({
  verdict,
  room,
  labels: [...labels],
  ...(tests && { tests }),
})

/** A test that flipped stays named when the claim is proved afterwards. */
function keepFlaky(mark: ProofMark, { proof }: LiveIteration): ProofMark {
  const flaky = [...new Set([...(proof?.tests?.flaky ?? []), ...(mark.tests?.flaky ?? [])])]
  return mark.tests && flaky.length > 0 ? { ...mark, tests: { ...mark.tests, flaky } } : mark
}

/**
 * Without a setting, a proof is required where tests have names. A check without names can show only that something changed
 * and that it passes; without any change there is nothing to accept.
 */
export function isProofOptional(
  { plan, way, run }: Sprint,
  { named, changed }: Pick<Proof, 'named' | 'changed'>,
): boolean {
  const proof = run?.choice?.proof ?? plan.proof
  if (proof !== undefined) return proof === 'optional'
  return way.concurrent || (!named && changed)
}

const accept = 'accept as unproven'

type ClaimDoubt = { readonly why: string; readonly proof: Proof; readonly at: number }

function askAboutClaim(sprint: Sprint, live: LiveIteration, { why, proof, at }: ClaimDoubt): Sprint {
  const summary = live.goalCompleteSummary ?? ''
  const isContested = proof.verdict === 'contested'
  const options = [isContested ? 'accept the change' : accept, 'refuse']
  const details = [
    ...proof.reasons,
    `The agent says: ${summary}`,
    ...(proof.diff === undefined ? [] : [proof.diff]),
  ].join('\n\n')
  const question = { reason: why, details, options, default: isContested ? 'refuse' : accept }
  const { unprovenClaims: _count, ...history } = sprint.history
  const claimQuestion = { iteration: live.number, summary, proof: markProof(proof) }
  return openQuestion(setHistory({ ...sprint, history }, { claimQuestion }), question, at)
}

/** How the exit of an accepted claim is labelled. */
export function labelExit({ proof }: LiveIteration): Partial<Progress['ralphExit']> {
  if (!proof) return {}
  return { proof, ...(proof.verdict !== 'proved' && { unproven: true }) }
}

/** The sprint as a user completes it by accepting the claim that the question is about; undefined for any other answer. */
export function acceptByAnswer(sprint: Sprint, answer: string, at: number): Sprint | undefined {
  const { claimQuestion, ...history } = sprint.history
  if (!claimQuestion || !/^\s*accept\b/i.test(answer)) return undefined
  const { iteration, summary, proof } = claimQuestion
  const labelled = { ...proof, labels: [...proof.labels, 'accepted by a person'] }
  const ralphExit = { detectedAt: at, iteration, finalSummary: summary, unproven: true, proof: labelled }
  const { claimPrompt: _prompt, ...inbox } = sprint.inbox
  const accepted = setHistory({ ...sprint, history, inbox }, { ralphExit })
  return { ...setStats(accepted, { completedAt: at }), status: 'completed', question: undefined, reason: undefined }
}
