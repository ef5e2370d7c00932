import { describe, expect, it } from 'vitest'
import {
  after,
  buildLive,
  buildProgress,
  attemptEnded,
  fails,
  interrupted,
  noon,
  reports,
  started,
  waitEnds,
  workOrders,
} from '../../../test/support/builders.ts'
import { getRemainingBudget } from './limits.ts'
import { fromProgress } from '../progress-codec.ts'

const minute = 60_000
const hour = 60 * minute
const tomorrow = noon + 24 * hour

describe('the time of a sprint', () => {
  const sprint = buildProgress({ limits: { duration: hour } })

  it('does not pass while it is parked', () => {
    const { progress } = after(
      sprint,
      started(),
      fails({ class: 'usage_limit', resetsAt: noon + 5 * hour }, noon + minute),
      waitEnds(noon + 5 * hour),
      reports({}, noon + 5 * hour + minute),
    )

    expect(progress).toMatchObject({ status: 'in-progress', stats: { activeMs: 2 * minute } })
  })

  it('does not pass while it waits for another attempt', () => {
    const { progress } = after(
      sprint,
      started(),
      fails({}, noon + minute),
      waitEnds(noon + hour),
      reports({}, noon + hour),
    )

    expect(progress.stats.activeMs).toBe(minute)
  })

  it('does not pass between runs, even in the middle of an iteration', () => {
    const { progress } = after(
      sprint,
      started(),
      { ...interrupted, at: noon + minute },
      attemptEnded({ kind: 'aborted' }, { at: noon + minute }),
      started({ at: tomorrow }),
      waitEnds(tomorrow),
      reports({}, tomorrow + minute),
    )

    expect(progress).toMatchObject({ status: 'in-progress', stats: { activeMs: 2 * minute } })
  })

  it('does not pass after a crash', () => {
    const { progress } = after(sprint, started(), started({ at: tomorrow }), reports({}, tomorrow + minute))

    expect(progress.stats.activeMs).toBe(minute)
  })

  it('never goes back, whatever the clock does', () => {
    const { progress } = after(sprint, started(), reports({}, noon + minute), reports({}, noon))

    expect(progress.stats.activeMs).toBe(minute)
  })

  it('limits the attempt to what is left', () => {
    const { progress } = after(sprint, started(), reports({}, noon + 20 * minute))

    expect(getRemainingBudget(fromProgress(progress), progress.live[0])).toEqual({ durationMs: 40 * minute })
    expect(
      getRemainingBudget(fromProgress({ ...progress, runLimits: { durationMs: 30 * minute } }), buildLive()),
    ).toEqual({
      durationMs: 10 * minute,
    })
  })

  it('that runs out in the middle of an attempt ends the sprint, resumable', () => {
    const { progress, orders } = after(
      sprint,
      started(),
      fails({ class: 'budget', reason: 'it used more than its budget allows', retryable: false }, noon + hour),
    )

    expect(progress).toMatchObject({
      status: 'limit-reached',
      reason: '1h of work (limits.duration)',
      live: [{ number: 1, stage: 'waiting', attempt: 2 }],
    })
    expect(workOrders(orders)).toEqual([])
  })
})

describe('a budget that is spent', () => {
  it('does not request a missing report', () => {
    const mute = attemptEnded({ kind: 'malformed', reason: 'no block', session: 'abc' }, { costUsd: 1 })
    const { progress, orders } = after(buildProgress({ limits: { usd: 1 } }), started(), mute)

    expect(progress).toMatchObject({ status: 'limit-reached', iterations: [{ verdict: 'malformed' }] })
    expect(workOrders(orders)).toEqual([])
  })

  it('neither waits for a usage limit nor switches to another agent', () => {
    const limit = attemptEnded(
      { kind: 'failed', class: 'usage_limit', reason: 'limit', retryable: true, resetsAt: noon + hour },
      { costUsd: 1 },
    )
    const both = started({ agents: ['claude', 'codex'] })
    const { progress, orders } = after(buildProgress({ limits: { usd: 1 } }), both, limit)

    expect(progress).toMatchObject({ status: 'limit-reached', live: [{ stage: 'waiting' }] })
    expect(workOrders(orders)).toEqual([])
  })

  it('starts nothing in the next run, which reports it', () => {
    const spent = buildProgress({ limits: { usd: 1 }, stats: { costUsd: 2 } })
    const { progress, orders } = after(spent, started())

    expect(progress).toMatchObject({ status: 'limit-reached', reason: '$2.00 of $1 spent (limits.usd)' })
    expect(workOrders(orders)).toEqual([])
  })
})

it('an iteration over its own budget counts as a failed start', () => {
  const sprint = buildProgress({ limits: { iterationTokens: 100, failedStartsPerHour: 2, noProgress: 'off' } })
  const over = (at: number) => fails({ class: 'budget', reason: 'too much', retryable: false }, at)
  const { progress, orders } = after(sprint, started(), over(noon), over(noon + minute))

  expect(progress.iterations).toMatchObject([{ verdict: 'failed' }, { verdict: 'failed' }])
  expect(workOrders(orders)).toEqual([
    { type: 'wait', iteration: 3, until: noon + hour, reason: 'too many failed starts' },
  ])
})
