import { describe, expect, it } from 'vitest'
import {
  after,
  buildLive,
  buildProgress,
  buildReport,
  attemptEnded,
  newSteps,
  noon,
  reports,
  saysNothing,
  started,
  buildSteps,
  emittedEvents,
  waitEnds,
  workOrders,
  type Play,
} from '../../../test/support/builders.ts'

describe('a report', () => {
  it('to continue ends the iteration and starts the next one at once', () => {
    const { progress, orders } = after(buildProgress(), started(), reports({ summary: 'looked around' }, noon + 5000))

    expect(progress.iterations).toMatchObject([
      { number: 1, mode: 'planning', verdict: 'continue', summary: 'looked around', attempts: 1, endedAt: noon + 5000 },
    ])
    expect(workOrders(orders)).toEqual([{ type: 'run-attempt', iteration: 2, attempt: 1 }])
  })

  it('plans, executes and finishes a goal (C1)', () => {
    const { progress, orders } = after(
      buildProgress(),
      started(),
      reports({ pendingSteps: newSteps('alpha', 'beta') }),
      reports({
        completedStepIds: ['step-0'],
        pendingSteps: [
          { id: 'step-1', prompt: 'beta' },
          { id: null, prompt: 'gamma' },
        ],
      }),
      reports({ status: 'goal-complete', completedStepIds: ['step-1', 'step-2'], goalCompleteSummary: 'All "done"' }),
    )

    expect(progress.iterations.map(({ mode, step, verdict }) => [mode, step, verdict])).toEqual([
      ['planning', undefined, 'continue'],
      ['executing', 'step-0', 'continue'],
      ['executing', 'step-1', 'accepted'],
    ])
    expect(progress.dynamicSteps.map(({ id, status, addedInIteration }) => [id, status, addedInIteration])).toEqual([
      ['step-0', 'completed', 1],
      ['step-1', 'completed', 1],
      ['step-2', 'completed', 2],
    ])
    expect(progress.ralphExit).toEqual({
      detectedAt: noon,
      iteration: 3,
      finalSummary: 'All "done"',
      unchecked: true,
    })
    expect(progress).toMatchObject({ status: 'completed', live: [], stats: { completedAt: noon } })
    expect(workOrders(orders)).toEqual([])
  })

  it('with the steps in another order makes the first of them the next one', () => {
    const { progress } = after(
      buildProgress({ dynamicSteps: buildSteps('alpha', 'beta') }),
      started(),
      reports({
        pendingSteps: [
          { id: 'step-1', prompt: 'beta' },
          { id: 'step-0', prompt: 'alpha' },
        ],
      }),
    )

    expect(progress.live).toMatchObject([{ number: 2, mode: 'executing', step: 'step-1' }])
  })

  it('with unknown ids applies as far as possible, and records what was dropped', () => {
    const { progress, orders } = after(
      buildProgress({ dynamicSteps: buildSteps('alpha') }),
      started(),
      reports({ completedStepIds: ['step-0', 'step-7'] }),
    )
    const reasons = ['completedStepIds names step-7, which is not pending']

    expect(progress.iterations).toMatchObject([{ verdict: 'continue', rejected: reasons }])
    expect(emittedEvents(orders)).toEqual(
      expect.arrayContaining([
        { type: 'steps-changed', added: [], completed: ['step-0'], pending: 0 },
        { type: 'report-rejected', iteration: 1, reasons },
      ]),
    )
  })

  it('with needs-human asks and rests', () => {
    const { progress, orders } = after(
      buildProgress({ dynamicSteps: buildSteps('alpha') }),
      started(),
      reports({ status: 'needs-human', completedStepIds: ['step-0'] }, noon + 5),
    )

    expect(progress).toMatchObject({
      status: 'needs-human',
      reason: 'no key',
      humanNeeded: { reason: 'no key', details: 'see .env', askedAt: noon + 5 },
      iterations: [{ number: 1, verdict: 'needs-human' }],
      dynamicSteps: [{ id: 'step-0', status: 'completed' }],
      live: [],
    })
    expect(workOrders(orders)).toEqual([])
    expect(emittedEvents(orders)).toContainEqual({
      type: 'question-asked',
      iteration: 1,
      reason: 'no key',
      details: 'see .env',
    })
  })

  it('clears what the last prompt contained', () => {
    const { progress } = after(
      buildProgress({
        status: 'in-progress',
        live: [buildLive()],
        failure: { class: 'crash', reason: 'exit code 1', count: 2 },
        refusedBy: [],
        feedback: [{ hookId: 'lint', output: 'red' }],
        answer: { question: 'which?', answer: 'this', at: noon },
      }),
      reports(),
    )

    expect(progress).not.toHaveProperty('failure')
    expect(progress).not.toHaveProperty('refusedBy')
    expect(progress).not.toHaveProperty('feedback')
    expect(progress).not.toHaveProperty('answer')
  })
})

describe('goal-complete before min-iterations', () => {
  const claim = reports({ status: 'goal-complete', goalCompleteSummary: 'done' })
  const sprint = buildProgress({ ralph: { minIterations: 3 } })

  it('is recorded and the loop continues (C4)', () => {
    const { progress, orders } = after(sprint, started(), claim, claim)

    expect(progress).toMatchObject({ status: 'in-progress', ralph: { goalCompleteAttemptedAt: 2 } })
    expect(progress.iterations.map(({ verdict }) => verdict)).toEqual(['premature', 'premature'])
    expect(progress.ralphExit.iteration).toBeNull()
    expect(emittedEvents(orders)).toContainEqual({
      type: 'claim-refused',
      iteration: 2,
      by: ['min-iterations'],
      reason: 'min-iterations is 3, this is iteration 2',
    })
    expect(workOrders(orders)).toEqual([{ type: 'run-attempt', iteration: 3, attempt: 1 }])
  })

  it('is accepted from the iteration of that number', () => {
    const { progress } = after(sprint, started(), claim, claim, claim)

    expect(progress).toMatchObject({ status: 'completed', ralphExit: { iteration: 3, finalSummary: 'done' } })
  })

  it('still completes the steps it names', () => {
    const { progress } = after(
      { ...sprint, dynamicSteps: buildSteps('alpha') },
      started(),
      reports({ status: 'goal-complete', completedStepIds: ['step-0'] }),
    )

    expect(progress.dynamicSteps).toMatchObject([{ status: 'completed' }])
  })
})

describe('a message without a valid report', () => {
  it('counts as an iteration; the next one starts after a pause', () => {
    const { progress, orders } = after(buildProgress(), started(), saysNothing('not JSON'))

    expect(progress.iterations).toMatchObject([{ number: 1, verdict: 'malformed', summary: 'not JSON' }])
    expect(progress).toMatchObject({
      failure: { class: 'protocol', reason: 'not JSON', count: 1 },
      live: [{ number: 2, stage: 'waiting', attempt: 1 }],
      dynamicSteps: [],
    })
    expect(workOrders(orders)).toEqual([{ type: 'wait', iteration: 2, until: noon + 250, reason: 'no valid report' }])
  })

  it('runs no hook', () => {
    const hook = { id: 'lint', run: 'x', parallel: false, enabled: true, onFail: 'record' } as const
    const { progress } = after(buildProgress({ perIterationHooks: [hook] }), started(), saysNothing())

    expect(progress.hookTasks).toEqual([])
  })

  it('increases the pause', () => {
    const again = [waitEnds(), saysNothing()]
    const { orders } = after(buildProgress(), started(), saysNothing(), ...again, ...again)

    expect(workOrders(orders)).toMatchObject([{ type: 'wait', iteration: 4, until: noon + 1000 }])
  })

  it('ten times in a row asks a human', () => {
    const nine = Array.from({ length: 9 }, (): Play[] => [saysNothing('not JSON'), waitEnds()]).flat()
    const before = after(buildProgress(), started(), ...nine).progress
    const { progress, orders } = after(before, saysNothing('not JSON'))

    expect(before).toMatchObject({ status: 'in-progress', stats: { currentIteration: 10 } })
    expect(progress).toMatchObject({
      status: 'needs-human',
      humanNeeded: { reason: 'The agent gave no valid report 10 times in a row' },
      live: [],
    })
    expect(workOrders(orders)).toEqual([])
  })

  it('is cleared by the next valid report', () => {
    const { progress } = after(buildProgress(), started(), saysNothing(), waitEnds(), reports())

    expect(progress).not.toHaveProperty('failure')
  })
})

describe('the cost', () => {
  const usage = { inputTokens: 10, outputTokens: 2, cacheReadTokens: 300, cacheWriteTokens: 40 }

  it('is summed over attempts, for the iteration and for the sprint', () => {
    const failed = attemptEnded(
      { kind: 'failed', class: 'crash', reason: 'x', retryable: true },
      { costUsd: 0.25, usage },
    )
    const { progress } = after(
      buildProgress(),
      started(),
      failed,
      waitEnds(),
      attemptEnded({ kind: 'report', report: buildReport() }, { costUsd: 0.5, usage }),
    )
    const twice = { inputTokens: 20, outputTokens: 4, cacheReadTokens: 600, cacheWriteTokens: 80 }

    expect(progress.iterations).toMatchObject([{ attempts: 2, costUsd: 0.75, usage: twice }])
    expect(progress.stats).toMatchObject({ costUsd: 0.75, usage: twice })
  })

  it('is unknown, not zero, as soon as an attempt has no price', () => {
    const unpriced = attemptEnded(
      { kind: 'failed', class: 'crash', reason: 'x', retryable: true },
      { costUsd: undefined },
    )
    const { progress } = after(buildProgress(), started(), unpriced, waitEnds(), reports())

    expect(progress.iterations).toMatchObject([{ costUsd: null }])
    expect(progress.stats.costUsd).toBeNull()
    expect(progress.live).toMatchObject([{ number: 2, costUsd: 0 }])
  })

  it('is zero if that is the price', () => {
    expect(after(buildProgress(), started(), reports()).progress.stats.costUsd).toBe(0)
  })
})
