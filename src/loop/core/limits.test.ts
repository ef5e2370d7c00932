import { describe, expect, it } from 'vitest'
import {
  after,
  buildLive,
  buildProgress,
  attemptEnded,
  buildReport,
  fails,
  noon,
  reports,
  saysNothing,
  started,
  emittedEvents,
  waitEnds,
  workOrders,
} from '../../../test/support/builders.ts'
import { noUsage } from '../../contract/outcome.ts'
import { unlimitedIterations } from '../../contract/progress.ts'
import { getRemainingBudget, describeReachedLimit } from './limits.ts'
import { fromProgress } from '../progress-codec.ts'

const spend = (costUsd: number) => attemptEnded({ kind: 'report', report: buildReport() }, { costUsd })

const use = (inputTokens: number, outputTokens: number) =>
  attemptEnded(
    { kind: 'report', report: buildReport() },
    { usage: { ...noUsage, inputTokens, outputTokens, cacheReadTokens: 5000 } },
  )

it('finds no limit reached where none is set', () => {
  expect(
    describeReachedLimit(
      fromProgress(buildProgress({ stats: { currentIteration: 999_999, costUsd: 1e6, activeMs: 1e12 } })),
    ),
  ).toBeUndefined()
})

describe('the number of iterations', () => {
  it('is named in the singular if it is 1', () => {
    const { progress } = after(buildProgress({ limits: { iterations: 1 } }), started(), reports())

    expect(progress.reason).toBe('1 iteration (limits.iterations)')
  })

  it('ends the sprint before the iteration over the limit', () => {
    const { progress, orders } = after(buildProgress({ limits: { iterations: 2 } }), started(), reports(), reports())

    expect(progress).toMatchObject({
      status: 'limit-reached',
      reason: '2 iterations (limits.iterations)',
      live: [],
      stats: { currentIteration: 2, maxIterations: 2 },
    })
    expect(emittedEvents(orders).at(-1)).toMatchObject({ type: 'sprint-rested', status: 'limit-reached' })
    expect(workOrders(orders)).toEqual([])
  })

  it('includes iterations without a report', () => {
    const { progress } = after(
      buildProgress({ limits: { iterations: 2 } }),
      started(),
      saysNothing(),
      waitEnds(),
      saysNothing(),
    )

    expect(progress).toMatchObject({ status: 'limit-reached', stats: { currentIteration: 2 } })
  })

  it('lets the last iteration reach the goal', () => {
    const { progress } = after(
      buildProgress({ limits: { iterations: 1 } }),
      started(),
      reports({ status: 'goal-complete' }),
    )

    expect(progress.status).toBe('completed')
  })

  it('counts over the whole sprint, across runs', () => {
    const rested = after(buildProgress(), started({ runLimits: { iterations: 2 } }), reports(), reports()).progress
    const { progress } = after(rested, started({ runLimits: { iterations: 3 } }), reports())

    expect(progress).toMatchObject({ status: 'limit-reached', stats: { currentIteration: 3 } })
    expect(progress.iterations.map(({ number }) => number)).toEqual([1, 2, 3])
  })

  it('starts nothing if it is reached before the run begins', () => {
    const rested = after(buildProgress(), started({ runLimits: { iterations: 1 } }), reports()).progress
    const { progress, orders } = after(rested, started({ runLimits: { iterations: 1 } }))

    expect(progress.status).toBe('limit-reached')
    expect(emittedEvents(orders).map(({ type }) => type)).toEqual(['sprint-started', 'sprint-rested'])
    expect(workOrders(orders)).toEqual([])
  })

  it('given as a flag applies to that run only', () => {
    const rested = after(buildProgress(), started({ runLimits: { iterations: 1 } }), reports()).progress
    const { progress, orders } = after(rested, started())

    expect(rested).toMatchObject({ runLimits: { iterations: 1 }, stats: { maxIterations: 1 } })
    expect(progress).not.toHaveProperty('runLimits')
    expect(progress.stats.maxIterations).toBe(unlimitedIterations)
    expect(workOrders(orders)).toEqual([{ type: 'run-attempt', iteration: 2, attempt: 1 }])
  })

  it('given as a flag overrides the configured one, even if it is higher', () => {
    const { progress } = after(
      buildProgress({ limits: { iterations: 1 } }),
      started({ runLimits: { iterations: 5 } }),
      reports(),
    )

    expect(progress).toMatchObject({ status: 'in-progress', stats: { maxIterations: 5 } })
  })
})

describe('the limit in USD', () => {
  it('ends the sprint once it is reached', () => {
    const { progress } = after(buildProgress({ limits: { usd: 1 } }), started(), spend(0.6), spend(0.4))

    expect(progress).toMatchObject({ status: 'limit-reached', reason: '$1.00 of $1 spent (limits.usd)' })
  })

  it('given as a flag applies to that run only and wins', () => {
    const sprint = buildProgress({ limits: { usd: 10 } })
    const rested = after(sprint, started({ runLimits: { usd: 0.5 } }), spend(0.6)).progress

    expect(rested).toMatchObject({ status: 'limit-reached', reason: '$0.60 of $0.50 spent (limits.usd)' })
    expect(after(rested, started()).progress.status).toBe('in-progress')
  })

  it('also applies before another attempt of the same iteration', () => {
    const crash = { kind: 'failed', class: 'crash', reason: 'exit code 1', retryable: true } as const
    const { progress, orders } = after(
      buildProgress({ limits: { usd: 1 } }),
      started(),
      attemptEnded(crash, { costUsd: 1.5 }),
      waitEnds(),
    )

    expect(progress).toMatchObject({
      status: 'limit-reached',
      reason: '$1.50 of $1 spent (limits.usd)',
      live: [{ number: 1, stage: 'waiting', attempt: 2 }],
    })
    expect(workOrders(orders)).toEqual([])
    expect(workOrders(after(progress, started({ runLimits: { usd: 5 } }), waitEnds()).orders)).toEqual([
      { type: 'run-attempt', iteration: 1, attempt: 2 },
    ])
  })
})

describe('tokens', () => {
  it('are input and output, without the cache', () => {
    const once = after(buildProgress({ limits: { tokens: 100 } }), started(), use(30, 20)).progress
    const twice = after(once, use(30, 20)).progress

    expect(once.status).toBe('in-progress')
    expect(twice).toMatchObject({ status: 'limit-reached', reason: '100 of 100 tokens (limits.tokens)' })
  })
})

describe('the limit of time', () => {
  it('counts the time during which iterations were live', () => {
    const once = after(buildProgress({ limits: { duration: 60_000 } }), started(), reports({}, noon + 59_999)).progress
    const twice = after(once, reports({}, noon + 60_000)).progress

    expect(once).toMatchObject({ status: 'in-progress', stats: { activeMs: 59_999 } })
    expect(twice).toMatchObject({ status: 'limit-reached', reason: '1m of work (limits.duration)' })
  })

  it('does not count rests between two iterations', () => {
    const tomorrow = noon + 86_400_000
    const rested = after(
      buildProgress({ limits: { iterations: 1, duration: 60_000 } }),
      started(),
      reports({}, noon + 1000),
    )
    const { progress } = after(
      rested.progress,
      started({ at: tomorrow, runLimits: { iterations: 5 } }),
      reports({}, tomorrow + 1000),
    )

    expect(progress).toMatchObject({ status: 'in-progress', stats: { activeMs: 2000 } })
  })

  it('given as a flag applies to that run only and wins', () => {
    const rested = after(
      buildProgress(),
      started({ runLimits: { durationMs: 1000 } }),
      reports({}, noon + 1000),
    ).progress

    expect(rested).toMatchObject({ status: 'limit-reached', reason: '1s of work (limits.duration)' })
    expect(after(rested, started()).progress.status).toBe('in-progress')
  })
})

describe('what an attempt may still use', () => {
  const used = { ...noUsage, inputTokens: 60, outputTokens: 10, cacheReadTokens: 900 }

  it('is unlimited without limits', () => {
    expect(getRemainingBudget(fromProgress(buildProgress()), buildLive())).toEqual({})
  })

  it('is what the sprint has left', () => {
    const progress = buildProgress({ limits: { usd: 5, tokens: 100 }, stats: { costUsd: 2, usage: used } })

    expect(getRemainingBudget(fromProgress(progress), buildLive())).toEqual({ usd: 3, tokens: 30 })
  })

  it('is what the iteration has left, if that is less', () => {
    const progress = buildProgress({
      limits: { usd: 5, tokens: 1000, iterationUsd: 1, iterationTokens: 80 },
      stats: { costUsd: 2 },
    })

    expect(getRemainingBudget(fromProgress(progress), buildLive({ costUsd: 0.25, usage: used }))).toEqual({
      usd: 0.75,
      tokens: 10,
    })
  })

  it('is what the sprint has left, if the iteration may have more', () => {
    const progress = buildProgress({ limits: { usd: 5, iterationUsd: 4 }, stats: { costUsd: 3 } })

    expect(getRemainingBudget(fromProgress(progress), buildLive())).toEqual({ usd: 2 })
  })

  it('follows the flag of this run', () => {
    expect(
      getRemainingBudget(fromProgress(buildProgress({ limits: { usd: 5 }, runLimits: { usd: 1 } })), buildLive()),
    ).toEqual({
      usd: 1,
    })
  })
})

it('waiting for a usage limit does not reach any limit of the sprint', () => {
  const { progress } = after(
    buildProgress({ limits: { iterations: 1 } }),
    started(),
    fails({ class: 'usage_limit', resetsAt: noon + 1000 }),
    waitEnds(),
  )

  expect(progress).toMatchObject({ status: 'in-progress', live: [{ number: 1, stage: 'agent', attempt: 2 }] })
})
