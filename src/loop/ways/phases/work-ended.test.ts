import { describe, expect, it } from 'vitest'
import {
  after,
  buildHook,
  answered,
  hookEnds,
  interrupted,
  noon,
  pauseRequested,
  started,
  emittedEvents,
  workOrders,
} from '../../../../test/support/builders.ts'
import {
  buildItem,
  buildPart,
  buildPhase,
  buildStandard,
  asks,
  breaks,
  completes,
  fails,
  forEach,
  saysNothing,
  listStatuses,
  listInProgress,
  waitEndsOn,
} from '../../../../test/support/phases.ts'
import type { Edit } from '../../../contract/edit.ts'
import type { Fact } from '../../core/fact.ts'

const two = [
  buildPhase('a', { parallel: true }),
  buildPhase('b', { parallel: true }),
  buildPhase('c', { waitForParallel: true }),
]
const afterTurn: Fact = { type: 'stop-requested', at: noon, as: 'paused', when: 'turn' }

describe('completed work', () => {
  it('is recorded with its times and summary, and counted', () => {
    const { progress, orders } = after(
      buildStandard([buildPhase('a'), buildPhase('b')]),
      started(),
      completes('a', noon + 5),
    )

    expect(progress.phases?.[0]).toEqual({
      id: 'a',
      prompt: 'do a',
      status: 'completed',
      startedAt: noon,
      completedAt: noon + 5,
      summary: 'a ok',
    })
    expect(progress.stats).toMatchObject({ completedPhases: 1, currentIteration: 2 })
    expect(progress.current).toEqual({ phase: 1, step: null, subPhase: null })
    expect(progress.iterations).toMatchObject([{ number: 1, step: 'a', work: { phase: 'a' }, verdict: 'completed' }])
    expect(emittedEvents(orders)).toContainEqual({
      type: 'work-ended',
      work: { phase: 'a' },
      status: 'completed',
      text: 'a ok',
    })
  })

  it('completes the item and the phase if it is their last part', () => {
    const item = buildItem('x', { phases: [buildPart('write'), buildPart('test')] })
    const half = after(buildStandard([forEach('work', [item])]), started(), completes('work/x')).progress
    const { progress } = after(half, completes('work/x'))

    expect(half.current).toEqual({ phase: 0, step: 0, subPhase: 1 })
    expect(half.stats).toMatchObject({ completedPhases: 1, completedSteps: 0 })
    expect(listStatuses(progress)).toEqual({
      work: 'completed',
      'work/x': 'completed',
      'work/x/write': 'completed',
      'work/x/test': 'completed',
    })
    expect(progress).toMatchObject({
      status: 'completed',
      stats: { completedPhases: 3, completedSteps: 1, completedAt: noon },
    })
  })
})

describe('failed work', () => {
  it('blocks the sprint, with all details', () => {
    const { progress } = after(
      buildStandard([buildPhase('a'), buildPhase('b')]),
      started(),
      fails('a', 'boom', noon + 5),
    )

    expect(progress).toMatchObject({
      status: 'blocked',
      reason: 'phase a failed: boom',
      error: 'boom',
      failedPhase: 'a',
      blockedAt: noon + 5,
      live: [],
      iterations: [{ verdict: 'failed', summary: 'tried' }],
    })
    expect(progress.phases).toMatchObject([
      { status: 'blocked', error: 'boom', errorCategory: 'logic' },
      { status: 'pending' },
    ])
  })

  it('lets running work finish and starts nothing new', () => {
    const failed = after(buildStandard(two), started(), fails('a')).progress
    const { progress } = after(failed, completes('b'))

    expect(failed).toMatchObject({ status: 'in-progress', ending: { status: 'blocked' } })
    expect(progress).toMatchObject({ status: 'blocked', failedPhase: 'a' })
    expect(progress).not.toHaveProperty('ending')
    expect(listStatuses(progress)).toEqual({ a: 'blocked', b: 'completed', c: 'pending' })
  })

  it('is retried by the next run of a blocked sprint, with the previous error', () => {
    const blocked = after(buildStandard(two), started(), fails('a'), completes('b')).progress
    const { progress } = after(blocked, started())

    expect(progress.phases?.[0]).toMatchObject({ status: 'in-progress', error: 'boom' })
    expect(progress).not.toHaveProperty('failedPhase')
    expect(after(progress, completes('a')).progress.phases?.[0]).not.toHaveProperty('error', expect.anything())
  })

  it('is not retried by a run that only resumes after an interruption', () => {
    const interruptedThen = after(buildStandard(two), started(), fails('a'), interrupted).progress
    const { progress } = after(interruptedThen, breaks('b', { reason: 'aborted' }), started())

    expect(listStatuses(progress)).toMatchObject({ a: 'blocked' })
    expect(after(progress, completes('b')).progress).toMatchObject({
      status: 'blocked',
      failedPhase: 'a',
    })
  })

  it('is the result of a missing report, after one request', () => {
    const again = after(buildStandard([buildPhase('a')]), started(), saysNothing('a', 'session'))
    const { progress } = after(again.progress, saysNothing('a', 'session'))

    expect(workOrders(again.orders)).toEqual([{ type: 'run-attempt', iteration: 1, attempt: 2 }])
    expect(progress).toMatchObject({ status: 'blocked', phases: [{ errorCategory: 'validation' }] })
    expect(progress.iterations).toMatchObject([{ verdict: 'malformed', attempts: 2 }])
  })
})

describe('a question', () => {
  it('returns the work to pending until it is answered', () => {
    const { progress } = after(buildStandard([buildPhase('a')]), started(), asks('a'))

    expect(progress).toMatchObject({
      status: 'needs-human',
      humanNeeded: { reason: 'which one?' },
      phases: [{ status: 'pending' }],
    })
    expect(listInProgress(after(progress, answered('this one'), started()).progress)).toEqual(['a'])
  })

  it('is merged with another one asked at the same time', () => {
    const { progress } = after(buildStandard(two), started(), asks('a', 'red or blue?'), asks('b', 'big or small?'))

    expect(progress.humanNeeded).toMatchObject({ reason: 'red or blue?', details: 'Also: big or small?' })
  })

  it('takes precedence over a failure, which remains after the answer', () => {
    const asking = after(buildStandard(two), started(), fails('a'), asks('b')).progress
    const { progress } = after(asking, answered('yes'), started(), completes('b'))

    expect(asking).toMatchObject({ status: 'needs-human' })
    expect(progress).toMatchObject({ status: 'blocked', failedPhase: 'a' })
  })
})

describe('a breakpoint', () => {
  it('lets running work finish, then pauses', () => {
    const phases = [buildPhase('a', { parallel: true, break: true }), buildPhase('b'), buildPhase('c')]
    const reached = after(buildStandard(phases), started(), completes('a'))
    const { progress } = after(reached.progress, completes('b'))

    expect(emittedEvents(reached.orders)).toContainEqual({ type: 'breakpoint-reached', work: { phase: 'a' } })
    expect(reached.progress.status).toBe('in-progress')
    expect(progress).toMatchObject({
      status: 'paused-at-breakpoint',
      breakpointPhaseId: 'a',
      reason: 'breakpoint after a',
    })
    expect(listInProgress(after(progress, started()).progress)).toEqual(['c'])
  })

  it('survives an interruption that happens before all work has ended', () => {
    const phases = [buildPhase('a', { parallel: true, break: true }), buildPhase('b'), buildPhase('c')]
    const { progress } = after(buildStandard(phases), started(), completes('a'), interrupted, breaks('b'), started())

    expect(progress).toMatchObject({ status: 'in-progress', ending: { status: 'paused-at-breakpoint' } })
  })

  it('can be after a phase with items, or within an item', () => {
    const whole = buildStandard([forEach('work', [buildItem('x')], { break: true })])
    const within = buildStandard([
      forEach('work', [buildItem('x', { phases: [buildPart('p', { break: true }), buildPart('q')] })]),
    ])

    for (const progress of [whole, within])
      expect(after(progress, started(), completes('work/x')).progress).toMatchObject({
        status: 'paused-at-breakpoint',
        breakpointPhaseId: 'work',
      })
  })
})

describe('a stop', () => {
  it('after the iteration waits for all running work', () => {
    const one = after(buildStandard(two), started(), pauseRequested, completes('a')).progress

    expect(one).toMatchObject({ status: 'in-progress', live: [{ work: { phase: 'b' } }] })
    expect(after(one, completes('b')).progress).toMatchObject({ status: 'paused', live: [] })
  })

  it('after the turn leaves hooks to the next run', () => {
    const progress = buildStandard(two, { perIterationHooks: [buildHook()] })
    const stopped = after(progress, started(), afterTurn, completes('a'), completes('b'))
    const next = after(stopped.progress, started())

    expect(stopped.progress).toMatchObject({ status: 'paused', live: [{ stage: 'hooks' }, { stage: 'hooks' }] })
    expect(workOrders(stopped.orders)).toEqual([])
    expect(workOrders(next.orders)).toEqual([
      { type: 'run-hook', iteration: 1, hookId: 'lint' },
      { type: 'run-hook', iteration: 2, hookId: 'lint' },
    ])
  })

  it('does not start work that waits for a retry while others finish', () => {
    const waiting = after(buildStandard(two), started(), breaks('a', { class: 'overloaded' }), pauseRequested).progress
    const { progress, orders } = after(waiting, waitEndsOn('a'))

    expect(workOrders(orders)).toEqual([])
    expect(after(progress, completes('b')).progress).toMatchObject({
      status: 'paused',
      live: [{ stage: 'waiting', work: { phase: 'a' } }],
    })
  })
})

describe('an edit of PROGRESS.yaml', () => {
  const edited = (edit: Edit): Fact => ({ type: 'edited', at: noon, edits: [edit], refused: [] })

  it('can request a pause or a person', () => {
    const paused = after(
      buildStandard(two),
      started(),
      edited({ kind: 'pause' }),
      completes('a'),
      completes('b'),
    ).progress
    const asking = edited({ kind: 'needs-human', reason: 'look at this', details: '' })

    expect(paused.status).toBe('paused')
    expect(after(buildStandard(two), started(), asking, completes('a'), completes('b')).progress).toMatchObject({
      status: 'needs-human',
      reason: 'look at this',
    })
  })

  it('cannot add steps, which would never run', () => {
    const { progress, orders } = after(buildStandard(two), started(), edited({ kind: 'step-added', prompt: 'more' }))

    expect(progress.dynamicSteps).toEqual([])
    expect(emittedEvents(orders)).toMatchObject([{ type: 'note', level: 'warning' }])
  })
})

describe('limits', () => {
  it('of iterations start nothing new, and running work finishes', () => {
    const limited = after(buildStandard(two), started({ runLimits: { iterations: 1 } })).progress

    expect(listInProgress(limited)).toEqual(['a'])
    expect(limited.status).toBe('in-progress')
    expect(after(limited, completes('a')).progress.status).toBe('limit-reached')
  })

  it('of an account let others finish, and the rest waits for the reset', () => {
    const limit = breaks('a', { class: 'usage_limit', resetsAt: noon + 1000 })
    const parked = after(buildStandard(two), started({ agents: ['claude'] }), limit).progress
    const quiet = after(parked, completes('b')).progress
    const { progress, orders } = after(quiet, waitEndsOn('a', noon + 1000))

    expect(parked).toMatchObject({ status: 'parked', live: [{ stage: 'waiting' }, { stage: 'agent' }] })
    expect(quiet).toMatchObject({ status: 'parked', live: [{ stage: 'waiting' }] })
    expect(progress.status).toBe('in-progress')
    expect(workOrders(orders)).toEqual([{ type: 'run-attempt', iteration: 1, attempt: 2 }])
  })

  it('of an account hit by two iterations at the same time make both wait', () => {
    const limit = (name: string) => breaks(name, { class: 'usage_limit', resetsAt: noon + 1000 })
    const { progress, orders } = after(buildStandard(two), started({ agents: ['claude'] }), limit('a'), limit('b'))

    expect(progress.live.map(({ stage }) => stage)).toEqual(['waiting', 'waiting'])
    expect(workOrders(orders)).toEqual([{ type: 'wait', iteration: 2, until: noon + 1000, reason: 'exit code 1' }])
  })
})

describe('a hook that blocks', () => {
  it('lets running work finish', () => {
    const progress = buildStandard(two, { perIterationHooks: [buildHook({ onFail: 'block' })] })
    const failed = after(progress, started(), completes('a'), hookEnds('lint', { exitCode: 1 })).progress
    const { progress: ended } = after(failed, completes('b'), hookEnds('lint'))

    expect(failed.status).toBe('in-progress')
    expect(ended).toMatchObject({ status: 'blocked', error: 'hook lint failed: exit code 1' })
    expect(listStatuses(ended)).toEqual({ a: 'completed', b: 'completed', c: 'pending' })
  })
})

describe('checkpoints', () => {
  it('are made once for concurrent iterations, by the last of them', () => {
    const first = after(buildStandard(two, { checkpoint: true }), started(), completes('a'))
    const second = after(first.progress, completes('b'))

    expect(workOrders(first.orders)).toEqual([])
    expect(workOrders(second.orders)).toEqual([{ type: 'make-checkpoint', iteration: 2 }])
  })
})
