import { describe, expect, it } from 'vitest'
import { aLive, aProgress, noon } from '../../../test/support/builders.ts'
import type { SprintEvent } from '../../contract/events.ts'
import { Uuid } from '../../contract/fleet/page.ts'
import { firstUnknown, inOrder, isAnew, newest, rowId, shownProgress, withoutFolder } from './observe-events.ts'

const happened = (event: SprintEvent) => ({ event, at: noon })
const begins = (iteration: number) =>
  happened({ type: 'attempt-started', iteration, attempt: 1, agent: 'claude' } as const)
const says = (iteration: number, text: string) =>
  happened({ type: 'agent', iteration, attempt: 1, event: { kind: 'text', text } })
const note = happened({ type: 'note', level: 'info', text: 'so' })

describe('the shown progress', () => {
  it('is unchanged while the sprint runs or once it has stopped', () => {
    const running = aProgress({ status: 'in-progress' })
    const done = aProgress({ status: 'completed' })

    expect(shownProgress(running, 'running')).toBe(running)
    expect(shownProgress(done, 'gone')).toBe(done)
  })

  it.each(['in-progress', 'parked'] as const)('is never %s when no process runs it', (status) => {
    expect(shownProgress(aProgress({ status }), 'gone')).toEqual(
      aProgress({ status: 'interrupted', reason: 'the process that ran the sprint is gone and did not finish it' }),
    )
  })

  it('has no open question once its folder is gone', () => {
    const asking = aProgress({ status: 'needs-human', humanNeeded: { reason: 'r', details: 'd', askedAt: noon } })

    expect(withoutFolder(asking)).toEqual(aProgress({ status: 'interrupted', reason: 'its folder no longer exists' }))
  })
})

describe('a sprint in the same folder', () => {
  const known = aProgress({ rev: 7, stats: { startedAt: noon } })

  it.each([
    ['the same', { rev: 9 }, noon, false],
    ['another one by its id', { rev: 9, sprintId: 'other' }, noon, true],
    ['another one by its start', { rev: 9 }, noon + 1, true],
    ['another one that was not started', { rev: 9 }, null, true],
    ['an earlier one', { rev: 6 }, noon, true],
  ])('is %s', (_, given, startedAt, expected) => {
    expect(isAnew(known, aProgress({ ...given, stats: { startedAt } }))).toBe(expected)
  })
})

it.each([
  ['the last twenty of one that is new', undefined, 81],
  ['what follows the last one that is known', aProgress({ stats: { currentIteration: 90 } }), 91],
  ['the one that was not over', aProgress({ live: [aLive({ number: 88 })], stats: { currentIteration: 90 } }), 88],
  ['no more than twenty', aProgress({ stats: { currentIteration: 3 } }), 81],
])('reads %s', (_, known, expected) => {
  expect(firstUnknown(known, aProgress({ stats: { currentIteration: 100 } }), 20)).toBe(expected)
})

it('inserts agent events after the start of their attempt', () => {
  const attempts = [
    { iteration: 1, attempt: 1, said: [says(1, 'old')] },
    { iteration: 2, attempt: 1, said: [says(2, 'a')] },
    { iteration: 2, attempt: 1, said: [says(2, 'b')] },
    { iteration: 3, attempt: 1, said: [says(3, 'c')] },
  ]

  expect(inOrder([note, begins(2), begins(3), note], attempts)).toEqual([
    says(1, 'old'),
    note,
    begins(2),
    says(2, 'a'),
    says(2, 'b'),
    begins(3),
    says(3, 'c'),
    note,
  ])
})

it('keeps whole attempts, the newest ones, and at least one', () => {
  const attempt = (iteration: number, count: number) => ({
    iteration,
    attempt: 1,
    said: Array.from({ length: count }, (_, index) => says(iteration, `${index}`)),
  })
  const kept = (...attempts: readonly ReturnType<typeof attempt>[]) =>
    newest(attempts, 5).map(({ iteration }) => iteration)

  expect(kept(attempt(1, 3), attempt(2, 2), attempt(3, 3))).toEqual([2, 3])
  expect(kept(attempt(1, 1), attempt(2, 9))).toEqual([2])
})

it('derives a stable id from the agent and the folder, and a different one for any other folder', () => {
  expect(rowId('agent', 'auth')).toBe(rowId('agent', 'auth'))
  expect(new Set([rowId('agent', 'auth'), rowId('agent', 'auth2'), rowId('other', 'auth')]).size).toBe(3)
  expect(Uuid.safeParse(rowId('agent', 'auth')).success).toBe(true)
})
