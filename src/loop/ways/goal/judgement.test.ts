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
  noon,
  reports,
  saysNothing,
  started,
  emittedEvents,
  waitEnds,
  workOrders,
  type Play,
} from '../../../../test/support/builders.ts'
import type { Fact } from '../../core/fact.ts'
import { buildIterationPrompt } from '../../prompts.ts'

const minute = 60_000
const hour = 60 * minute
const times = (count: number, ...plays: readonly Play[]) => Array.from({ length: count }, () => plays).flat()
const mute = (overrides = {}): Play =>
  attemptEnded({ kind: 'malformed', reason: 'no block', session: 'abc' }, { changed: false, ...overrides })

describe('an iteration without a valid report', () => {
  const kept: Fact = { type: 'checkpoint-made', at: noon + 9000, iteration: 1, commit: 'c0ffee' }

  it('runs no hook, as its receipt says', () => {
    const { progress } = after(buildProgress({ perIterationHooks: [buildHook()] }), started(), saysNothing())

    expect(progress.iterations).toMatchObject([{ verdict: 'malformed', hooks: 'skipped' }])
    expect(progress.hookTasks).toEqual([])
  })

  it('does not mention hooks if there are none', () => {
    const hooks = [buildHook({ enabled: false })]
    const { progress } = after(buildProgress({ perIterationHooks: hooks }), started(), saysNothing())

    expect(progress.iterations[0]).not.toHaveProperty('hooks')
  })

  it('still gets a checkpoint, and the next one starts after the pause', () => {
    const sprint = buildProgress({ checkpoint: true, perIterationHooks: [buildHook()] })
    const keeping = after(sprint, started(), mute(), mute({ at: noon + 8900 }))
    const { progress, orders } = after(keeping.progress, kept)

    expect(workOrders(keeping.orders)).toEqual([{ type: 'make-checkpoint', iteration: 1 }])
    expect(progress.iterations).toMatchObject([{ verdict: 'malformed', checkpoint: 'c0ffee', hooks: 'skipped' }])
    expect(workOrders(orders)).toEqual([
      { type: 'wait', iteration: 2, until: noon + 8900 + 250, reason: 'no valid report' },
    ])
  })

  it('does not wait twice if the checkpoint took longer than the pause', () => {
    const { orders } = after(buildProgress({ checkpoint: true }), started(), saysNothing(), kept)

    expect(workOrders(orders)).toEqual([{ type: 'run-attempt', iteration: 2, attempt: 1 }])
  })
})

describe('a second request for a report', () => {
  it('leaves new messages to the next full prompt', () => {
    const { progress } = after(
      buildProgress(),
      started(),
      { type: 'told', at: noon + 5, text: 'mind the tests', now: false },
      mute({ at: noon + 10 }),
      reports({}, noon + 20),
    )

    expect(buildIterationPrompt(progress, progress.live[0] ?? buildLive())).toContain('mind the tests')
  })

  it('counts as a start for failed-starts-per-hour', () => {
    const sprint = buildProgress({ limits: { failedStartsPerHour: 2 } })
    const { progress, orders } = after(sprint, started(), mute(), mute())

    expect(progress.failedStarts).toEqual([noon, noon])
    expect(workOrders(orders)).toMatchObject([{ type: 'wait', iteration: 2, until: noon + hour }])
    const [third] = workOrders(after(progress, waitEnds(noon + minute), mute({ at: noon + minute })).orders)
    expect(third).toMatchObject({ type: 'wait', iteration: 3 })
  })
})

describe('no fault makes the loop spin', () => {
  /** How often an agent starts within an hour, if each attempt ends like this after a tenth of a second. */
  function startsPerHour(end: (at: number) => Play, failedStartsPerHour = 30): number {
    let { progress, orders } = after(buildProgress({ limits: { failedStartsPerHour, noProgress: 'off' } }), started())
    let at = noon
    for (let starts = 0; ;) {
      const next = workOrders(orders).find(({ type }) => type === 'run-attempt' || type === 'wait')
      if (!next || at >= noon + hour) return starts
      if (next.type === 'wait') at = next.until > at ? next.until : at
      else {
        starts++
        at += 100
      }
      ;({ progress, orders } = after(progress, next.type === 'wait' ? waitEnds(at) : end(at)))
    }
  }

  it.each<[string, (at: number) => Play]>([
    ['crashes', (at) => fails({}, at)],
    ['is overloaded', (at) => fails({ class: 'overloaded' }, at)],
    ['has no network', (at) => fails({ class: 'network' }, at)],
    ['has a limit that is over at once', (at) => fails({ class: 'usage_limit', resetsAt: at + 1 }, at)],
    ['has a limit that should be over', (at) => fails({ class: 'usage_limit', resetsAt: at - 1 }, at)],
    ['gives no report', (at) => attemptEnded({ kind: 'malformed', reason: 'x' }, { at })],
    ['gives no report, twice each time', (at) => mute({ at })],
    ['fails in another way each time', (at) => fails({ class: at % 200 === 0 ? 'crash' : 'network' }, at)],
  ])('an agent that %s is started at most 30 times an hour', (_, end) => {
    expect(startsPerHour(end)).toBeLessThanOrEqual(30)
    expect(startsPerHour(end, 4)).toBeLessThanOrEqual(4)
  })

  it('but a healthy agent continues at once', () => {
    expect(startsPerHour((at) => reports({}, at))).toBeGreaterThan(30_000)
  })
})

describe('no progress', () => {
  const idles = attemptEnded(
    { kind: 'report', report: { status: 'continue', summary: 'hm', completedStepIds: [], pendingSteps: [] } },
    { changed: false },
  )

  it('leads to one iteration that knows why, even if the agent already reflects', () => {
    const fifth = after(buildProgress({ ralph: { idleThreshold: 1 } }), started(), ...times(5, idles)).progress
    const { progress } = after(fifth, idles)

    expect(fifth.live).toMatchObject([{ number: 6, mode: 'reflecting' }])
    expect(buildIterationPrompt(fifth, fifth.live[0] ?? buildLive())).toContain('## No progress')
    expect(progress).toMatchObject({
      status: 'needs-human',
      humanNeeded: { reason: 'No progress in 6 iterations: no file, step or check has changed' },
    })
  })

  it('includes false claims: they are refused, then a human is asked', () => {
    const claim = attemptEnded(
      {
        kind: 'report',
        report: {
          status: 'goal-complete',
          summary: 's',
          goalCompleteSummary: 'all pass',
          completedStepIds: [],
          pendingSteps: [],
        },
      },
      { changed: false },
    )
    const redEvery = checksEnd({ ...green(), passed: false, exitCode: 1 })
    const sprint = buildProgress({ doneWhen: [buildCheck()], baseline: [{ name: 'npm test', passed: false }] })
    const { progress } = after(sprint, started(), ...times(6, claim, redEvery))

    expect(progress.status).toBe('needs-human')
    expect(progress.iterations.map(({ verdict }) => verdict)).toEqual(Array.from({ length: 6 }, () => 'refused'))
  })
})

describe('a failed review', () => {
  const unable: Fact = {
    type: 'review-ended',
    at: noon,
    iteration: 1,
    passed: false,
    summary: 'the review failed: not logged in',
    unable: true,
  }

  it('opens a question for the user instead of refusing the claim', () => {
    const { progress, orders } = after(
      buildProgress({ review: { agent: 'codex' } }),
      started(),
      reports({ status: 'goal-complete' }),
      unable,
    )

    expect(progress).toMatchObject({
      status: 'needs-human',
      humanNeeded: { reason: 'The claim could not be reviewed' },
      iterations: [{ verdict: 'refused', review: { passed: false } }],
    })
    expect(progress).not.toHaveProperty('refusedBy')
    expect(workOrders(orders)).toEqual([])
  })
})

it('a question carries its options and the default', () => {
  const humanNeeded = { reason: 'Which one?', details: 'a or b', options: ['a', 'b'], default: 'a' }
  const { progress, orders } = after(buildProgress(), started(), reports({ status: 'needs-human', humanNeeded }))

  expect(progress.humanNeeded).toEqual({ ...humanNeeded, askedAt: noon })
  expect(emittedEvents(orders)).toContainEqual({ type: 'question-asked', iteration: 1, ...humanNeeded })
})

it('the bullet points of a goal become a checklist in the prompt', () => {
  const goal = 'Build login.\n\nCriteria:\n- a wrong password is refused\n* [ ] tokens expire\n2. `npm test` passes\n'

  expect(buildIterationPrompt(buildProgress({ goal }), buildLive())).toContain(
    [
      '- Before you report goal-complete, verify each point of the goal yourself:',
      '  - [ ] a wrong password is refused',
      '  - [ ] tokens expire',
      '  - [ ] `npm test` passes',
    ].join('\n'),
  )
  expect(buildIterationPrompt(buildProgress({ goal: 'Build login.' }), buildLive())).not.toContain('- [ ]')
})
