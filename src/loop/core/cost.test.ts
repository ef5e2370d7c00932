import { describe, expect, it } from 'vitest'
import {
  after,
  buildHook,
  buildLive,
  buildProgress,
  buildReport,
  attemptEnded,
  hookEnds,
  noon,
  reports,
  started,
  emittedEvents,
  waitEnds,
  type Play,
} from '../../../test/support/builders.ts'
import { noUsage } from '../../contract/outcome.ts'
import { getRemainingBudget } from './limits.ts'
import { fromProgress } from '../progress-codec.ts'

const usage = { inputTokens: 10, outputTokens: 2, cacheReadTokens: 300, cacheWriteTokens: 40 }
const works = (costUsd?: number): Play => attemptEnded({ kind: 'report', report: buildReport() }, { costUsd, usage })
const crash = { kind: 'failed', class: 'crash', reason: 'x', retryable: true } as const
const crashes = (costUsd?: number): Play => attemptEnded(crash, { costUsd })
const isNote = ({ type }: { readonly type: string }) => type === 'note'

describe('an attempt without a price', () => {
  it('makes the sum unknown, and the known part is kept', () => {
    const { progress } = after(buildProgress(), started(), works(0.5), works(), works(0.25))

    expect(progress.stats).toMatchObject({ costUsd: null, spentUsd: 0.75 })
    expect(progress.iterations.map(({ costUsd }) => costUsd)).toEqual([0.5, null, 0.25])
  })

  it('does not disable the limit in USD', () => {
    const { progress } = after(buildProgress({ limits: { usd: 1 } }), started(), works(0.6), works(), works(0.4))

    expect(progress).toMatchObject({
      status: 'limit-reached',
      reason: 'at least $1.00 of $1 spent (limits.usd)',
    })
  })

  it('does not give the next attempt the whole budget again', () => {
    const { progress } = after(
      buildProgress({ limits: { usd: 1, iterationUsd: 0.9 } }),
      started(),
      crashes(0.6),
      waitEnds(),
      crashes(),
      waitEnds(),
    )
    const [live = buildLive()] = progress.live

    expect(getRemainingBudget(fromProgress(progress), live).usd).toBeCloseTo(0.3)
  })

  it('is reported once if there is a limit in USD, which cannot count it', () => {
    const first = after(buildProgress({ limits: { usd: 5 } }), started(), works(0.5), works())
    const again = after(first.progress, works())

    expect(emittedEvents(first.orders).filter(isNote)).toEqual([
      {
        type: 'note',
        level: 'warning',
        text: 'some of the work has no known price: the limits in USD only count the rest, so far $0.50',
      },
    ])
    expect(emittedEvents(again.orders).filter(isNote)).toEqual([])
  })

  it('is not reported without a limit in USD', () => {
    expect(emittedEvents(after(buildProgress(), started(), works()).orders).filter(isNote)).toEqual([])
  })
})

describe('a hook that is a prompt', () => {
  const sprint = buildProgress({ perIterationHooks: [buildHook({ prompt: 'learn' })] })

  it('counts for the sprint, not for the iteration', () => {
    const { progress } = after(sprint, started(), works(0.5), hookEnds('lint', { spent: { usage, costUsd: 0.25 } }))

    expect(progress.stats).toMatchObject({ costUsd: 0.75, usage: { inputTokens: 20 } })
    expect(progress.iterations).toMatchObject([{ costUsd: 0.5, usage: { inputTokens: 10 } }])
    expect(progress.hookTasks).toMatchObject([{ costUsd: 0.25 }])
  })

  it('without a price also makes the sum unknown', () => {
    const { progress } = after(sprint, started(), works(0.5), hookEnds('lint', { spent: { usage } }))

    expect(progress.stats).toMatchObject({ costUsd: null, spentUsd: 0.5 })
    expect(progress.hookTasks).toMatchObject([{ costUsd: null }])
  })
})

it('a command hook costs nothing', () => {
  const { progress } = after(buildProgress({ perIterationHooks: [buildHook()] }), started(), works(0.5), hookEnds())

  expect(progress.stats.costUsd).toBe(0.5)
  expect(progress.hookTasks[0]).not.toHaveProperty('costUsd')
})

it('the cost of a review counts for its iteration', () => {
  const { progress } = after(
    buildProgress({ review: { agent: 'codex' } }),
    started(),
    attemptEnded({ kind: 'report', report: buildReport({ status: 'goal-complete' }) }, { costUsd: 0.5, model: 'opus' }),
    {
      type: 'review-ended',
      at: noon,
      iteration: 1,
      passed: true,
      summary: 'fine',
      spent: { usage, costUsd: 0.25, costEstimated: true },
    },
  )

  expect(progress.iterations).toMatchObject([{ costUsd: 0.75, costEstimated: true, model: 'opus', usage }])
  expect(progress.stats.costUsd).toBe(0.75)
})

it('the receipt names the model, and whether its cost is an estimate', () => {
  const estimated = attemptEnded(
    { kind: 'report', report: buildReport() },
    { costUsd: 0.5, costEstimated: true, model: 'gpt-5' },
  )
  const { progress } = after(buildProgress(), started(), estimated, reports())

  expect(progress.iterations[0]).toMatchObject({ model: 'gpt-5', costEstimated: true, costUsd: 0.5, usage: noUsage })
  expect(progress.iterations[1]).not.toHaveProperty('costEstimated')
})
