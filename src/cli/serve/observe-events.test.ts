import { describe, expect, it } from 'vitest'
import { buildLive, buildProgress, noon } from '../../../test/support/builders.ts'
import type { SprintEvent } from '../../contract/events.ts'
import { Uuid } from '../../contract/fleet/page.ts'
import {
  firstUnknownIteration,
  insertAgentEvents,
  isDifferentSprint,
  newestAttempts,
  observedRowId,
  progressToShow,
  progressWithoutFolder,
} from './observe-events.ts'

const observedEvent = (event: SprintEvent) => ({ event, at: noon })
const attemptStarted = (iteration: number) =>
  observedEvent({ type: 'attempt-started', iteration, attempt: 1, agent: 'claude' } as const)
const agentSays = (iteration: number, text: string) =>
  observedEvent({ type: 'agent', iteration, attempt: 1, event: { kind: 'text', text } })
const note = observedEvent({ type: 'note', level: 'info', text: 'so' })

describe('the shown progress', () => {
  it('is unchanged while the sprint runs or once it has stopped', () => {
    const running = buildProgress({ status: 'in-progress' })
    const done = buildProgress({ status: 'completed' })

    expect(progressToShow(running, 'running')).toBe(running)
    expect(progressToShow(done, 'gone')).toBe(done)
  })

  it.each(['in-progress', 'parked'] as const)('is never %s when no process runs it', (status) => {
    expect(progressToShow(buildProgress({ status }), 'gone')).toEqual(
      buildProgress({ status: 'interrupted', reason: 'the process that ran the sprint is gone and did not finish it' }),
    )
  })

  it('has no open question once its folder is gone', () => {
    const asking = buildProgress({ status: 'needs-human', humanNeeded: { reason: 'r', details: 'd', askedAt: noon } })

    expect(progressWithoutFolder(asking)).toEqual(
      buildProgress({ status: 'interrupted', reason: 'its folder no longer exists' }),
    )
  })
})

describe('a sprint in the same folder', () => {
  const known = buildProgress({ rev: 7, stats: { startedAt: noon } })

  it.each([
    ['the same', { rev: 9 }, noon, false],
    ['another one by its id', { rev: 9, sprintId: 'other' }, noon, true],
    ['another one by its start', { rev: 9 }, noon + 1, true],
    ['another one that was not started', { rev: 9 }, null, true],
    ['an earlier one', { rev: 6 }, noon, true],
  ])('is %s', (_, given, startedAt, expected) => {
    expect(isDifferentSprint(known, buildProgress({ ...given, stats: { startedAt } }))).toBe(expected)
  })
})

it.each([
  ['the last twenty of one that is new', undefined, 81],
  ['what follows the last one that is known', buildProgress({ stats: { currentIteration: 90 } }), 91],
  [
    'the one that was not over',
    buildProgress({ live: [buildLive({ number: 88 })], stats: { currentIteration: 90 } }),
    88,
  ],
  ['no more than twenty', buildProgress({ stats: { currentIteration: 3 } }), 81],
])('reads %s', (_, known, expected) => {
  expect(firstUnknownIteration(known, buildProgress({ stats: { currentIteration: 100 } }), 20)).toBe(expected)
})

it('inserts agent events after the start of their attempt', () => {
  const attempts = [
    { iteration: 1, attempt: 1, said: [agentSays(1, 'old')] },
    { iteration: 2, attempt: 1, said: [agentSays(2, 'a')] },
    { iteration: 2, attempt: 1, said: [agentSays(2, 'b')] },
    { iteration: 3, attempt: 1, said: [agentSays(3, 'c')] },
  ]

  expect(insertAgentEvents([note, attemptStarted(2), attemptStarted(3), note], attempts)).toEqual([
    agentSays(1, 'old'),
    note,
    attemptStarted(2),
    agentSays(2, 'a'),
    agentSays(2, 'b'),
    attemptStarted(3),
    agentSays(3, 'c'),
    note,
  ])
})

it('keeps whole attempts, the newest ones, and at least one', () => {
  const attempt = (iteration: number, count: number) => ({
    iteration,
    attempt: 1,
    said: Array.from({ length: count }, (_, index) => agentSays(iteration, `${index}`)),
  })
  const kept = (...attempts: readonly ReturnType<typeof attempt>[]) =>
    newestAttempts(attempts, 5).map(({ iteration }) => iteration)

  expect(kept(attempt(1, 3), attempt(2, 2), attempt(3, 3))).toEqual([2, 3])
  expect(kept(attempt(1, 1), attempt(2, 9))).toEqual([2])
})

it('derives a stable id from the agent and the folder, and a different one for any other folder', () => {
  expect(observedRowId('agent', 'auth')).toBe(observedRowId('agent', 'auth'))
  expect(
    new Set([observedRowId('agent', 'auth'), observedRowId('agent', 'auth2'), observedRowId('other', 'auth')]).size,
  ).toBe(3)
  expect(Uuid.safeParse(observedRowId('agent', 'auth')).success).toBe(true)
})
