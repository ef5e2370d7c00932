import { describe, expect, it } from 'vitest'
import {
  buildCheck,
  after,
  buildLive,
  buildProgress,
  checksEnd,
  green,
  noon,
  red,
  reports,
  started,
  buildSteps,
  emittedEvents,
  workOrders,
} from '../../../test/support/builders.ts'
import { buildIterationPrompt } from '../prompts.ts'

const claim = reports({ status: 'goal-complete', goalCompleteSummary: 'all green' })
const unit = buildCheck({ name: 'unit tests', run: 'npm test' })
const types = buildCheck({ run: 'tsc' })
const everyTime = buildCheck({ name: 'lint', run: 'npm run lint', eachIteration: true })

describe('a claim', () => {
  it('is tested by every check, by name or else by command', () => {
    const { progress, orders } = after(buildProgress({ doneWhen: [unit, types] }), started(), claim)

    expect(workOrders(orders)).toEqual([{ type: 'run-checks', iteration: 1, names: ['unit tests', 'tsc'] }])
    expect(emittedEvents(orders)).toEqual([{ type: 'claim-made', iteration: 1, summary: 'all green' }])
    expect(progress).toMatchObject({ status: 'in-progress', live: [{ stage: 'checks' }] })
    expect(progress.ralphExit.iteration).toBeNull()
  })

  it('is accepted when all checks are green', () => {
    const { progress, orders } = after(
      buildProgress({ doneWhen: [unit, types] }),
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
    expect(emittedEvents(orders).map(({ type }) => type)).toEqual([
      'claim-accepted',
      'iteration-ended',
      'sprint-rested',
    ])
    expect(emittedEvents(orders)[0]).toMatchObject({ by: ['unit tests', 'tsc'], summary: 'all green' })
    expect(workOrders(orders)).toEqual([])
  })

  it('is refused by a single red check, whose output is in the next prompt', () => {
    const { progress, orders } = after(
      buildProgress({ doneWhen: [unit, types] }),
      started(),
      claim,
      checksEnd(red('unit tests', 'expected 2, got 3'), green('tsc')),
    )
    const [live = buildLive()] = progress.live

    expect(progress).toMatchObject({ status: 'in-progress', live: [{ number: 2, stage: 'agent' }] })
    expect(progress.ralphExit.iteration).toBeNull()
    expect(progress.iterations).toMatchObject([{ verdict: 'refused' }])
    expect(emittedEvents(orders)).toContainEqual({
      type: 'claim-refused',
      iteration: 1,
      by: ['unit tests'],
      reason: 'unit tests: exit code 1',
    })
    expect(buildIterationPrompt(progress, live)).toContain('expected 2, got 3')
    expect(workOrders(orders)).toEqual([{ type: 'run-attempt', iteration: 2, attempt: 1 }])
  })

  it('says why a check is red that failed without an exit code', () => {
    const timedOut = { ...red('unit tests', ''), exitCode: null, reason: 'timed out after 10m' }
    const { progress, orders } = after(buildProgress({ doneWhen: [unit] }), started(), claim, checksEnd(timedOut))

    expect(emittedEvents(orders)).toContainEqual({
      type: 'claim-refused',
      iteration: 1,
      by: ['unit tests'],
      reason: 'unit tests: timed out after 10m',
    })
    expect(buildIterationPrompt(progress, progress.live[0] ?? buildLive())).toContain('(timed out after 10m)')
  })

  it('can be made again after it was refused', () => {
    const { progress } = after(
      buildProgress({ doneWhen: [unit] }),
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
    const { progress, orders } = after(buildProgress({ doneWhen: [] }), started(), claim)

    expect(progress).toMatchObject({ status: 'completed', ralphExit: { iteration: 1, unchecked: true } })
    expect(emittedEvents(orders)).toContainEqual({ type: 'claim-accepted', iteration: 1, by: [], summary: 'all green' })
  })

  it('is not blocked by pending steps; they are recorded as open', () => {
    const { progress } = after(buildProgress({ dynamicSteps: buildSteps('alpha', 'beta') }), started(), claim)

    expect(progress).toMatchObject({ status: 'completed', ralphExit: { openSteps: ['step-0', 'step-1'] } })
    expect(progress.dynamicSteps).toMatchObject([{ status: 'pending' }, { status: 'pending' }])
  })

  it.each([
    ['none of them', []],
    ['one of them', [green('unit tests')]],
    ['another one', [green('unit tests'), green('lint')]],
  ])('is not accepted with %s', (_, results) => {
    const claiming = after(buildProgress({ doneWhen: [unit, types] }), started(), claim).progress

    expect(() => after(claiming, checksEnd(...results))).toThrow(expect.objectContaining({ code: 'FACT_ILLEGAL' }))
  })
})

describe('a check for each iteration', () => {
  it('runs alone after a report to continue', () => {
    const { orders } = after(buildProgress({ doneWhen: [unit, everyTime] }), started(), reports())

    expect(workOrders(orders)).toEqual([{ type: 'run-checks', iteration: 1, names: ['lint'] }])
  })

  it('runs with all the others after a claim', () => {
    const { orders } = after(buildProgress({ doneWhen: [unit, everyTime] }), started(), claim)

    expect(workOrders(orders)).toEqual([{ type: 'run-checks', iteration: 1, names: ['unit tests', 'lint'] }])
  })

  it('refuses nothing when it is red, but the next prompt shows it', () => {
    const { progress, orders } = after(
      buildProgress({ doneWhen: [everyTime] }),
      started(),
      reports(),
      checksEnd(red('lint', 'no-unused-vars')),
    )

    expect(progress.iterations).toMatchObject([{ verdict: 'continue', checks: [{ name: 'lint', passed: false }] }])
    expect(emittedEvents(orders).map(({ type }) => type)).toEqual(['iteration-ended', 'iteration-started'])
    expect(buildIterationPrompt(progress, progress.live[0] ?? buildLive())).toContain('no-unused-vars')
  })

  it('leaves the prompt once it is green again', () => {
    const { progress } = after(
      buildProgress({ doneWhen: [everyTime] }),
      started(),
      reports(),
      checksEnd(red('lint', 'no-unused-vars')),
      reports(),
      checksEnd(green('lint')),
    )

    expect(buildIterationPrompt(progress, progress.live[0] ?? buildLive())).not.toContain('no-unused-vars')
  })

  it('runs after a claim that comes before min-iterations and cannot accept it', () => {
    const { progress } = after(
      buildProgress({ doneWhen: [everyTime], ralph: { minIterations: 5 } }),
      started(),
      claim,
      checksEnd(green('lint')),
    )

    expect(progress).toMatchObject({ status: 'in-progress', iterations: [{ verdict: 'premature' }] })
  })

  it('runs before a question is asked', () => {
    const asking = after(buildProgress({ doneWhen: [everyTime] }), started(), reports({ status: 'needs-human' }))

    expect(workOrders(asking.orders)).toEqual([{ type: 'run-checks', iteration: 1, names: ['lint'] }])
    expect(after(asking.progress, checksEnd(green('lint'))).progress.status).toBe('needs-human')
  })
})

describe('checks detected in the project', () => {
  it('are used if the sprint configures none, and kept', () => {
    const { progress } = after(buildProgress(), started({ detectedChecks: [unit] }))

    expect(progress.doneWhen).toEqual([unit])
    expect(after(progress, started({ detectedChecks: [types] })).progress.doneWhen).toEqual([unit])
  })

  it.each([
    ['checks', [types]],
    ['an empty list', []],
  ])('are not used if the sprint configures %s', (_, doneWhen) => {
    const { progress } = after(buildProgress({ doneWhen }), started({ detectedChecks: [unit] }))

    expect(progress.doneWhen).toEqual(doneWhen)
  })
})
