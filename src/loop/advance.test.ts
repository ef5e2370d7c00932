import { describe, expect, it } from 'vitest'
import {
  buildCheck,
  after,
  buildHook,
  buildHookTask,
  buildLive,
  answered,
  buildProgress,
  attemptEnded,
  checksEnd,
  fails,
  frozen,
  green,
  hookEnds,
  interrupted,
  newSteps,
  noon,
  pauseRequested,
  reports,
  started,
  buildSteps,
  emittedEvents,
  waitEnds,
  workOrders,
  type Play,
} from '../../test/support/builders.ts'
import type { Progress } from '../contract/progress.ts'
import { advance } from './advance.ts'
import { buildIterationPrompt } from './prompts.ts'
import type { Fact } from './core/fact.ts'
import type { Order } from './core/order.ts'

/** A sprint in its second iteration, in every possible stage. */
const sprint = buildProgress({ doneWhen: [buildCheck()], perIterationHooks: [buildHook()] })
const claim = reports({ status: 'goal-complete' })
const toSecond: Play[] = [started(), reports(), hookEnds()]
const inAgent = after(sprint, ...toSecond).progress
const inWaiting = after(inAgent, fails({}, noon)).progress
const inParked = after(inAgent, fails({ class: 'usage_limit', resetsAt: noon + 9000 })).progress
const inChecks = after(inAgent, claim).progress
const inHooks = after(inAgent, reports()).progress

const aborted = attemptEnded({ kind: 'aborted' })

describe('a run', () => {
  it('begins with the first iteration', () => {
    const { progress, orders } = after(buildProgress(), started())

    expect(progress).toMatchObject({
      rev: 1,
      status: 'in-progress',
      live: [{ number: 1, mode: 'planning', stage: 'agent', attempt: 1, startedAt: noon }],
      stats: { startedAt: noon, currentIteration: 1 },
    })
    expect(orders).toEqual([
      { type: 'tell', event: { type: 'sprint-started', resumed: false } },
      { type: 'tell', event: { type: 'iteration-started', iteration: 1, mode: 'planning' } },
      { type: 'run-attempt', iteration: 1, attempt: 1 },
    ])
  })

  it('keeps the time of the first start', () => {
    const { progress, orders } = after(inAgent, interrupted, started({ at: noon + 5000 }))

    expect(progress.stats.startedAt).toBe(noon)
    expect(emittedEvents(orders)).toContainEqual({ type: 'sprint-started', resumed: true })
  })

  it.each([
    ['completed', after(buildProgress(), started(), claim).progress],
    ['needs-human', after(buildProgress(), started(), reports({ status: 'needs-human' })).progress],
  ] as const)('of a sprint that is %s starts nothing (C5)', (status, rested) => {
    const { progress, orders } = after(rested, started())

    expect(progress).toEqual({ ...rested, rev: rested.rev + 1 })
    expect(emittedEvents(orders)).toMatchObject([{ type: 'sprint-rested', status }])
    expect(workOrders(orders)).toEqual([])
  })

  it('resumes a hook that was running when the completed sprint crashed', () => {
    const background = buildHook({ id: 'background', parallel: true })
    const rested = after(buildProgress({ perIterationHooks: [background] }), started(), claim).progress
    const { progress, orders } = after(rested, started())

    expect(workOrders(orders)).toEqual([{ type: 'run-hook', iteration: 1, hookId: 'background' }])
    expect(after(progress, hookEnds('background')).progress).toMatchObject({
      status: 'completed',
      hookTasks: [{ status: 'completed' }],
    })
  })
})

describe('after a crash', () => {
  it.each<[string, Progress, unknown]>([
    ['the agent', inAgent, { type: 'run-attempt', iteration: 2, attempt: 1 }],
    ['a pause between attempts', inWaiting, { type: 'wait', iteration: 2, until: 0, reason: 'resumed' }],
    ['a usage limit', inParked, { type: 'wait', iteration: 2, until: noon + 9000, reason: 'exit code 1' }],
    ['the checks', inChecks, { type: 'run-checks', iteration: 2, names: ['npm test'] }],
    ['a hook', inHooks, { type: 'run-hook', iteration: 2, hookId: 'lint' }],
  ])('during %s the same order is issued again', (_, crashed, order) => {
    const { progress, orders } = after(crashed, started())

    expect(workOrders(orders)).toEqual([order])
    expect(progress.live).toEqual(crashed.live)
    expect(progress.stats.currentIteration).toBe(2)
  })

  it('the sprint still waits for a usage limit', () => {
    expect(after(inParked, started()).progress).toMatchObject({ status: 'parked', parked: { until: noon + 9000 } })
  })

  it('parallel hooks resume beside the iteration', () => {
    const background = buildHook({ id: 'background', parallel: true })
    const { orders } = after(buildProgress({ perIterationHooks: [background] }), started(), reports(), started())

    expect(workOrders(orders)).toEqual([
      { type: 'run-attempt', iteration: 2, attempt: 1 },
      { type: 'run-hook', iteration: 1, hookId: 'background' },
    ])
  })
})

describe('a requested pause', () => {
  it.each<[string, Progress, Play[]]>([
    ['the agent works', inAgent, [reports(), hookEnds()]],
    ['checks run', inChecks, [checksEnd({ ...green(), passed: false }), hookEnds()]],
    ['a hook runs', inHooks, [hookEnds()]],
  ])('lets the iteration finish while %s; the next run starts the next one (C8)', (_, running, rest) => {
    const requested = after(running, pauseRequested)
    const { progress, orders } = after(requested.progress, ...rest)
    const resumed = after(progress, started())

    expect(requested.orders).toEqual([])
    expect(requested.progress).toMatchObject({ status: 'in-progress', live: running.live })
    expect(progress).toMatchObject({ status: 'paused', reason: 'paused on request', live: [] })
    expect(workOrders(orders)).toEqual([])
    expect(resumed.progress.iterations.map(({ number }) => number)).toEqual([1, 2])
    expect(workOrders(resumed.orders)).toEqual([{ type: 'run-attempt', iteration: 3, attempt: 1 }])
  })

  it.each<[string, Progress, number]>([
    ['between two attempts', inWaiting, 0],
    ['in a usage limit', inParked, noon + 9000],
  ])('rests at once %s; the next run continues to wait', (_, waiting, until) => {
    const { progress, orders } = after(waiting, pauseRequested)
    const resumed = after(progress, started())

    expect(progress).toMatchObject({ status: 'paused', live: [{ number: 2, stage: 'waiting', attempt: 2 }] })
    expect(workOrders(orders)).toEqual([{ type: 'abort', what: 'waits' }])
    expect(workOrders(resumed.orders)).toMatchObject([{ type: 'wait', iteration: 2, until }])
    expect(workOrders(after(resumed.progress, waitEnds()).orders)).toEqual([
      { type: 'run-attempt', iteration: 2, attempt: 2 },
    ])
  })

  it('does not prevent reaching the goal', () => {
    const { progress } = after(inChecks, pauseRequested, checksEnd(green()), hookEnds())

    expect(progress.status).toBe('completed')
  })

  it('changes nothing in a sprint at rest', () => {
    const rested = after(inAgent, interrupted).progress

    expect(after(rested, pauseRequested)).toEqual({ progress: { ...rested, rev: rested.rev + 1 }, orders: [] })
  })

  it('keeps a wait that ends at the same time from starting anything', () => {
    expect(workOrders(after(inWaiting, pauseRequested, waitEnds()).orders)).toEqual([])
  })
})

describe('an interrupt', () => {
  it.each<[string, Progress, Play[], Partial<Order>]>([
    ['the agent works', inAgent, [aborted], { type: 'wait', iteration: 2, until: 0, reason: 'resumed' }],
    ['it waits', inWaiting, [], { type: 'wait', iteration: 2, until: 0, reason: 'resumed' }],
    ['it is parked', inParked, [], { type: 'wait', iteration: 2, until: noon + 9000 }],
    ['checks run', inChecks, [], { type: 'run-checks', iteration: 2, names: ['npm test'] }],
    [
      'a hook runs',
      inHooks,
      [hookEnds('lint', { exitCode: null, error: 'aborted' })],
      { type: 'run-attempt', iteration: 3 },
    ],
  ])('while %s ends everything now; the next run continues there', (_, running, late, order) => {
    const stopped = after(running, interrupted)
    const { progress, orders } = after(stopped.progress, ...late)
    const resumed = after(progress, started())

    expect(workOrders(stopped.orders)).toEqual([{ type: 'abort', what: 'all' }])
    expect(emittedEvents(stopped.orders)).toEqual([
      { type: 'sprint-rested', status: 'interrupted', reason: 'interrupted on request' },
    ])
    expect(progress).toMatchObject({ status: 'interrupted', live: [{ number: 2 }] })
    expect(workOrders(late.length > 0 ? orders : [])).toEqual([])
    expect(workOrders(resumed.orders)).toMatchObject([order])
  })

  it('gives the live iteration another attempt', () => {
    const { progress, orders } = after(inAgent, interrupted, aborted, started(), waitEnds())

    expect(progress.live).toMatchObject([{ number: 2, stage: 'agent', attempt: 2 }])
    expect(workOrders(orders)).toEqual([{ type: 'run-attempt', iteration: 2, attempt: 2 }])
  })

  it('keeps a report that arrives at the same time, and orders nothing for it', () => {
    const late = after(inAgent, interrupted, reports({ status: 'goal-complete', pendingSteps: newSteps('alpha') }))

    expect(late.progress).toMatchObject({
      status: 'interrupted',
      dynamicSteps: [{ prompt: 'alpha' }],
      live: [{ number: 2, stage: 'checks' }],
    })
    expect(workOrders(late.orders)).toEqual([])
    expect(workOrders(after(late.progress, started()).orders)).toEqual([
      { type: 'run-checks', iteration: 2, names: ['npm test'] },
    ])
  })

  it('keeps a check result that arrives at the same time; the next run ends the iteration', () => {
    const late = after(inChecks, interrupted, checksEnd(green()))
    const resumed = after(late.progress, started())

    expect(late.progress).toMatchObject({ status: 'interrupted', live: [{ stage: 'hooks', verdict: 'accepted' }] })
    expect(workOrders(late.orders)).toEqual([])
    expect(workOrders(resumed.orders)).toEqual([{ type: 'run-hook', iteration: 2, hookId: 'lint' }])
    expect(after(resumed.progress, hookEnds()).progress).toMatchObject({ status: 'completed', iterations: [{}, {}] })
  })

  it.each([
    ['completed', after(buildProgress(), started(), claim).progress],
    ['needs-human', after(buildProgress(), started(), reports({ status: 'needs-human' })).progress],
    ['paused', after(inWaiting, pauseRequested).progress],
    ['failed', after(buildProgress(), started(), fails({ class: 'not_found' })).progress],
    ['limit-reached', after(buildProgress({ limits: { iterations: 1 } }), started(), reports()).progress],
    ['interrupted', after(inAgent, interrupted).progress],
  ])('of a sprint that is %s ends its hooks and changes nothing else', (_, rested) => {
    expect(after(rested, interrupted)).toEqual({
      progress: { ...rested, rev: rested.rev + 1 },
      orders: [{ type: 'abort', what: 'all' }],
    })
  })
})

describe('an answer', () => {
  const asking = after(buildProgress(), started(), reports({ status: 'needs-human' })).progress

  it('closes the question and leaves the sprint ready to resume', () => {
    const { progress, orders } = after(asking, answered('the key is in the vault'))

    expect(progress).toMatchObject({
      status: 'paused',
      answer: { question: 'no key', answer: 'the key is in the vault', at: noon },
    })
    expect(progress).not.toHaveProperty('humanNeeded')
    expect(progress).not.toHaveProperty('reason')
    expect(orders).toEqual([])
  })

  it('is in the next prompt, until the agent has reported', () => {
    const resumed = after(asking, answered('the key is in the vault'), started()).progress
    const next = after(resumed, reports()).progress

    expect(resumed.live).toMatchObject([{ number: 2 }])
    expect(buildIterationPrompt(resumed, resumed.live[0] ?? buildLive())).toContain('the key is in the vault')
    expect(buildIterationPrompt(next, next.live[0] ?? buildLive())).not.toContain('the key is in the vault')
  })

  it('to a failed login gives the same iteration another attempt', () => {
    const { orders } = after(
      buildProgress(),
      started(),
      fails({ class: 'auth' }),
      answered('done'),
      started(),
      waitEnds(),
    )

    expect(workOrders(orders)).toEqual([{ type: 'run-attempt', iteration: 1, attempt: 2 }])
  })
})

describe('an illegal fact', () => {
  const waitEnded: Fact = { type: 'wait-ended', at: noon, iteration: 2 }
  const checksEnded: Fact = { type: 'checks-ended', at: noon, iteration: 2, results: [] }
  const hookEnded: Fact = { type: 'hook-ended', at: noon, iteration: 2, hookId: 'lint', exitCode: 0 }
  const asking = after(inAgent, reports({ status: 'needs-human' })).progress

  it.each<[string, Progress, Play]>([
    ['an attempt ends that is not the live one', inAgent, attemptEnded({ kind: 'aborted' }, { attempt: 2 })],
    ['an attempt of another iteration ends', inAgent, attemptEnded({ kind: 'aborted' }, { iteration: 1 })],
    ['an attempt ends that has not started yet', inWaiting, reports()],
    ['an attempt ends for the second time, in checks', inChecks, claim],
    ['an attempt ends for the second time, in hooks', inHooks, reports()],
    ['an attempt ends before the first start', buildProgress(), reports()],
    ['a wait ends while the agent works', inAgent, waitEnded],
    ['a wait of another iteration ends', inWaiting, { ...waitEnded, iteration: 1 }],
    ['checks end while none run', inAgent, checksEnded],
    ['checks of another iteration end', inChecks, { ...checksEnded, iteration: 1 }],
    ['a hook ends that does not run', inAgent, hookEnded],
    ['a hook ends for the second time', inAgent, { ...hookEnded, iteration: 1 }],
    ['an unknown hook ends', inHooks, { ...hookEnded, hookId: 'toString' }],
    ['an answer comes without a question', inAgent, answered('yes')],
    ['an answer comes before the question was asked', asking, answered('yes')],
    ['an answer comes twice', after(asking, hookEnds(), answered('yes')).progress, answered('no')],
  ])('is refused: %s', (_, progress, play) => {
    const before = structuredClone(progress)

    expect(() => after(progress, play)).toThrow(expect.objectContaining({ name: 'RalphError', code: 'FACT_ILLEGAL' }))
    expect(progress).toEqual(before)
  })

  it('names the fact, the sprint and the reason', () => {
    expect(() => advance(inAgent, waitEnded)).toThrow(
      'wait-ended cannot happen to 2026-01-18_sprint (in-progress): it is not waiting',
    )
  })
})

it('returns a new progress with the next rev and leaves the old one unchanged', () => {
  const before = frozen(buildProgress({ dynamicSteps: buildSteps('alpha'), hookTasks: [buildHookTask()] }))
  const copy = structuredClone(before)
  const { progress } = advance(before, started())

  expect(before).toEqual(copy)
  expect(progress.rev).toBe(before.rev + 1)
})
