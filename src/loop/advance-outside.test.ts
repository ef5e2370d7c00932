import { describe, expect, it } from 'vitest'
import {
  buildCheck,
  after,
  buildHook,
  buildLive,
  buildProgress,
  attemptEnded,
  checksEnd,
  fails,
  green,
  hookEnds,
  noon,
  pauseRequested,
  reports,
  started,
  buildSteps,
  emittedEvents,
  waitEnds,
  workOrders,
} from '../../test/support/builders.ts'
import type { Edit } from '../contract/edit.ts'
import type { Fact } from './core/fact.ts'
import { buildIterationPrompt } from './prompts.ts'

const stop = (as: 'paused' | 'interrupted', when: 'iteration' | 'turn' | 'now'): Fact => ({
  type: 'stop-requested',
  at: noon,
  as,
  when,
})
const tellAgent = (text: string, { now = false, at = noon } = {}): Fact => ({ type: 'told', at, text, now })
const edited = (...edits: readonly Edit[]): Fact => ({ type: 'edited', at: noon, edits, refused: [] })
const aborted = attemptEnded({ kind: 'aborted' })
const sprint = buildProgress({ doneWhen: [buildCheck()], perIterationHooks: [buildHook()] })
const running = after(sprint, started()).progress

describe('a stop after the turn', () => {
  it('leaves the checks of a claim to the next run', () => {
    const stopped = after(running, stop('paused', 'turn'), reports({ status: 'goal-complete' }))
    const resumed = after(stopped.progress, started())

    expect(stopped.progress).toMatchObject({ status: 'paused', live: [{ number: 1, stage: 'checks' }] })
    expect(workOrders(stopped.orders)).toEqual([])
    expect(workOrders(resumed.orders)).toEqual([{ type: 'run-checks', iteration: 1, names: ['npm test'] }])
    expect(after(resumed.progress, checksEnd(green()), hookEnds()).progress.status).toBe('completed')
  })

  it('leaves the hooks to the next run if no check is due', () => {
    const stopped = after(running, stop('interrupted', 'turn'), reports())

    expect(stopped.progress).toMatchObject({ status: 'interrupted', live: [{ number: 1, stage: 'hooks' }] })
    expect(workOrders(stopped.orders)).toEqual([])
    expect(workOrders(after(stopped.progress, started()).orders)).toEqual([
      { type: 'run-hook', iteration: 1, hookId: 'lint' },
    ])
  })

  it('rests instead of waiting for another attempt', () => {
    const { progress, orders } = after(running, stop('paused', 'turn'), fails())

    expect(progress).toMatchObject({ status: 'paused', live: [{ stage: 'waiting', attempt: 2 }] })
    expect(workOrders(orders)).toEqual([])
  })
})

it('an immediate stop can also be a pause', () => {
  const stopped = after(running, stop('paused', 'now'))
  const resumed = after(stopped.progress, aborted, started(), waitEnds())

  expect(stopped.progress).toMatchObject({ status: 'paused', reason: 'paused on request' })
  expect(workOrders(stopped.orders)).toEqual([{ type: 'abort', what: 'all' }])
  expect(workOrders(resumed.orders)).toEqual([{ type: 'run-attempt', iteration: 1, attempt: 2 }])
})

it('a stop after the iteration can also be an interrupt', () => {
  const { progress } = after(running, stop('interrupted', 'iteration'), reports(), hookEnds())

  expect(progress).toMatchObject({ status: 'interrupted', live: [], iterations: [{ number: 1 }] })
})

describe('a message from a user', () => {
  it('is in the next prompt, and only there', () => {
    const next = after(
      buildProgress(),
      started(),
      tellAgent('mind the tests', { at: noon + 5 }),
      reports({}, noon + 9),
    ).progress
    const then = after(next, reports({}, noon + 10)).progress

    expect(buildIterationPrompt(next, next.live[0] ?? buildLive())).toContain('## A person says\n\nmind the tests')
    expect(then).not.toHaveProperty('messages')
  })

  it('does not interrupt the agent unless sent with now', () => {
    expect(after(running, tellAgent('later')).orders).toEqual([])
    expect(after(running, tellAgent('now', { now: true })).orders).toEqual([{ type: 'abort', what: 'attempts' }])
  })

  it('sent with now starts another attempt at once, with the message in its prompt', () => {
    const { progress, orders } = after(running, tellAgent('mind the tests', { now: true }), aborted)

    expect(workOrders(orders)).toEqual([{ type: 'run-attempt', iteration: 1, attempt: 2 }])
    expect(progress.live).toMatchObject([{ number: 1, stage: 'agent', attempt: 2 }])
    expect(buildIterationPrompt(progress, progress.live[0] ?? buildLive())).toContain('mind the tests')
  })

  it('sent with now waits for the next run if the sprint was interrupted', () => {
    const stopped = after(running, tellAgent('x', { now: true }), stop('interrupted', 'now'), aborted)

    expect(stopped.progress).toMatchObject({ status: 'interrupted', live: [{ stage: 'waiting', attempt: 2 }] })
    expect(workOrders(stopped.orders)).toEqual([])
    expect(after(stopped.progress, started()).progress.messages).toMatchObject([{ text: 'x' }])
  })

  it('is kept for the next prompt if the agent reports at the same moment', () => {
    const next = after(
      buildProgress(),
      started(),
      tellAgent('x', { now: true, at: noon + 5 }),
      reports({}, noon + 9),
    ).progress

    expect(next).toMatchObject({ live: [{ number: 2 }], messages: [{ text: 'x' }] })
  })

  it('ends nothing while no agent works', () => {
    const waiting = after(running, fails()).progress

    expect(after(waiting, tellAgent('x', { now: true })).orders).toEqual([])
    expect(after(buildProgress(), tellAgent('x', { now: true })).progress.messages).toMatchObject([{ text: 'x' }])
  })

  it('does not keep a blocking hook from resting the sprint', () => {
    const block = buildHook({ parallel: true, onFail: 'block' })
    const { progress, orders } = after(
      buildProgress({ perIterationHooks: [block] }),
      started(),
      reports(),
      tellAgent('x', { now: true }),
      hookEnds('lint', { exitCode: 1 }),
      aborted,
    )

    expect(progress).toMatchObject({ status: 'blocked', live: [{ stage: 'waiting', attempt: 2 }] })
    expect(emittedEvents(orders)).toMatchObject([{ type: 'sprint-rested', status: 'blocked' }])
  })
})

describe('an edit of PROGRESS.yaml', () => {
  it('changes the steps while the iteration continues', () => {
    const { progress, orders } = after(
      buildProgress({ dynamicSteps: buildSteps('alpha', 'beta') }),
      started(),
      edited({ kind: 'step-added', prompt: 'gamma' }, { kind: 'step-completed', id: 'step-0' }),
    )

    expect(progress.dynamicSteps.map(({ id, status }) => [id, status])).toEqual([
      ['step-0', 'completed'],
      ['step-1', 'pending'],
      ['step-2', 'pending'],
    ])
    expect(progress.stats).toMatchObject({ totalSteps: 3, completedSteps: 1 })
    expect(workOrders(orders)).toEqual([])
  })

  it('reports what was applied and what was not', () => {
    const fact: Fact = {
      type: 'edited',
      at: noon,
      edits: [{ kind: 'step-added', prompt: 'x' }],
      refused: ['no such step'],
    }

    expect(emittedEvents(after(running, fact).orders)).toEqual([
      { type: 'note', level: 'info', text: 'applied from PROGRESS.yaml: step-added' },
      { type: 'note', level: 'warning', text: 'not applied from PROGRESS.yaml: no such step' },
    ])
  })

  it('to paused requests a pause', () => {
    const waiting = after(running, fails({ class: 'usage_limit', resetsAt: noon + 9000 })).progress
    const edit = after(waiting, edited({ kind: 'pause' }))
    const pausing = after(waiting, pauseRequested)

    expect(edit.progress).toEqual(pausing.progress)
    expect(workOrders(edit.orders)).toEqual([{ type: 'abort', what: 'waits' }])
    expect(after(running, edited({ kind: 'pause' })).progress).toEqual(after(running, pauseRequested).progress)
  })

  it('to needs-human asks when the iteration has ended', () => {
    const edit = edited({ kind: 'needs-human', reason: 'which one?', details: 'a or b' })
    const { progress, orders } = after(buildProgress(), started(), edit, reports())

    expect(progress).toMatchObject({ status: 'needs-human', humanNeeded: { reason: 'which one?', details: 'a or b' } })
    expect(workOrders(orders)).toEqual([])
  })
})
