import { describe, expect, it } from 'vitest'
import {
  after,
  buildProgress,
  attemptEnded,
  fails,
  noon,
  pauseRequested,
  reports,
  saysNothing,
  started,
  emittedEvents,
  waitEnds,
  workOrders,
  type Play,
} from '../../../test/support/builders.ts'
import type { FailureClass } from '../../contract/outcome.ts'

const minute = 60_000

describe('a failed attempt', () => {
  it('is retried in the same iteration, after a pause', () => {
    const { progress, orders } = after(buildProgress(), started(), fails())

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
    expect(workOrders(after(progress, waitEnds()).orders)).toEqual([{ type: 'run-attempt', iteration: 1, attempt: 2 }])
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
  ])('of class %s stops the sprint after %i in a row', (failure, tries) => {
    const fail = fails({ class: failure, reason: 'again' })
    const before = Array.from({ length: tries - 1 }, () => [fail, waitEnds()]).flat()
    const lastTry = after(buildProgress(), started(), ...before).progress
    const { progress, orders } = after(lastTry, fail)

    expect(lastTry).toMatchObject({ status: 'in-progress', live: [{ stage: 'agent', attempt: tries }] })
    expect(progress).toMatchObject({
      status: 'failed',
      reason: `${failure}: again, ${tries} times in a row`,
      live: [{ number: 1, stage: 'waiting', attempt: tries + 1 }],
    })
    expect(workOrders(orders)).toEqual([])
  })

  it('with a full context is retried once with a smaller prompt, then a person is asked', () => {
    const full = fails({ class: 'context', reason: 'prompt is too long', retryable: false })
    const smaller = after(buildProgress(), started(), full)
    const { progress } = after(smaller.progress, waitEnds(), full)

    expect(smaller.progress.live).toMatchObject([{ attempt: 2, smallPrompt: true }])
    expect(progress).toMatchObject({ status: 'needs-human', reason: 'prompt is too long' })
  })

  it('waits longer each time', () => {
    const fail = fails({ class: 'overloaded' })
    const waits = [0, 1, 2].map((times) => {
      const before = Array.from({ length: times }, () => [fail, waitEnds()]).flat()
      return workOrders(after(buildProgress(), started(), ...before, fail).orders)
    })

    expect(waits).toMatchObject([[{ until: noon + 2000 }], [{ until: noon + 4000 }], [{ until: noon + 8000 }]])
  })

  it('that cannot be retried stops the sprint at once', () => {
    const { progress } = after(buildProgress(), started(), fails({ retryable: false, reason: 'bad flag' }))

    expect(progress).toMatchObject({ status: 'failed', reason: 'crash: bad flag' })
  })

  it('stops the sprint at once if the agent program is missing', () => {
    const { progress, orders } = after(buildProgress(), started(), fails({ class: 'not_found', reason: 'no claude' }))

    expect(progress).toMatchObject({ status: 'failed', reason: 'not_found: no claude' })
    expect(workOrders(orders)).toEqual([])
  })

  it('asks the question of the agent, with its options', () => {
    const question = {
      reason: 'May it deploy?',
      details: 'None of its options allows it.',
      options: ['Skip it', 'Never'],
    }
    const { progress, orders } = after(
      buildProgress(),
      started(),
      fails({ class: 'tool_denied', reason: 'May it deploy?', question }),
    )

    expect(progress).toMatchObject({ status: 'needs-human', humanNeeded: { ...question, askedAt: noon } })
    expect(emittedEvents(orders)).toContainEqual({ type: 'question-asked', iteration: 1, ...question })
  })

  it.each<FailureClass>(['auth', 'tool_denied', 'budget'])('of class %s asks a human at once', (failure) => {
    const { progress, orders } = after(buildProgress(), started(), fails({ class: failure, reason: 'log in first' }))

    expect(progress).toMatchObject({
      status: 'needs-human',
      reason: 'log in first',
      humanNeeded: { reason: 'log in first', details: `The agent cannot work (${failure}).`, askedAt: noon },
      live: [{ number: 1, stage: 'waiting', attempt: 2 }],
    })
    expect(emittedEvents(orders).map(({ type }) => type)).toEqual(['attempt-failed', 'question-asked', 'sprint-rested'])
    expect(workOrders(orders)).toEqual([])
  })

  it('keeps a requested pause: the sprint rests instead of waiting', () => {
    const { progress, orders } = after(buildProgress(), started(), pauseRequested, fails())

    expect(progress).toMatchObject({ status: 'paused', live: [{ number: 1, stage: 'waiting', attempt: 2 }] })
    expect(workOrders(orders)).toEqual([])
  })
})

describe('a usage limit', () => {
  const limit = fails({ class: 'usage_limit', reason: 'limit reached', resetsAt: noon + 300 * minute })

  it('parks the sprint until it resets, uncounted', () => {
    const { progress, orders } = after(buildProgress(), started(), limit)
    const until = noon + 300 * minute

    expect(progress).toMatchObject({
      status: 'parked',
      parked: { reason: 'limit reached', until },
      live: [{ number: 1, stage: 'waiting', attempt: 2 }],
      stats: { currentIteration: 1 },
    })
    expect(progress).not.toHaveProperty('failure')
    expect(workOrders(orders)).toEqual([{ type: 'wait', iteration: 1, until, reason: 'limit reached' }])
  })

  it('ends with the wait', () => {
    const { progress, orders } = after(buildProgress(), started(), limit, waitEnds())

    expect(progress).toMatchObject({ status: 'in-progress', live: [{ number: 1, stage: 'agent', attempt: 2 }] })
    expect(progress).not.toHaveProperty('parked')
    expect(workOrders(orders)).toEqual([{ type: 'run-attempt', iteration: 1, attempt: 2 }])
  })

  it('is probed every half hour if the reset is unknown', () => {
    const { orders } = after(buildProgress(), started(), fails({ class: 'usage_limit' }))

    expect(workOrders(orders)).toMatchObject([{ type: 'wait', until: noon + 30 * minute }])
  })

  it('is probed after a minute, not at once, if the reset has passed', () => {
    const { progress, orders } = after(buildProgress(), started(), fails({ class: 'usage_limit', resetsAt: noon - 1 }))

    expect(progress.parked).toMatchObject({ until: noon + minute })
    expect(workOrders(orders)).toMatchObject([{ type: 'wait', until: noon + minute }])
  })

  it('that ends right now is probed after a minute too', () => {
    const { orders } = after(buildProgress(), started(), fails({ class: 'usage_limit', resetsAt: noon }))

    expect(workOrders(orders)).toMatchObject([{ type: 'wait', until: noon + minute }])
  })

  it('survives a pause that was requested before', () => {
    const { progress, orders } = after(buildProgress(), started(), pauseRequested, limit)

    expect(progress).toMatchObject({ status: 'paused', parked: { until: noon + 300 * minute } })
    expect(workOrders(orders)).toEqual([])
    expect(workOrders(after(progress, started()).orders)).toMatchObject([{ type: 'wait', until: noon + 300 * minute }])
  })
})

describe('a missing report', () => {
  const mute = attemptEnded({ kind: 'malformed', reason: 'no block', session: 'abc' })

  it('is requested once more in the same session and iteration, at once', () => {
    const { progress, orders } = after(buildProgress(), started(), mute)

    expect(progress).toMatchObject({
      live: [{ number: 1, stage: 'agent', attempt: 2, repair: { session: 'abc', reason: 'no block' } }],
      iterations: [],
    })
    expect(progress).not.toHaveProperty('failure')
    expect(workOrders(orders)).toEqual([{ type: 'run-attempt', iteration: 1, attempt: 2 }])
  })

  it('that arrives then counts as usual', () => {
    const { progress } = after(buildProgress(), started(), mute, reports())

    expect(progress.iterations).toMatchObject([{ number: 1, verdict: 'continue', attempts: 2 }])
  })

  it('is requested only once', () => {
    const { progress, orders } = after(buildProgress(), started(), mute, mute)

    expect(progress.iterations).toMatchObject([{ number: 1, verdict: 'malformed', attempts: 2 }])
    expect(workOrders(orders)).toMatchObject([{ type: 'wait', iteration: 2 }])
  })

  it('is requested again in the next iteration', () => {
    const { orders } = after(buildProgress(), started(), mute, mute, waitEnds(), mute)

    expect(workOrders(orders)).toEqual([{ type: 'run-attempt', iteration: 2, attempt: 2 }])
  })

  it('is not requested in a session that crashed on the request: the next attempt gets the full prompt', () => {
    const { progress } = after(buildProgress(), started(), mute, fails())

    expect(progress.live).toMatchObject([{ number: 1, stage: 'waiting', attempt: 3 }])
    expect(progress.live[0]).not.toHaveProperty('repair')
  })
})

describe('a prompt that is too large', () => {
  const tooBig = fails({ class: 'context', reason: 'too long', retryable: false })

  it('is shortened for one more attempt', () => {
    const { progress, orders } = after(buildProgress(), started(), tooBig)

    expect(progress.live).toMatchObject([{ stage: 'waiting', attempt: 2, smallPrompt: true }])
    expect(workOrders(orders)).toMatchObject([{ type: 'wait', iteration: 1 }])
  })

  it('asks a human if that does not help', () => {
    const { progress } = after(buildProgress(), started(), tooBig, waitEnds(), tooBig)

    expect(progress).toMatchObject({ status: 'needs-human', reason: 'too long' })
  })
})

describe('a budget', () => {
  const overspent = (costUsd: number) =>
    attemptEnded({ kind: 'failed', class: 'budget', reason: 'too expensive', retryable: false }, { costUsd })

  it('of the sprint ends it, resumable', () => {
    const { progress } = after(buildProgress({ limits: { usd: 1 } }), started(), overspent(1.2))

    expect(progress).toMatchObject({
      status: 'limit-reached',
      reason: '$1.20 of $1 spent (limits.usd)',
      live: [{ number: 1, stage: 'waiting', attempt: 2 }],
    })
  })

  it('of an iteration ends only the iteration', () => {
    const { progress } = after(buildProgress({ limits: { iterationUsd: 1 } }), started(), overspent(1.2))

    expect(progress).toMatchObject({
      status: 'in-progress',
      iterations: [{ number: 1, verdict: 'failed', summary: 'too expensive' }],
      live: [{ number: 2 }],
    })
  })

  it('of the agent program asks a human', () => {
    const { progress } = after(buildProgress(), started(), overspent(0))

    expect(progress).toMatchObject({ status: 'needs-human', reason: 'too expensive' })
  })
})

describe('failed starts', () => {
  it('are at most limits.failed-starts-per-hour, whatever fails', () => {
    const sprint = buildProgress({ limits: { failedStartsPerHour: 3 } })
    const { progress, orders } = after(
      sprint,
      started(),
      fails({ class: 'crash' }, noon),
      waitEnds(noon + minute),
      saysNothing(),
      waitEnds(noon + 2 * minute),
      fails({ class: 'network' }, noon + 2 * minute),
    )

    expect(progress.failedStarts).toEqual([noon, noon, noon + 2 * minute])
    expect(workOrders(orders)).toMatchObject([{ type: 'wait', until: noon + 60 * minute }])
  })

  it('count for an hour', () => {
    const sprint = buildProgress({ limits: { failedStartsPerHour: 2 } })
    const late = noon + 61 * minute
    const { orders } = after(sprint, started(), fails({}, noon), waitEnds(late), fails({}, late))

    expect(workOrders(orders)).toMatchObject([{ type: 'wait', until: late + 4000 }])
  })

  it('include usage limits: one that ends at once and comes back does not make the sprint spin', () => {
    const sprint = buildProgress({ limits: { failedStartsPerHour: 3 } })
    const again = (at: number): Play[] => [
      fails({ class: 'usage_limit', resetsAt: at + 1000 }, at),
      waitEnds(at + 1000),
    ]
    const { progress, orders } = after(
      sprint,
      started(),
      ...again(noon),
      ...again(noon + 1000),
      fails({ class: 'usage_limit', resetsAt: noon + 3000 }, noon + 2000),
    )

    expect(progress).toMatchObject({ status: 'parked', parked: { until: noon + 60 * minute } })
    expect(workOrders(orders)).toMatchObject([{ type: 'wait', until: noon + 60 * minute }])
  })
})

describe('fallback agents', () => {
  const limited = (hours: number, at = noon): Play =>
    fails({ class: 'usage_limit', resetsAt: noon + hours * 60 * minute }, at)
  const both = started({ agents: ['claude', 'codex'] })

  it('take over the iteration when the first choice reaches its usage limit, which is reported', () => {
    const { progress, orders } = after(buildProgress(), both, limited(5))

    expect(progress).toMatchObject({ status: 'in-progress', live: [{ number: 1, attempt: 2, agent: 'codex' }] })
    expect(workOrders(orders)).toEqual([{ type: 'run-attempt', iteration: 1, attempt: 2 }])
    expect(emittedEvents(orders)).toContainEqual({
      type: 'note',
      level: 'warning',
      text: 'claude has reached its usage limit; codex takes over',
    })
  })

  it('work as long as the limit lasts; then the first choice is back', () => {
    const during = after(buildProgress(), both, limited(5), reports({}, noon + minute)).progress
    const afterwards = after(during, reports({}, noon + 301 * minute)).progress

    expect(during.live).toMatchObject([{ number: 2, agent: 'codex' }])
    expect(afterwards.live).toMatchObject([{ number: 3, agent: 'claude' }])
    expect(afterwards.iterations.map(({ agent }) => agent)).toEqual(['codex', 'codex'])
  })

  it('park the sprint when all are limited, until the first of them is free', () => {
    const { progress, orders } = after(buildProgress(), both, limited(5), limited(2))
    const until = noon + 120 * minute

    expect(progress).toMatchObject({ status: 'parked', parked: { until }, live: [{ attempt: 3, agent: 'codex' }] })
    expect(workOrders(orders)).toMatchObject([{ type: 'wait', until }])
  })

  it('do not take over for any other failure', () => {
    const { progress } = after(buildProgress(), both, fails())

    expect(progress.live).toMatchObject([{ stage: 'waiting', agent: 'claude' }])
  })
})
