import { describe, expect, it } from 'vitest'
import type { ProofMark } from '../contract/proof.ts'
import { noUsage } from '../contract/outcome.ts'
import type { IterationRecord } from '../contract/progress.ts'
import { buildCheck } from '../../test/support/builders.ts'
import { describeProofSteps } from './proof-steps.ts'

const buildIteration = (part: Partial<IterationRecord>): IterationRecord => ({
  number: 1,
  mode: 'executing',
  verdict: 'accepted',
  attempts: 1,
  startedAt: 0,
  endedAt: 1,
  costUsd: 0,
  usage: noUsage,
  ...part,
})

const none = { fixed: [], stillRed: [], added: [], missing: [] }
const mark = (part: Partial<ProofMark>): ProofMark => ({ verdict: 'proved', room: 'clean', labels: [], ...part })
const steps = (part: Parameters<typeof buildIteration>[0], settings: Parameters<typeof describeProofSteps>[1] = {}) =>
  describeProofSteps(buildIteration(part), settings).map(({ title, state, words }) => `${state} ${title}: ${words}`)

describe('the steps of a proof', () => {
  it('say how a proved claim was measured', () => {
    const proof = mark({ tests: { ...none, fixed: ['a > adds'], added: ['a > carries', 'a > rounds'] } })
    expect(steps({ proof, verdict: 'accepted' }, { seal: { minimum: 0.7, budget: 1 } })).toEqual([
      'passed Tests of the start, on the new code: all there, all green',
      'passed New tests: 2 tests, green',
      'passed Red first: 1 test red at the start, green now',
      'absent Held-out checks: none set',
      'passed Seal: the tests notice 70 % of small changes or more',
      'passed Files that define a check: unchanged',
    ])
  })

  it('name the tests that a cheat removed, and the files that it changed', () => {
    const proof = mark({ verdict: 'refused', tests: { ...none, missing: ['t > half an egg'] } })
    const record = buildIteration({ proof, verdict: 'refused', tampered: ['package.json'] })
    const found = describeProofSteps(record, {}).filter(({ state }) => state === 'failed')
    expect(found.map(({ words, names }) => [words, names])).toEqual([
      ['1 missing, skipped or not run', ['t > half an egg']],
      ['changed; Ralph used those of the start', ['package.json']],
    ])
  })

  it('show a red held-out check and a claim that nothing proves', () => {
    const doneWhen = [buildCheck({ run: 'sh check', name: 'secret', heldOut: 'auth' })]
    const checks = [{ name: 'secret', passed: false }]
    expect(steps({ proof: mark({ verdict: 'unproven', tests: none }), checks }, { doneWhen })).toEqual(
      expect.arrayContaining(['failed Held-out checks: 1 red', 'failed Red first: nothing shows that the work did it']),
    )
  })

  it('are none without a proof', () => {
    expect(steps({ verdict: 'accepted' })).toEqual([])
  })
})
