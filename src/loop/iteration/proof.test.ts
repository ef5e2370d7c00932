import { describe, expect, it } from 'vitest'
import { buildLive, buildProgress } from '../../../test/support/builders.ts'
import type { Progress } from '../../contract/progress.ts'
import type { Proof } from '../../contract/proof.ts'
import { fromProgress, toProgress } from '../progress-codec.ts'
import { acceptByAnswer, decideClaim, labelExit } from './proof.ts'

const createProof = (more: Partial<Proof> = {}): Proof => ({
  verdict: 'unproven',
  room: 'clean',
  labels: [],
  reasons: ['because'],
  prompt: 'add a test',
  named: true,
  changed: true,
  ...more,
})
const claim = buildLive({ goalCompleteSummary: 'done' })
const decide = (proof: Partial<Proof>, progress = buildProgress({}), live = claim) => {
  const { sprint, ...decision } = decideClaim(fromProgress(progress), live, createProof(proof), 5)
  return { ...decision, progress: toProgress(sprint) }
}
const acceptAnswer = (progress: Progress, answer: string) => {
  const accepted = acceptByAnswer(fromProgress(progress), answer, 9)
  return accepted && toProgress(accepted)
}

describe('a claim', () => {
  it('that is proved is accepted, with its labels', () => {
    const { kind, live } = decide({ verdict: 'proved', labels: ['weak proof'] })
    expect(kind).toBe('accept')
    expect(labelExit(live)).toEqual({ proof: { verdict: 'proved', room: 'clean', labels: ['weak proof'] } })
  })

  it('that is refused leaves the text for the next prompt, and no reason in the progress', () => {
    const { kind, progress } = decide({ verdict: 'refused' })
    expect([kind, progress.claimPrompt]).toEqual(['refuse', 'add a test'])
    expect(JSON.stringify(progress)).not.toContain('because')
  })

  it('that nothing proves is refused once, then a question whose default accepts it as unproven', () => {
    const first = decide({})
    expect(first.kind).toBe('refuse')
    const second = decide({}, first.progress)
    expect(second.kind).toBe('ask')
    expect(second.progress.humanNeeded).toMatchObject({
      options: ['accept as unproven', 'refuse'],
      default: 'accept as unproven',
    })
  })

  it.each([
    ['with proof: optional', { proof: 'optional' as const }, {}, 'accept'],
    ['without names of tests, after a change', {}, { named: false }, 'accept'],
    ['without names of tests and without a change', {}, { named: false, changed: false }, 'refuse'],
    ['without names of tests, with proof: required', { proof: 'required' as const }, { named: false }, 'refuse'],
  ])('that nothing proves, %s', (_, settings, proof, kind) => {
    const decision = decide(proof, buildProgress(settings))
    expect(decision.kind).toBe(kind)
    expect(labelExit(decision.live)).toMatchObject({ unproven: true })
  })

  it('that is contested is a question with the diff; its default is not to accept', () => {
    const { kind, progress } = decide({ verdict: 'contested', diff: '-assert' })
    expect(kind).toBe('ask')
    expect(progress.humanNeeded).toMatchObject({ options: ['accept the change', 'refuse'], default: 'refuse' })
    expect(progress.humanNeeded?.details).toContain('-assert')
  })

  it('that is flaky is checked again without an iteration, and the third time a question', () => {
    const first = decide({ verdict: 'flaky' })
    const second = decide({ verdict: 'flaky' }, first.progress, first.live)
    const third = decide({ verdict: 'flaky' }, second.progress, second.live)
    expect([first.kind, second.kind, third.kind]).toEqual(['run-again', 'run-again', 'ask'])
  })

  it('that is proved after a flake still names the flaky test', () => {
    const none = { fixed: [], stillRed: [], added: [], missing: [] }
    const first = decide({ verdict: 'flaky', tests: { ...none, flaky: ['b'] } })
    const second = decide({ verdict: 'proved', tests: { ...none, fixed: ['a'] } }, first.progress, first.live)
    expect([second.kind, second.live.proof?.tests]).toEqual(['accept', { ...none, fixed: ['a'], flaky: ['b'] }])
  })

  it('whose checks could not run is a question, not a refusal', () => {
    expect(decide({ verdict: 'failed-to-run' }).kind).toBe('ask')
  })
})

describe('an answer', () => {
  const contested = decide({ verdict: 'contested' }).progress

  it('that accepts the claim completes the sprint, marked', () => {
    expect(acceptAnswer(contested, 'Accept the change')).toMatchObject({
      status: 'completed',
      ralphExit: { detectedAt: 9, finalSummary: 'done', unproven: true, proof: { labels: ['accepted by a person'] } },
    })
  })

  it.each(['refuse', 'do not accept it', ''])('%j does not', (answer) => {
    expect(acceptAnswer(contested, answer)).toBeUndefined()
  })

  it('to another question never completes a sprint', () => {
    expect(acceptAnswer(buildProgress({}), 'accept')).toBeUndefined()
  })
})
