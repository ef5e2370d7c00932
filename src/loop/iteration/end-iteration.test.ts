import { describe, expect, it } from 'vitest'
import {
  buildCheck,
  after,
  buildLive,
  buildProgress,
  buildReport,
  attemptEnded,
  checksEnd,
  green,
  newSteps,
  noon,
  red,
  reports,
  started,
  buildSteps,
  emittedEvents,
  waitEnds,
  workOrders,
  type Play,
} from '../../../test/support/builders.ts'
import { historyLimits } from '../../contract/progress.ts'
import type { Fact } from '../core/fact.ts'
import { buildIterationPrompt } from '../prompts.ts'

/** The agent reports to continue, with a changed or an unchanged work tree. */
const works = (changed: boolean, report = buildReport()): Play => attemptEnded({ kind: 'report', report }, { changed })
const idles = works(false)
const mute: Play = attemptEnded({ kind: 'malformed', reason: 'no report' }, { changed: false })
const times = (count: number, ...plays: readonly Play[]) => Array.from({ length: count }, () => plays).flat()

describe('iterations without progress', () => {
  const sprint = buildProgress({ dynamicSteps: buildSteps('alpha'), limits: { noProgress: 3 } })

  it('lead to one reflecting iteration that knows why, then to a question', () => {
    const stuck = after(sprint, started(), ...times(3, idles)).progress
    const { progress, orders } = after(stuck, idles)

    expect(stuck.iterations.map(({ mode }) => mode)).toEqual(['executing', 'executing', 'executing'])
    expect(stuck.live).toMatchObject([{ number: 4, mode: 'reflecting' }])
    expect(buildIterationPrompt(stuck, stuck.live[0] ?? buildLive())).toContain(
      'In the last 3 iterations no file, step or check',
    )
    expect(progress).toMatchObject({
      status: 'needs-human',
      reason: 'No progress in 4 iterations: no file, step or check has changed',
      live: [],
    })
    expect(workOrders(orders)).toEqual([])
  })

  it('are reset if the reflection leads to progress', () => {
    const plan = works(false, buildReport({ pendingSteps: newSteps('another way') }))
    const { progress } = after(sprint, started(), ...times(3, idles), plan)

    expect(progress).toMatchObject({
      status: 'in-progress',
      live: [{ mode: 'executing' }],
      stats: { withoutProgress: 0 },
    })
  })

  it('are counted from zero after the user has answered', () => {
    const { progress } = after(
      sprint,
      started(),
      ...times(4, idles),
      { type: 'answered', at: noon, answer: 'go on' },
      started(),
    )

    expect(progress).toMatchObject({ status: 'in-progress', live: [{ mode: 'executing' }] })
  })

  it('do not lead to a question if a limit ends the sprint first (C6)', () => {
    const { progress } = after(
      buildProgress({ limits: { noProgress: 5, iterations: 5 } }),
      started(),
      ...times(4, mute, waitEnds()),
      mute,
    )

    expect(progress).toMatchObject({ status: 'limit-reached', stats: { currentIteration: 5 } })
  })

  it.each<[string, Play[]]>([
    ['a changed file', [works(true)]],
    ['a new step', [works(false, buildReport({ pendingSteps: newSteps('x') }))]],
    ['a completed step', [works(false, buildReport({ completedStepIds: ['step-0'] }))]],
    ['a work tree without a fingerprint', [reports()]],
  ])('are not counted with %s', (_, plays) => {
    const { progress } = after(sprint, started(), idles, idles, ...plays)

    expect(progress.stats.withoutProgress).toBe(0)
  })

  it.each([
    ['turns red', [green('lint'), red('lint')], 0],
    ['turns green', [red('lint'), green('lint')], 0],
    ['stays green', [green('lint'), green('lint')], 3],
    ['stays red', [red('lint'), red('lint')], 3],
  ])('are also detected by checks: one that %s', (_, [before = red(), then = red()], count) => {
    const { progress } = after(
      {
        ...sprint,
        doneWhen: [buildCheck({ run: 'lint', eachIteration: true })],
        baseline: [{ name: 'lint', passed: before.passed }],
      },
      started(),
      ...times(2, idles, checksEnd(before)),
      idles,
      checksEnd(then),
    )

    expect(progress.stats.withoutProgress).toBe(count)
  })

  it('are detected by comparing with the last checks, not the first', () => {
    const everyTime = { ...sprint, doneWhen: [buildCheck({ run: 'lint', eachIteration: true })], baseline: [] }
    const { progress } = after(
      everyTime,
      started(),
      ...[red('lint'), green('lint'), green('lint')].flatMap((end) => [idles, checksEnd(end)]),
    )

    expect(progress.stats.withoutProgress).toBe(1)
  })

  it('are not counted if one of several checks changed', () => {
    const checks = ['lint', 'types'].map((run) => buildCheck({ run, eachIteration: true }))
    const baseline = [
      { name: 'lint', passed: false },
      { name: 'types', passed: false },
    ]
    const { progress } = after(
      { ...sprint, doneWhen: checks, baseline },
      started(),
      idles,
      checksEnd(red('lint'), green('types')),
    )

    expect(progress.stats.withoutProgress).toBe(0)
  })

  it('do not stop slow work: fifty iterations with one small change each', () => {
    const { progress } = after(sprint, started(), ...times(50, works(true)))

    expect(progress).toMatchObject({ status: 'in-progress', live: [{ number: 51, mode: 'executing' }] })
  })

  it('are not counted with no-progress: off', () => {
    const { progress } = after(
      { ...sprint, limits: { ...sprint.limits, noProgress: 'off' } },
      started(),
      ...times(30, idles),
    )

    expect(progress).toMatchObject({ status: 'in-progress', live: [{ number: 31, mode: 'executing' }] })
  })
})

it('an attempt with changes counts for its iteration, even if the next attempt has none', () => {
  const failed = attemptEnded({ kind: 'failed', class: 'crash', reason: 'x', retryable: true }, { changed: true })
  const { progress } = after(buildProgress(), started(), failed, waitEnds(), idles)

  expect(progress.iterations).toMatchObject([{ changed: true }])
})

it('keeps the last hundred iterations and continues their numbers', () => {
  const { progress } = after(buildProgress(), started(), ...times(105, works(true)))

  expect(progress.iterations).toHaveLength(historyLimits.iterations)
  expect(progress.iterations.at(0)).toMatchObject({ number: 6 })
  expect(progress.live).toMatchObject([{ number: 106 }])
})

it('the receipt names the model and whether its cost is an estimate', () => {
  const priced = attemptEnded(
    { kind: 'report', report: buildReport() },
    { model: 'opus', costUsd: 0.5, costEstimated: true },
  )
  const unpriced = attemptEnded({ kind: 'report', report: buildReport() }, { costUsd: 0 })
  const { progress } = after(buildProgress(), started(), priced, unpriced)

  expect(progress.iterations[0]).toMatchObject({ model: 'opus', costUsd: 0.5, costEstimated: true })
  expect(progress.iterations[1]).not.toHaveProperty('model')
  expect(progress.iterations[1]).not.toHaveProperty('costEstimated')
})

describe('notifications', () => {
  const sprint = buildProgress({ notify: ['desktop'] })

  it('are sent when the sprint ends or needs a person', () => {
    expect(workOrders(after(sprint, started(), reports({ status: 'goal-complete' })).orders)).toEqual([
      { type: 'notify', about: 'completed', text: '2026-01-18_sprint: completed: all done' },
    ])
    expect(workOrders(after(sprint, started(), reports({ status: 'needs-human' })).orders)).toEqual([
      { type: 'notify', about: 'needs-human', text: '2026-01-18_sprint: needs-human: no key' },
    ])
  })

  it('are recorded, the last fifty; failures are reported as warnings', () => {
    const sent = (to: string): Fact => ({
      type: 'notified',
      at: noon,
      results: [{ at: noon, to, about: 'completed', sent: true }],
    })
    const lost = { at: noon, to: 'webhook', about: 'completed', sent: false, error: 'ECONNREFUSED' }
    const { progress, orders } = after(sprint, ...Array.from({ length: 60 }, (_, n) => sent(`desktop ${n}`)), {
      type: 'notified',
      at: noon,
      results: [lost],
    })

    expect(progress.notifications).toHaveLength(historyLimits.notifications)
    expect(progress.notifications?.at(-1)).toEqual(lost)
    expect(emittedEvents(orders)).toEqual([
      { type: 'note', level: 'warning', text: 'could not notify webhook: ECONNREFUSED' },
    ])
  })

  it('are not sent for stops that the user requested', () => {
    const stop = { type: 'stop-requested', at: noon, as: 'paused', when: 'now' } as const

    expect(workOrders(after(sprint, started(), stop).orders)).toEqual([{ type: 'abort', what: 'all' }])
  })
})
