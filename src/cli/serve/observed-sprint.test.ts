import { describe, expect, it } from 'vitest'
import { buildProgress, noon } from '../../../test/support/builders.ts'
import { Uuid } from '../../contract/fleet/page.ts'
import { isDifferentSprint, observedRowId, progressToShow, progressWithoutFolder } from './observed-sprint.ts'

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
  ])('is %s', (_, overrides, startedAt, expected) => {
    expect(isDifferentSprint(known, buildProgress({ ...overrides, stats: { startedAt } }))).toBe(expected)
  })
})

it('derives a stable id from the agent and the folder, and a different one for any other folder', () => {
  expect(observedRowId('agent', 'auth')).toBe(observedRowId('agent', 'auth'))
  expect(
    new Set([observedRowId('agent', 'auth'), observedRowId('agent', 'auth2'), observedRowId('other', 'auth')]).size,
  ).toBe(3)
  expect(Uuid.safeParse(observedRowId('agent', 'auth')).success).toBe(true)
})
