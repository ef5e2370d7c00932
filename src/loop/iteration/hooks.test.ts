import { describe, expect, it } from 'vitest'
import {
  after,
  buildHook,
  buildHookTask,
  buildLive,
  buildProgress,
  fails,
  hookEnds,
  interrupted,
  noon,
  pauseRequested,
  reports,
  started,
  emittedEvents,
  workOrders,
} from '../../../test/support/builders.ts'
import { historyLimits } from '../../contract/progress.ts'
import { buildIterationPrompt } from '../prompts.ts'

const first = buildHook({ id: 'first' })
const second = buildHook({ id: 'second' })
const background = buildHook({ id: 'background', parallel: true })
const failed = { exitCode: 3, output: 'boom' }

describe('hooks after an iteration', () => {
  it('run one by one if sequential, in order, then the parallel ones at once', () => {
    const hooks = [background, first, buildHook({ id: 'other', parallel: true }), second]
    const reported = after(buildProgress({ perIterationHooks: hooks }), started(), reports())
    const next = after(reported.progress, hookEnds('first'))
    const last = after(next.progress, hookEnds('second'))

    expect(workOrders(reported.orders)).toEqual([{ type: 'run-hook', iteration: 1, hookId: 'first' }])
    expect(reported.progress.live).toMatchObject([{ number: 1, stage: 'hooks' }])
    expect(workOrders(next.orders)).toEqual([{ type: 'run-hook', iteration: 1, hookId: 'second' }])
    expect(workOrders(last.orders)).toEqual([
      { type: 'run-hook', iteration: 1, hookId: 'background' },
      { type: 'run-hook', iteration: 1, hookId: 'other' },
      { type: 'run-attempt', iteration: 2, attempt: 1 },
    ])
  })

  it('are recorded as tasks, from running to their end', () => {
    const running = after(buildProgress({ perIterationHooks: [first] }), started(), reports({}, noon + 1)).progress
    const ended = after(running, hookEnds('first', { at: noon + 9 })).progress
    const task = buildHookTask({
      hookId: 'first',
      status: 'running',
      spawnedAt: noon + 1,
      transcript: 'transcripts/iter-1-first.jsonl',
    })

    expect(running.hookTasks).toEqual([task])
    expect(ended.hookTasks).toEqual([{ ...task, status: 'completed', completedAt: noon + 9, exitCode: 0 }])
  })

  it('do not run if they are disabled', () => {
    const { progress, orders } = after(
      buildProgress({
        perIterationHooks: [buildHook({ enabled: false }), buildHook({ id: 'off', parallel: true, enabled: false })],
      }),
      started(),
      reports(),
    )

    expect(progress.hookTasks).toEqual([])
    expect(workOrders(orders)).toEqual([{ type: 'run-attempt', iteration: 2, attempt: 1 }])
  })

  it('run again in every iteration', () => {
    const { progress } = after(
      buildProgress({ perIterationHooks: [first] }),
      started(),
      reports(),
      hookEnds('first'),
      reports(),
      hookEnds('first'),
    )

    expect(progress.hookTasks.map(({ iteration, status }) => [iteration, status])).toEqual([
      [1, 'completed'],
      [2, 'completed'],
    ])
  })

  it('also run after the last iteration; the sprint completes without waiting for parallel ones', () => {
    const claimed = after(
      buildProgress({ perIterationHooks: [first, background] }),
      started(),
      reports({ status: 'goal-complete' }),
    )
    const ended = after(claimed.progress, hookEnds('first'))

    expect(claimed.progress.status).toBe('in-progress')
    expect(ended.progress.status).toBe('completed')
    expect(workOrders(ended.orders)).toEqual([{ type: 'run-hook', iteration: 1, hookId: 'background' }])
  })

  it('stay bounded in number, but a running one is never dropped', () => {
    const old = Array.from({ length: historyLimits.hookTasks }, (_, n) =>
      buildHookTask({ iteration: n + 1, hookId: 'first' }),
    )
    const stuck = buildHookTask({ hookId: 'background', status: 'running' })
    const { progress } = after(
      buildProgress({
        status: 'in-progress',
        perIterationHooks: [first],
        hookTasks: [stuck, ...old],
        live: [buildLive({ number: 2000 })],
      }),
      reports(),
    )

    expect(progress.hookTasks).toHaveLength(historyLimits.hookTasks + 1)
    expect(progress.hookTasks[0]).toEqual(stuck)
    expect(progress.hookTasks.at(-1)).toMatchObject({ iteration: 2000, hookId: 'first', status: 'running' })
  })
})

describe('a parallel hook', () => {
  const running = after(buildProgress({ perIterationHooks: [background] }), started(), reports()).progress

  it('may end while the next iteration works; only its end is recorded', () => {
    const { progress, orders } = after(running, hookEnds('background'))

    expect(progress).toEqual({
      ...running,
      rev: running.rev + 1,
      hookTasks: [{ ...running.hookTasks[0], status: 'completed', completedAt: noon, exitCode: 0 }],
    })
    expect(emittedEvents(orders)).toMatchObject([{ type: 'hook-ended', iteration: 1, hook: 'background', ok: true }])
    expect(workOrders(orders)).toEqual([])
  })

  it('may end after the sprint came to rest; only its end is recorded', () => {
    const rested = after(running, reports({ status: 'goal-complete' }), hookEnds('background')).progress
    const { progress, orders } = after(rested, hookEnds('background', { exitCode: 1 }))

    expect(progress.status).toBe('completed')
    expect(progress.hookTasks.map(({ iteration, status }) => [iteration, status])).toEqual([
      [1, 'failed'],
      [2, 'completed'],
    ])
    expect(workOrders(orders)).toEqual([])
  })

  it('may end while a hook of the next iteration is running, without affecting it', () => {
    const waiting = after(
      buildProgress({ perIterationHooks: [first, background] }),
      started(),
      reports(),
      hookEnds('first'),
      reports(),
    )
    const { progress, orders } = after(waiting.progress, hookEnds('background'))

    expect(workOrders(waiting.orders)).toEqual([{ type: 'run-hook', iteration: 2, hookId: 'first' }])
    expect(progress.live).toEqual(waiting.progress.live)
    expect(workOrders(orders)).toEqual([])
  })

  it('can run once per iteration at the same time', () => {
    const { progress } = after(running, reports(), hookEnds('background', { iteration: 1 }))

    expect(progress.hookTasks.map(({ iteration, status }) => [iteration, status])).toEqual([
      [1, 'completed'],
      [2, 'running'],
    ])
  })
})

describe('a failed hook', () => {
  it('is recorded with its exit code and error, and the loop continues', () => {
    const { progress, orders } = after(
      buildProgress({ perIterationHooks: [first] }),
      started(),
      reports(),
      hookEnds('first', { exitCode: null, error: 'timed out' }),
    )

    expect(progress.hookTasks).toMatchObject([{ status: 'failed', exitCode: null, error: 'timed out' }])
    expect(progress).not.toHaveProperty('feedback')
    expect(workOrders(orders)).toEqual([{ type: 'run-attempt', iteration: 2, attempt: 1 }])
  })

  it('counts as failed if it was ended, even if it then exits with 0', () => {
    const { progress, orders } = after(
      buildProgress({ perIterationHooks: [first] }),
      started(),
      reports(),
      hookEnds('first', { exitCode: 0, error: 'timed out' }),
    )

    expect(progress.hookTasks).toMatchObject([{ status: 'failed', exitCode: 0, error: 'timed out' }])
    expect(emittedEvents(orders)[0]).toMatchObject({ type: 'hook-ended', ok: false })
  })
})

describe('on-fail: feed-back', () => {
  const sequential = buildHook({ id: 'first', onFail: 'feed-back' })
  const parallel = buildHook({ id: 'background', parallel: true, onFail: 'feed-back' })

  it('puts the output into the next prompt', () => {
    const { progress } = after(
      buildProgress({ perIterationHooks: [sequential] }),
      started(),
      reports(),
      hookEnds('first', failed),
    )

    expect(progress.feedback).toEqual([{ hookId: 'first', output: 'boom' }])
    expect(buildIterationPrompt(progress, progress.live[0] ?? buildLive())).toContain('boom')
  })

  it('shows the error or the exit code if there is no output', () => {
    const reported = after(buildProgress({ perIterationHooks: [sequential] }), started(), reports()).progress

    expect(after(reported, hookEnds('first', { exitCode: 3 })).progress.feedback).toMatchObject([
      { output: 'exit code 3' },
    ])
    expect(after(reported, hookEnds('first', { exitCode: null, error: 'hung' })).progress.feedback).toMatchObject([
      { output: 'hung' },
    ])
  })

  it('is shown once', () => {
    const { progress } = after(
      buildProgress({ perIterationHooks: [sequential] }),
      started(),
      reports(),
      hookEnds('first', failed),
      reports(),
      hookEnds('first'),
    )

    expect(progress).not.toHaveProperty('feedback')
  })

  it('of a parallel hook reaches the first prompt built after its end', () => {
    const during = after(
      buildProgress({ perIterationHooks: [parallel] }),
      started(),
      reports({}, noon + 10),
      hookEnds('background', { ...failed, at: noon + 20 }),
      reports({}, noon + 30),
    ).progress

    expect(during.live).toMatchObject([{ number: 3 }])
    expect(during.feedback).toEqual([{ hookId: 'background', output: 'boom' }])
    expect(after(during, reports({}, noon + 40)).progress).not.toHaveProperty('feedback')
  })
})

describe('on-fail: block', () => {
  const sequential = buildHook({ id: 'first', onFail: 'block' })
  const parallel = buildHook({ id: 'background', parallel: true, onFail: 'block' })

  it('stops the sprint after the iteration', () => {
    const { progress, orders } = after(
      buildProgress({ perIterationHooks: [sequential] }),
      started(),
      reports(),
      hookEnds('first', failed),
    )

    expect(progress).toMatchObject({ status: 'blocked', reason: 'hook first failed: exit code 3', live: [] })
    expect(emittedEvents(orders).at(-1)).toEqual({
      type: 'sprint-rested',
      status: 'blocked',
      reason: 'hook first failed: exit code 3',
    })
    expect(workOrders(orders)).toEqual([])
  })

  it('lets a resumed sprint continue with the next iteration', () => {
    const { progress, orders } = after(
      buildProgress({ perIterationHooks: [sequential] }),
      started(),
      reports(),
      hookEnds('first', failed),
      started(),
    )

    expect(progress.status).toBe('in-progress')
    expect(workOrders(orders)).toEqual([{ type: 'run-attempt', iteration: 2, attempt: 1 }])
  })

  it('of a parallel hook lets the live iteration finish first', () => {
    const blocked = after(
      buildProgress({ perIterationHooks: [parallel] }),
      started(),
      reports(),
      hookEnds('background', failed),
    )
    const { progress, orders } = after(blocked.progress, reports())

    expect(workOrders(blocked.orders)).toEqual([])
    expect(progress).toMatchObject({ status: 'blocked', reason: 'hook background failed: exit code 3', live: [] })
    expect(emittedEvents(orders).at(-1)).toMatchObject({ type: 'sprint-rested', status: 'blocked' })
  })

  it('of a parallel hook rests at once if the current attempt fails', () => {
    const { progress, orders } = after(
      buildProgress({ perIterationHooks: [parallel] }),
      started(),
      reports(),
      hookEnds('background', failed),
      fails(),
    )

    expect(progress).toMatchObject({ status: 'blocked', live: [{ number: 2, stage: 'waiting', attempt: 2 }] })
    expect(emittedEvents(orders).at(-1)).toMatchObject({ type: 'sprint-rested', status: 'blocked' })
    expect(workOrders(orders)).toEqual([])
  })

  it.each([
    ['waits to try again', 'crash'],
    ['is parked', 'usage_limit'],
  ] as const)('of a parallel hook rests at once if the sprint only %s', (_, failure) => {
    const { progress, orders } = after(
      buildProgress({ perIterationHooks: [parallel] }),
      started(),
      reports(),
      fails({ class: failure }),
      hookEnds('background', failed),
    )

    expect(progress).toMatchObject({ status: 'blocked', reason: 'hook background failed: exit code 3' })
    expect(emittedEvents(orders).at(-1)).toMatchObject({ type: 'sprint-rested', status: 'blocked' })
    expect(workOrders(orders)).toEqual([{ type: 'abort', what: 'waits' }])
  })

  it('changes nothing once the goal is reached', () => {
    const { progress } = after(
      buildProgress({ perIterationHooks: [parallel] }),
      started(),
      reports({ status: 'goal-complete' }),
      hookEnds('background', failed),
    )

    expect(progress).toMatchObject({ status: 'completed', hookTasks: [{ status: 'failed' }] })
  })
})

describe('when the sprint is stopped while a sequential hook runs', () => {
  const hooks = [first, second, background]

  it('a pause lets all hooks of the iteration run first', () => {
    const paused = after(buildProgress({ perIterationHooks: hooks }), started(), reports(), pauseRequested)
    const next = after(paused.progress, hookEnds('first'))
    const last = after(next.progress, hookEnds('second'))

    expect(workOrders(next.orders)).toEqual([{ type: 'run-hook', iteration: 1, hookId: 'second' }])
    expect(workOrders(last.orders)).toEqual([{ type: 'run-hook', iteration: 1, hookId: 'background' }])
    expect(last.progress).toMatchObject({ status: 'paused', live: [], iterations: [{ number: 1 }] })
  })

  it('an interrupt starts no further hook; the next run does', () => {
    const ended = after(
      buildProgress({ perIterationHooks: hooks }),
      started(),
      reports(),
      interrupted,
      hookEnds('first', { exitCode: null, error: 'aborted' }),
    )
    const resumed = after(ended.progress, started())

    expect(ended.progress).toMatchObject({ status: 'interrupted', live: [{ number: 1, stage: 'hooks' }] })
    expect(workOrders(ended.orders)).toEqual([])
    expect(workOrders(resumed.orders)).toEqual([{ type: 'run-hook', iteration: 1, hookId: 'second' }])
  })

  it('a crash leaves it running; the next run resumes it', () => {
    const { orders } = after(buildProgress({ perIterationHooks: hooks }), started(), reports(), started())

    expect(workOrders(orders)).toEqual([{ type: 'run-hook', iteration: 1, hookId: 'first' }])
  })
})
