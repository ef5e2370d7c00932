import { describe, expect, it } from 'vitest'
import {
  buildCheck,
  after,
  buildLive,
  buildProgress,
  checksEnd,
  fails,
  frozen,
  green,
  interrupted,
  noon,
  pauseRequested,
  red,
  reports,
  started,
  emittedEvents,
  workOrders,
} from '../../../test/support/builders.ts'
import type { CheckResult, Progress } from '../../contract/progress.ts'
import type { Proof } from '../../contract/proof.ts'
import type { Fact } from '../core/fact.ts'
import { buildIterationPrompt } from '../prompts.ts'

const unmeasured = (overrides: Parameters<typeof buildProgress>[0]): Progress => {
  const { baseline: _known, ...progress } = buildProgress(overrides)
  return frozen(progress)
}
const measured = (...results: readonly CheckResult[]): Fact => ({
  type: 'checks-ended',
  at: noon,
  iteration: 0,
  results,
})
const reviewed = (passed: boolean): Fact => ({
  type: 'review-ended',
  at: noon,
  iteration: 1,
  passed,
  summary: 'I looked',
})
const claim = reports({ status: 'goal-complete' })

describe('the baseline', () => {
  const sprint = unmeasured({ doneWhen: [buildCheck(), buildCheck({ run: 'tsc' })] })
  const measuring = after(sprint, started())

  it('is taken before the first iteration, with every check', () => {
    expect(workOrders(measuring.orders)).toEqual([{ type: 'run-checks', iteration: 0, names: ['npm test', 'tsc'] }])
    expect(measuring.progress).toMatchObject({ status: 'in-progress', live: [], stats: { currentIteration: 0 } })
  })

  it('is followed by the first iteration, red or green', () => {
    const { progress, orders } = after(measuring.progress, measured(red(), green('tsc')))

    expect(progress.baseline).toEqual([
      { name: 'npm test', passed: false },
      { name: 'tsc', passed: true },
    ])
    expect(workOrders(orders)).toEqual([{ type: 'run-attempt', iteration: 1, attempt: 1 }])
    expect(progress).not.toHaveProperty('refusedBy')
  })

  it('is not taken without checks', () => {
    const { orders } = after(unmeasured({ doneWhen: [] }), started())

    expect(workOrders(orders)).toEqual([{ type: 'run-attempt', iteration: 1, attempt: 1 }])
  })

  it('that is never taken does not keep the sprint from pausing', () => {
    const { progress } = after(unmeasured({ doneWhen: [] }), started(), fails(), pauseRequested)

    expect(progress.status).toBe('paused')
  })

  it('is taken once', () => {
    const known = after(measuring.progress, measured(green(), green('tsc'))).progress

    expect(() => after(known, measured(green(), green('tsc')))).toThrow(
      expect.objectContaining({ code: 'FACT_ILLEGAL' }),
    )
    expect(workOrders(after(known, reports(), interrupted, started()).orders)).not.toMatchObject([
      { type: 'run-checks' },
    ])
  })

  it('cannot be taken once an iteration has started', () => {
    const startedProgress = after(unmeasured({ doneWhen: [] }), started()).progress

    expect(() => after(startedProgress, measured())).toThrow(expect.objectContaining({ code: 'FACT_ILLEGAL' }))
  })

  it('is taken again after a crash or an interrupt', () => {
    expect(workOrders(after(measuring.progress, started()).orders)).toMatchObject([
      { type: 'run-checks', iteration: 0 },
    ])
    expect(workOrders(after(measuring.progress, interrupted, started()).orders)).toMatchObject([
      { type: 'run-checks', iteration: 0 },
    ])
  })

  it('is kept if it ends after an interrupt, and starts nothing', () => {
    const { progress, orders } = after(measuring.progress, interrupted, measured(green(), green('tsc')))

    expect(progress).toMatchObject({ status: 'interrupted', live: [] })
    expect(orders).toEqual([])
    expect(workOrders(after(progress, started()).orders)).toEqual([{ type: 'run-attempt', iteration: 1, attempt: 1 }])
  })

  it('is finished before a pause', () => {
    const paused = after(measuring.progress, pauseRequested)
    const { progress, orders } = after(paused.progress, measured(green(), green('tsc')))

    expect(paused.progress.status).toBe('in-progress')
    expect(progress).toMatchObject({ status: 'paused', live: [] })
    expect(workOrders(orders)).toEqual([])
  })

  it('lets the prompt mention that a check was already red', () => {
    const { progress } = after(measuring.progress, measured(red(), green('tsc')), claim, checksEnd(red(), red('tsc')))
    const text = buildIterationPrompt(progress, progress.live[0] ?? buildLive())

    expect(text).toMatch(/## Refused: npm test\n\n.*it was already failing before the sprint began/)
    expect(text).not.toMatch(/## Refused: tsc\n\n.*it was red before/)
  })
})

describe('a review', () => {
  const sprint = buildProgress({ doneWhen: [buildCheck()], review: { agent: 'codex' } })

  it('follows green checks and can accept the claim', () => {
    const reviewing = after(sprint, started(), claim, checksEnd(green()))
    const { progress, orders } = after(reviewing.progress, reviewed(true))

    expect(workOrders(reviewing.orders)).toEqual([{ type: 'run-review', iteration: 1 }])
    expect(progress).toMatchObject({
      status: 'completed',
      iterations: [{ verdict: 'accepted', review: { passed: true, summary: 'I looked' } }],
    })
    expect(emittedEvents(orders)[0]).toMatchObject({ type: 'claim-accepted', by: ['npm test', 'review'] })
  })

  it('can refuse the claim; the next prompt includes its summary', () => {
    const { progress, orders } = after(sprint, started(), claim, checksEnd(green()), reviewed(false))

    expect(progress).toMatchObject({ status: 'in-progress', iterations: [{ verdict: 'refused' }] })
    expect(emittedEvents(orders)[0]).toMatchObject({ type: 'claim-refused', by: ['review'], reason: 'I looked' })
    expect(buildIterationPrompt(progress, progress.live[0] ?? buildLive())).toMatch(
      /## Refused: review\n\n[^]*I looked/,
    )
  })

  it('gets what no test noticed, and so does the person, but neither the agent nor the receipt', () => {
    const proof: Proof = {
      verdict: 'proved',
      room: 'clean',
      labels: [],
      reasons: [],
      prompt: '',
      named: true,
      changed: true,
      survivors: ['lib.js:2: > to <='],
    }
    const reviewing = after(sprint, started(), claim, {
      type: 'checks-ended',
      at: noon,
      iteration: 1,
      results: [green()],
      proof,
    })
    const { progress } = after(reviewing.progress, reviewed(false))

    expect(emittedEvents(reviewing.orders)).toContainEqual(
      expect.objectContaining({ type: 'note', text: expect.stringContaining('lib.js:2') }),
    )
    expect(reviewing.progress.live[0]?.survivors).toEqual(['lib.js:2: > to <='])
    expect(JSON.stringify(progress)).not.toContain('lib.js')
    expect(buildIterationPrompt(progress, progress.live[0] ?? buildLive())).not.toContain('lib.js')
  })

  it('does not run if a check is red, or without a claim', () => {
    expect(workOrders(after(sprint, started(), claim, checksEnd(red())).orders)).toMatchObject([
      { type: 'run-attempt' },
    ])
    expect(workOrders(after(sprint, started(), reports()).orders)).toMatchObject([{ type: 'run-attempt' }])
  })

  it('is enough for a claim without checks', () => {
    const { progress } = after(buildProgress({ review: { agent: 'codex' } }), started(), claim, reviewed(true))

    expect(progress.status).toBe('completed')
    expect(progress.ralphExit).not.toHaveProperty('unchecked')
  })

  it('runs again after a crash', () => {
    const { orders } = after(sprint, started(), claim, checksEnd(green()), started())

    expect(workOrders(orders)).toEqual([{ type: 'run-review', iteration: 1 }])
  })

  it('that was not ordered is illegal', () => {
    expect(() => after(sprint, started(), reviewed(true))).toThrow(expect.objectContaining({ code: 'FACT_ILLEGAL' }))
  })
})

it('files of a check that the agent changed are recorded and reported', () => {
  const sprint = buildProgress({ doneWhen: [buildCheck()] })
  const ended: Fact = { type: 'checks-ended', at: noon, iteration: 1, results: [green()], tampered: ['package.json'] }
  const { progress, orders } = after(sprint, started(), claim, ended)

  expect(progress.iterations).toMatchObject([{ verdict: 'accepted', tampered: ['package.json'] }])
  expect(emittedEvents(orders)).toContainEqual({
    type: 'note',
    level: 'warning',
    text: 'the agent changed files that define the checks: package.json',
  })
})
