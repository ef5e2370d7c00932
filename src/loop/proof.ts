import type { Proof, ProofMark } from '../contract/proof.ts'
import type { LiveIteration, Progress } from '../contract/progress.ts'
import { openQuestion } from './question.ts'

/** What the loop does with a claim after its proof. */
export type ClaimDecision =
  | { readonly kind: 'accept'; readonly progress: Progress; readonly live: LiveIteration }
  | {
      readonly kind: 'refuse' | 'ask'
      readonly progress: Progress
      readonly live: LiveIteration
      readonly reason: string
    }
  /** Red tests passed when run again: the checks run once more, and no iteration is spent. */
  | { readonly kind: 'run-again'; readonly progress: Progress; readonly live: LiveIteration }

const maxFlakes = 3

/** Only a proved claim is accepted as such; with `proof: optional`, an unproven one is accepted and labelled. */
export function decideClaim(progress: Progress, before: LiveIteration, proof: Proof, at: number): ClaimDecision {
  const live = { ...before, proof: markProof(proof) }
  const { claimPrompt: _prompt, ...cleared } = progress
  const reason = proof.reasons.join('; ')
  const refused: Progress = { ...cleared, claimPrompt: proof.prompt }
  const ask = (why: string) => ({
    kind: 'ask' as const,
    progress: askAboutClaim(refused, live, { why, proof, at }),
    live,
    reason,
  })
  switch (proof.verdict) {
    case 'proved':
      return { kind: 'accept', progress: cleared, live }
    case 'refused':
      return { kind: 'refuse', progress: refused, live, reason }
    case 'unproven': {
      if (isOptional(progress, proof)) return { kind: 'accept', progress: cleared, live }
      const claims = (progress.unprovenClaims ?? 0) + 1
      if (claims > 1 || progress.mode === 'standard') return ask('The checks pass, but nothing proves the claim')
      return { kind: 'refuse', progress: { ...refused, unprovenClaims: claims }, live, reason }
    }
    case 'contested':
      return ask('The claim holds only with what the agent changed in the tests')
    case 'flaky': {
      const flakes = (live.flakes ?? 0) + 1
      if (flakes >= maxFlakes) return ask('Tests are red and then green without any change')
      const { refusedBy: _red, ...open } = cleared
      return { kind: 'run-again', progress: open, live: { ...live, flakes } }
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

/**
 * Without a setting, a proof is required where tests have names. A check without names can show only that something changed
 * and that it passes; without any change there is nothing to accept.
 */
function isOptional({ proof: setting, mode }: Progress, { named, changed }: Proof): boolean {
  if (setting !== undefined) return setting === 'optional'
  return mode === 'standard' || (!named && changed)
}

const accept = 'accept as unproven'

type ClaimDoubt = { readonly why: string; readonly proof: Proof; readonly at: number }

function askAboutClaim(progress: Progress, live: LiveIteration, { why, proof, at }: ClaimDoubt): Progress {
  const summary = live.goalCompleteSummary ?? ''
  const isContested = proof.verdict === 'contested'
  const options = [isContested ? 'accept the change' : accept, 'refuse']
  const details = [
    ...proof.reasons,
    `The agent says: ${summary}`,
    ...(proof.diff === undefined ? [] : [proof.diff]),
  ].join('\n\n')
  const question = { reason: why, details, options, default: isContested ? 'refuse' : accept }
  const { unprovenClaims: _count, ...counted } = progress
  const claimQuestion = { iteration: live.number, summary, proof: markProof(proof) }
  return openQuestion({ ...counted, claimQuestion }, question, at)
}

/** How the exit of an accepted claim is labelled. */
export function labelExit({ proof }: LiveIteration): Partial<Progress['ralphExit']> {
  if (!proof) return {}
  return { proof, ...(proof.verdict !== 'proved' && { unproven: true }) }
}

/** The sprint as a user completes it by accepting the claim that the question is about; undefined for any other answer. */
export function acceptByAnswer(progress: Progress, answer: string, at: number): Progress | undefined {
  const { claimQuestion, humanNeeded: _asked, reason: _reason, claimPrompt: _prompt, ...kept } = progress
  if (!claimQuestion || !/^\s*accept\b/i.test(answer)) return undefined
  const { iteration, summary, proof } = claimQuestion
  const labelled = { ...proof, labels: [...proof.labels, 'accepted by a person'] }
  return {
    ...kept,
    status: 'completed',
    ralphExit: { detectedAt: at, iteration, finalSummary: summary, unproven: true, proof: labelled },
    stats: { ...kept.stats, completedAt: at },
  }
}
