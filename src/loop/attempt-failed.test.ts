import { describe, expect, it } from 'vitest'
import {
  after,
  aProgress,
  fails,
  noon,
  pauseRequested,
  started,
  told,
  waitEnds,
  work,
} from '../../test/support/builders.ts'
import type { FailureClass } from '../contract/outcome.ts'

const minute = 60_000

describe('a failed attempt', () => {
  it('is tried again in the same iteration, after a pause', () => {
    const { progress, orders } = after(aProgress(), started(), fails())

    expect(progress).toMatchObject({
      status: 'in-progress',
      failure: { class: 'crash', reason: 'exit code 1', count: 1 },
      live: [{ number: 1, stage: 'waiting', attempt: 2 }],
      iterations: [],
    })
    expect(orders).toEqual([
      {
        type: 'tell',
        event: {
          type: 'attempt-failed',
          iteration: 1,
          attempt: 1,
          class: 'crash',
          reason: 'exit code 1',
          retryInMs: 2000,
        },
      },
      { type: 'wait', iteration: 1, until: noon + 2000, reason: 'exit code 1' },
    ])
    expect(work(after(progress, waitEnds()).orders)).toEqual([{ type: 'run-attempt', iteration: 1, attempt: 2 }])
  })

  it.each<[FailureClass, number]>([
    ['crash', 5],
    ['unknown', 5],
    ['protocol', 5],
    ['hang', 3],
    ['max_turns', 3],
    ['output_cap', 2],
    ['overloaded', 20],
    ['rate_limit', 20],
    ['network', 20],
  ])('of class %s stops the sprint when it is number %i in a row', (failure, tries) => {
    const fail = fails({ class: failure, reason: 'again' })
    const before = Array.from({ length: tries - 1 }, () => [fail, waitEnds()]).flat()
    const lastTry = after(aProgress(), started(), ...before).progress
    const { progress, orders } = after(lastTry, fail)

    expect(lastTry).toMatchObject({ status: 'in-progress', live: [{ stage: 'agent', attempt: tries }] })
    expect(progress).toMatchObject({
      status: 'failed',
      reason: `${failure}: again, ${tries} times in a row`,
      live: [{ number: 1, stage: 'waiting', attempt: tries + 1 }],
    })
    expect(work(orders)).toEqual([])
  })

  it('for a full context is tried once more with a smaller prompt, then a person is asked', () => {
    const full = fails({ class: 'context', reason: 'prompt is too long', retryable: false })
    const smaller = after(aProgress(), started(), full)
    const { progress } = after(smaller.progress, waitEnds(), full)

    expect(smaller.progress.live).toMatchObject([{ attempt: 2, smallPrompt: true }])
    expect(progress).toMatchObject({ status: 'needs-human', reason: 'prompt is too long' })
  })

  it('waits longer each time', () => {
    const fail = fails({ class: 'overloaded' })
    const waits = [0, 1, 2].map((times) => {
      const before = Array.from({ length: times }, () => [fail, waitEnds()]).flat()
      return work(after(aProgress(), started(), ...before, fail).orders)
    })

    expect(waits).toMatchObject([[{ until: noon + 2000 }], [{ until: noon + 4000 }], [{ until: noon + 8000 }]])
  })

  it('that cannot be retried stops the sprint at once', () => {
    const { progress } = after(aProgress(), started(), fails({ retryable: false, reason: 'bad flag' }))

    expect(progress).toMatchObject({ status: 'failed', reason: 'crash: bad flag' })
  })

  it('stops the sprint at once if the agent program is not there', () => {
    const { progress, orders } = after(aProgress(), started(), fails({ class: 'not_found', reason: 'no claude' }))

    expect(progress).toMatchObject({ status: 'failed', reason: 'not_found: no claude' })
    expect(work(orders)).toEqual([])
  })

  it.each<FailureClass>(['auth', 'tool_denied', 'budget'])('of class %s asks a human at once', (failure) => {
    const { progress, orders } = after(aProgress(), started(), fails({ class: failure, reason: 'log in first' }))

    expect(progress).toMatchObject({
      status: 'needs-human',
      reason: 'log in first',
      humanNeeded: { reason: 'log in first', details: `The agent cannot work (${failure}).`, askedAt: noon },
      live: [{ number: 1, stage: 'waiting', attempt: 2 }],
    })
    expect(told(orders).map(({ type }) => type)).toEqual(['attempt-failed', 'question-asked', 'sprint-rested'])
    expect(work(orders)).toEqual([])
  })

  it('leaves a requested pause in force: the sprint rests instead of waiting', () => {
    const { progress, orders } = after(aProgress(), started(), pauseRequested, fails())

    expect(progress).toMatchObject({ status: 'paused', live: [{ number: 1, stage: 'waiting', attempt: 2 }] })
    expect(work(orders)).toEqual([])
  })
})

describe('a usage limit', () => {
  const limit = fails({ class: 'usage_limit', reason: 'limit reached', resetsAt: noon + 300 * minute })

  it('parks the sprint until it resets, uncounted', () => {
    const { progress, orders } = after(aProgress(), started(), limit)
    const until = noon + 300 * minute

    expect(progress).toMatchObject({
      status: 'parked',
      parked: { reason: 'limit reached', until },
      live: [{ number: 1, stage: 'waiting', attempt: 2 }],
      stats: { currentIteration: 1 },
    })
    expect(progress).not.toHaveProperty('failure')
    expect(work(orders)).toEqual([{ type: 'wait', iteration: 1, until, reason: 'limit reached' }])
  })

  it('is over when the wait is', () => {
    const { progress, orders } = after(aProgress(), started(), limit, waitEnds())

    expect(progress).toMatchObject({ status: 'in-progress', live: [{ number: 1, stage: 'agent', attempt: 2 }] })
    expect(progress).not.toHaveProperty('parked')
    expect(work(orders)).toEqual([{ type: 'run-attempt', iteration: 1, attempt: 2 }])
  })

  it('is probed every half hour if nobody knows when it resets', () => {
    const { orders } = after(aProgress(), started(), fails({ class: 'usage_limit' }))

    expect(work(orders)).toMatchObject([{ type: 'wait', until: noon + 30 * minute }])
  })

  it('is probed after a minute, not at once, if it should be over already', () => {
    const { progress, orders } = after(aProgress(), started(), fails({ class: 'usage_limit', resetsAt: noon - 1 }))

    expect(progress.parked).toMatchObject({ until: noon + minute })
    expect(work(orders)).toMatchObject([{ type: 'wait', until: noon + minute }])
  })

  it('survives a pause that was requested before', () => {
    const { progress, orders } = after(aProgress(), started(), pauseRequested, limit)

    expect(progress).toMatchObject({ status: 'paused', parked: { until: noon + 300 * minute } })
    expect(work(orders)).toEqual([])
    expect(work(after(progress, started()).orders)).toMatchObject([{ type: 'wait', until: noon + 300 * minute }])
  })
})
