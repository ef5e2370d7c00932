import { describe, expect, it } from 'vitest'
import {
  aCheck,
  after,
  aLive,
  aProgress,
  checksEnd,
  green,
  noon,
  red,
  reports,
  started,
  steps,
  told,
  work,
} from '../../test/support/builders.ts'
import { buildPrompt } from './prompt.ts'

const claim = reports({ status: 'goal-complete', goalCompleteSummary: 'all green' })
const unit = aCheck({ name: 'unit tests', run: 'npm test' })
const types = aCheck({ run: 'tsc' })
const everyTime = aCheck({ name: 'lint', run: 'npm run lint', eachIteration: true })

describe('a claim', () => {
  it('is tested by every check, by name or else by command', () => {
    const { progress, orders } = after(aProgress({ doneWhen: [unit, types] }), started(), claim)

    expect(work(orders)).toEqual([{ type: 'run-checks', iteration: 1, names: ['unit tests', 'tsc'] }])
    expect(told(orders)).toEqual([{ type: 'claim-made', iteration: 1, summary: 'all green' }])
    expect(progress).toMatchObject({ status: 'in-progress', live: [{ stage: 'checks' }] })
    expect(progress.ralphExit.iteration).toBeNull()
  })

  it('is accepted when all checks are green', () => {
    const { progress, orders } = after(
      aProgress({ doneWhen: [unit, types] }),
      started(),
      claim,
      checksEnd(green('unit tests'), green('tsc')),
    )

    expect(progress.status).toBe('completed')
    expect(progress.ralphExit).toEqual({ detectedAt: noon, iteration: 1, finalSummary: 'all green' })
    expect(progress.iterations).toMatchObject([
      {
        verdict: 'accepted',
        checks: [
          { name: 'unit tests', passed: true },
          { name: 'tsc', passed: true },
        ],
      },
    ])
    expect(told(orders).map(({ type }) => type)).toEqual(['claim-accepted', 'iteration-ended', 'sprint-rested'])
    expect(told(orders)[0]).toMatchObject({ by: ['unit tests', 'tsc'], summary: 'all green' })
    expect(work(orders)).toEqual([])
  })

  it('is refused by a single red check, whose output is in the next prompt', () => {
    const { progress, orders } = after(
      aProgress({ doneWhen: [unit, types] }),
      started(),
      claim,
      checksEnd(red('unit tests', 'expected 2, got 3'), green('tsc')),
    )
    const [live = aLive()] = progress.live

    expect(progress).toMatchObject({ status: 'in-progress', live: [{ number: 2, stage: 'agent' }] })
    expect(progress.ralphExit.iteration).toBeNull()
    expect(progress.iterations).toMatchObject([{ verdict: 'refused' }])
    expect(told(orders)).toContainEqual({
      type: 'claim-refused',
      iteration: 1,
      by: ['unit tests'],
      reason: 'unit tests: exit code 1',
    })
    expect(buildPrompt(progress, live)).toContain('expected 2, got 3')
    expect(work(orders)).toEqual([{ type: 'run-attempt', iteration: 2, attempt: 1 }])
  })

  it('says why a check is red that failed without an exit code', () => {
    const timedOut = { ...red('unit tests', ''), exitCode: null, reason: 'timed out after 10m' }
    const { progress, orders } = after(aProgress({ doneWhen: [unit] }), started(), claim, checksEnd(timedOut))

    expect(told(orders)).toContainEqual({
      type: 'claim-refused',
      iteration: 1,
      by: ['unit tests'],
      reason: 'unit tests: timed out after 10m',
    })
    expect(buildPrompt(progress, progress.live[0] ?? aLive())).toContain('(timed out after 10m)')
  })

  it('can be made again after it was refused', () => {
    const { progress } = after(
      aProgress({ doneWhen: [unit] }),
      started(),
      claim,
      checksEnd(red('unit tests')),
      claim,
      checksEnd(green('unit tests')),
    )

    expect(progress).toMatchObject({ status: 'completed', ralphExit: { iteration: 2 } })
    expect(progress).not.toHaveProperty('refusedBy')
    expect(progress.iterations.map(({ verdict }) => verdict)).toEqual(['refused', 'accepted'])
  })

  it('is accepted unchecked when there are no checks', () => {
    const { progress, orders } = after(aProgress({ doneWhen: [] }), started(), claim)

    expect(progress).toMatchObject({ status: 'completed', ralphExit: { iteration: 1, unchecked: true } })
    expect(told(orders)).toContainEqual({ type: 'claim-accepted', iteration: 1, by: [], summary: 'all green' })
  })

  it('is not blocked by pending steps; they are recorded as open', () => {
    const { progress } = after(aProgress({ dynamicSteps: steps('alpha', 'beta') }), started(), claim)

    expect(progress).toMatchObject({ status: 'completed', ralphExit: { openSteps: ['step-0', 'step-1'] } })
    expect(progress.dynamicSteps).toMatchObject([{ status: 'pending' }, { status: 'pending' }])
  })

  it.each([
    ['none of them', []],
    ['one of them', [green('unit tests')]],
    ['another one', [green('unit tests'), green('lint')]],
  ])('is not accepted with %s', (_, results) => {
    const claiming = after(aProgress({ doneWhen: [unit, types] }), started(), claim).progress

    expect(() => after(claiming, checksEnd(...results))).toThrow(expect.objectContaining({ code: 'FACT_ILLEGAL' }))
  })
})

describe('a check for each iteration', () => {
  it('runs alone after a report to continue', () => {
    const { orders } = after(aProgress({ doneWhen: [unit, everyTime] }), started(), reports())

    expect(work(orders)).toEqual([{ type: 'run-checks', iteration: 1, names: ['lint'] }])
  })

  it('runs with all the others after a claim', () => {
    const { orders } = after(aProgress({ doneWhen: [unit, everyTime] }), started(), claim)

    expect(work(orders)).toEqual([{ type: 'run-checks', iteration: 1, names: ['unit tests', 'lint'] }])
  })

  it('refuses nothing when it is red, but the next prompt shows it', () => {
    const { progress, orders } = after(
      aProgress({ doneWhen: [everyTime] }),
      started(),
      reports(),
      checksEnd(red('lint', 'no-unused-vars')),
    )

    expect(progress.iterations).toMatchObject([{ verdict: 'continue', checks: [{ name: 'lint', passed: false }] }])
    expect(told(orders).map(({ type }) => type)).toEqual(['iteration-ended', 'iteration-started'])
    expect(buildPrompt(progress, progress.live[0] ?? aLive())).toContain('no-unused-vars')
  })

  it('leaves the prompt once it is green again', () => {
    const { progress } = after(
      aProgress({ doneWhen: [everyTime] }),
      started(),
      reports(),
      checksEnd(red('lint', 'no-unused-vars')),
      reports(),
      checksEnd(green('lint')),
    )

    expect(buildPrompt(progress, progress.live[0] ?? aLive())).not.toContain('no-unused-vars')
  })

  it('runs after a claim that comes before min-iterations and cannot accept it', () => {
    const { progress } = after(
      aProgress({ doneWhen: [everyTime], ralph: { minIterations: 5 } }),
      started(),
      claim,
      checksEnd(green('lint')),
    )

    expect(progress).toMatchObject({ status: 'in-progress', iterations: [{ verdict: 'premature' }] })
  })

  it('runs before a question is asked', () => {
    const asking = after(aProgress({ doneWhen: [everyTime] }), started(), reports({ status: 'needs-human' }))

    expect(work(asking.orders)).toEqual([{ type: 'run-checks', iteration: 1, names: ['lint'] }])
    expect(after(asking.progress, checksEnd(green('lint'))).progress.status).toBe('needs-human')
  })
})

describe('checks detected in the project', () => {
  it('are used if the sprint configures none, and kept', () => {
    const { progress } = after(aProgress(), started({ detectedChecks: [unit] }))

    expect(progress.doneWhen).toEqual([unit])
    expect(after(progress, started({ detectedChecks: [types] })).progress.doneWhen).toEqual([unit])
  })

  it.each([
    ['checks', [types]],
    ['an empty list', []],
  ])('are not used if the sprint configures %s', (_, doneWhen) => {
    const { progress } = after(aProgress({ doneWhen }), started({ detectedChecks: [unit] }))

    expect(progress.doneWhen).toEqual(doneWhen)
  })
})
