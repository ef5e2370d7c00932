import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { root } from '../../../test/support/paths.ts'
import { noon } from '../../../test/support/builders.ts'
import { Progress } from '../../contract/progress.ts'
import { parseProgress } from '../state/progress-file.ts'
import { formatProgress } from '../state/progress-text.ts'
import type { FileRecord } from './file-fields.ts'
import { importSeedProgress, isSeedProgress } from './seed-progress.ts'

const readFixture = (name: string): FileRecord => {
  const file: FileRecord = parse(readFileSync(join(root, 'test/fixtures/seeds', name), 'utf8'))
  return file
}

const importFile = (file: FileRecord, lastTranscript = 0) =>
  importSeedProgress(file, { sprintId: 'folder', at: noon, lastTranscript })

it.each(['000-progress.yaml', '001-progress.yaml', 'm42-standard-progress.yaml'])(
  'imports %s, and writes it in the current format (row 145)',
  (name) => {
    const file = readFixture(name)
    expect(isSeedProgress(file)).toBe(true)
    const { progress } = importFile(file)
    expect(parseProgress(formatProgress(progress), 'PROGRESS.yaml')).toEqual(progress)
    expect(isSeedProgress(z.encode(Progress, progress))).toBe(false)
  },
)

describe('000:119-173, which has neither id nor status nor stats', () => {
  const { progress, notes } = importFile(readFixture('000-progress.yaml'))

  it('continues with its steps and counts', () => {
    expect(progress).toMatchObject({ sprintId: 'folder', status: 'in-progress', mode: 'ralph', workflow: 'ralph' })
    expect(progress.goal).toBe('Build authentication system with JWT tokens\n')
    expect(progress.dynamicSteps.map(({ id, status }) => `${id} ${status}`)).toEqual([
      'step-0 completed',
      'step-1 pending',
    ])
    expect(progress.stats).toMatchObject({ currentIteration: 2, totalSteps: 2, completedSteps: 1 })
    expect(progress.perIterationHooks.map(({ id, enabled }) => ({ id, enabled }))).toEqual([
      { id: 'learning', enabled: true },
      { id: 'documentation', enabled: true },
    ])
  })

  it('does not wait for the hook whose process is gone', () => {
    expect(progress.hookTasks.map(({ iteration, hookId, status }) => ({ iteration, hookId, status }))).toEqual([
      { iteration: 1, hookId: 'learning', status: 'completed' },
      { iteration: 1, hookId: 'documentation', status: 'completed' },
      { iteration: 2, hookId: 'learning', status: 'failed' },
    ])
    expect(progress.hookTasks[2]?.error).toBe('was in-progress when the sprint was imported')
    expect(notes).toEqual([])
  })
})

it('keeps what 001:329-379 says', () => {
  const { progress } = importFile(readFixture('001-progress.yaml'))
  expect(progress).toMatchObject({
    sprintId: '2026-01-18_auth-feature',
    status: 'in-progress',
    ralph: { idleThreshold: 3, minIterations: 10 },
    stats: { startedAt: Date.parse('2026-01-18T10:00:00Z'), currentIteration: 2, maxIterations: 1_000_000 },
    limits: { iterations: 'off' },
    hookTasks: [{ iteration: 1, hookId: 'learning', status: 'completed', exitCode: 0 }],
  })
  expect(progress.dynamicSteps[0]?.completedAt).toBe(Date.parse('2026-01-18T10:05:00Z'))
})

it('keeps the phases of m42, and starts again what was in progress', () => {
  const { progress, notes } = importFile(readFixture('m42-standard-progress.yaml'))
  expect(progress.phases?.map(({ id, status }) => `${id} ${status}`)).toEqual([
    'prepare completed',
    'work pending',
    'publish pending',
  ])
  expect(progress.phases?.[1]?.steps?.map(({ id, status }) => `${id} ${status}`)).toEqual([
    'step-a completed',
    'step-b failed',
  ])
  expect(progress).toMatchObject({ mode: 'standard', status: 'blocked', error: 'Claude exited with code 1' })
  expect(progress.stats).toMatchObject({ totalPhases: 5, completedPhases: 2, totalSteps: 2, completedSteps: 1 })
  expect(notes).toEqual([
    'unknown to Ralph, kept in the copy of the original: blocked-at, last-activity, operator-queue',
  ])
})

it('keeps a phase in which the loop of m42 left an entry with nothing but a time', () => {
  const stub = { phases: [{ 'started-at': '2026-01-18T02:30:21Z' }] }
  const phases = [{ id: 'publish', status: 'completed', prompt: 'Publish it', steps: [stub] }]
  const { progress, notes } = importFile({ status: 'in-progress', phases, stats: {} })
  expect(progress.phases).toEqual([{ id: 'publish', status: 'completed', prompt: 'Publish it' }])
  expect(notes).toEqual(['phases[0].steps[0] has no id or no prompt and was left behind'])
})

describe('an import', () => {
  const file = readFixture('001-progress.yaml')

  it.each([
    'not-started',
    'in-progress',
    'paused',
    'blocked',
    'needs-human',
    'interrupted',
    'failed',
    'paused-at-breakpoint',
  ])('takes the status %s', (status) => {
    expect(importFile({ ...file, status }).progress.status).toBe(status === 'not-started' ? 'in-progress' : status)
  })

  it('never ends a sprint: completed becomes a claim to be checked', () => {
    const exit = { 'detected-at': '2026-01-18T11:00:00Z', iteration: 2, 'final-summary': 'All 12 tests pass' }
    const { progress, notes } = importFile({ ...file, status: 'completed', 'ralph-exit': exit })
    expect(progress).toMatchObject({ status: 'in-progress', ralphExit: { detectedAt: null } })
    expect(progress.claimPrompt).toContain('All 12 tests pass')
    expect(notes).toEqual(['completed became a claim: the next run checks it'])
  })

  it('pauses a sprint with a status that it does not know', () => {
    expect(importFile({ ...file, status: 'dreaming' }).progress).toMatchObject({
      status: 'paused',
      reason: 'imported with the unknown status dreaming',
    })
  })

  it('keeps the question of a sprint that needs a human', () => {
    const question = { reason: 'Which database?', details: 'Two are configured' }
    expect(importFile({ ...file, status: 'needs-human', 'human-needed': question }).progress.humanNeeded).toEqual({
      ...question,
      askedAt: noon,
    })
  })

  it('renames steps that share one id, as the counter of m42 produced them, and loses none', () => {
    const step = (prompt: string, status: string) => ({ id: 'step-1', prompt, status, 'added-in-iteration': 4 })
    const steps = [step('a', 'completed'), step('b', 'pending'), step('c', 'completed'), { id: 'step-7', prompt: 'd' }]
    const { progress, notes } = importFile({ ...file, 'dynamic-steps': steps })
    expect(progress.dynamicSteps.map(({ id, prompt }) => `${id} ${prompt}`)).toEqual([
      'step-1 a',
      'step-9 c',
      'step-8 b',
      'step-7 d',
    ])
    expect(progress.stats.totalSteps).toBe(10)
    expect(notes).toEqual([
      'step step-1 became step-8: its id was used before',
      'step step-1 became step-9: its id was used before',
    ])
  })

  it.each([
    ['in-progress', 'pending'],
    ['blocked', 'pending'],
    ['failed', 'pending'],
    ['skipped', 'completed'],
    ['nonsense', 'pending'],
  ])('understands the step status %s of 004 (row 231)', (status, becomes) => {
    const { progress } = importFile({ ...file, 'dynamic-steps': [{ id: 'x', prompt: 'p', status }] })
    expect(progress.dynamicSteps.map((step) => step.status)).toEqual([becomes])
  })

  it('continues after the last transcript, so that none is overwritten', () => {
    expect(importFile(file, 30).progress.stats.currentIteration).toBe(30)
  })

  it.each<[string, FileRecord]>([
    ['steps that are no list', { 'dynamic-steps': 'none', phases: [] }],
    ['hooks of another form', { 'per-iteration-hooks': [{ prompt: 1 }, 'x'] }],
    ['tasks without a name', { 'hook-tasks': [{}, null, 3] }],
    ['a goal that is a number', { goal: 7 }],
    ['times of another form', { stats: { 'started-at': 'yesterday', 'current-iteration': -4 } }],
  ])('survives %s', (_, change) => {
    const { progress } = importFile({ ...file, ...change })
    expect(parseProgress(formatProgress(progress), 'PROGRESS.yaml')).toEqual(progress)
  })
})
