import { readFileSync } from 'node:fs'
import { chmod } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { exitCodes } from '../../src/cli/io/exit-code.ts'
import { createPhasesSprint } from '../support/phases-sprint.ts'
import { root } from '../support/paths.ts'
import { createTestSprint } from '../support/sprint.ts'

const quick = { 'done-when': [] }
const done = { status: 'goal-complete', summary: 'done', goalCompleteSummary: 'All of it works' }
const plan = (...prompts: readonly string[]) => ({
  status: 'continue',
  summary: 'planned',
  pendingSteps: prompts.map((prompt) => ({ id: null, prompt })),
})

it('calls claude as in 000:217-224, with the prompt of the mode, and keeps its output (rows 1, 34, 36, 37, 54, 56, 203)', async () => {
  const sprint = await createTestSprint({
    sprint: { ...quick, goal: 'Build it', 'sprint-id': 'auth' },
    answers: { 1: plan('write the module'), 2: done },
  })
  expect(await sprint.run()).toMatchObject({ exitCode: 0 })

  const calls = await sprint.calls()
  for (const { argv } of calls) {
    expect(argv).toEqual(expect.arrayContaining(['-p', '--dangerously-skip-permissions', '--output-format']))
    expect(argv[argv.indexOf('--output-format') + 1]).toBe('stream-json')
  }
  const [planning = '', executing = ''] = calls.map(({ prompt }) => prompt)
  expect(planning).toMatch(/^# Ralph: planning/)
  expect(executing).toMatch(/^# Ralph: executing/)
  for (const text of ['auth', 'iteration 2', 'Build it', 'step-0', 'write the module'])
    expect(executing).toContain(text)
  expect(executing).toMatch(/pendingSteps/)
  for (const number of [1, 2])
    expect(await sprint.read(`s/transcripts/iteration-${number}.jsonl`)).toContain('"type":"result"')
})

describe('the report of 001:249-322', () => {
  const examples = readFileSync(join(root, 'test/fixtures/seeds/001-outputs.md'), 'utf8')
  const [goOn = '', goalComplete = '', needsHuman = ''] = examples.split(/(?=\*\*[A-Z][a-z ]+:\*\*)/)

  it('continue and goal-complete as in 001:290-311, word for word (rows 127, 128, 129, 138)', async () => {
    const sprint = await createTestSprint({
      sprint: quick,
      answers: { 1: plan('Implement login', 'Logout', 'Refresh', 'Tests', 'Docs'), 2: goOn, 3: goalComplete },
    })
    expect(await sprint.run()).toMatchObject({ exitCode: 0 })

    const progress = await sprint.progress()
    expect(progress.iterations).toMatchObject([
      { verdict: 'continue' },
      { verdict: 'continue', summary: 'Implemented login endpoint with JWT generation' },
      { verdict: 'accepted', summary: 'Completed final verification and documentation' },
    ])
    expect(progress['dynamic-steps'].map(({ id, prompt, status }) => `${id} ${status}: ${prompt}`)).toEqual([
      'step-0 completed: Implement login',
      'step-4 completed: Docs',
      'step-1 pending: Add logout endpoint',
      'step-5 pending: Add token refresh mechanism',
      'step-2 pending: Refresh',
      'step-3 pending: Tests',
    ])
    expect(progress['ralph-exit']['final-summary']).toMatch(
      /^Implemented JWT authentication .* All 12 tests passing\.$/,
    )
  })

  it('needs-human as in 001:313-322, word for word (rows 131, 136)', async () => {
    const sprint = await createTestSprint({ sprint: quick, answers: { '*': needsHuman } })
    expect(await sprint.run()).toMatchObject({ exitCode: exitCodes['needs-human'] })
    expect(await sprint.progress()).toMatchObject({
      status: 'needs-human',
      'human-needed': {
        reason: 'Database credentials not configured',
        details: 'The .env file is missing DATABASE_URL. Please add credentials and resume.',
      },
    })
  })

  it.each([
    ['goal-complete without goalCompleteSummary', { status: 'goal-complete', summary: 's' }],
    ['needs-human without details', { status: 'needs-human', summary: 's', humanNeeded: { reason: 'r' } }],
  ])('asks again after %s (rows 130, 131)', async (_, report) => {
    const sprint = await createTestSprint({ sprint: quick, answers: { 1: report, 2: done } })
    expect(await sprint.run()).toMatchObject({ exitCode: 0 })
    expect(await sprint.iterations()).toMatchObject([{ number: 1, attempts: 2, verdict: 'accepted' }])
  })

  it.each([
    ['planning', { 1: done }],
    ['executing', { 1: plan('one'), 2: done }],
    ['reflecting', { '*': { status: 'continue', summary: 's' }, 3: done }],
  ])('the goal can be reached from %s, as in 001:93-102 (row 98)', async (mode, answers) => {
    const sprint = await createTestSprint({ sprint: { ...quick, ralph: { 'idle-threshold': 2 } }, answers })
    expect(await sprint.run()).toMatchObject({ exitCode: 0 })
    expect((await sprint.iterations()).at(-1)).toMatchObject({ mode, verdict: 'accepted' })
  })
})

describe('current and parallel-tasks of 004:217-219', () => {
  it('current is the next pending step in ralph mode, and null when there is none (row 232)', async () => {
    const slow = { waits: 'go', report: { ...plan(), completedStepIds: ['step-0'] } }
    const sprint = await createTestSprint({
      sprint: { ...quick, steps: ['one', 'two'] },
      answers: { 1: slow, '*': done },
    })
    await sprint.compile()
    expect((await sprint.progress()).current).toEqual({ phase: 0, step: 0, 'sub-phase': null })
    const status = JSON.parse((await sprint.ralph('status', 's', '--json')).stdout)
    expect(status).toMatchObject({ progress: { current: { phase: 0, step: 0 }, 'parallel-tasks': [] } })

    await sprint.release('go')
    expect(await sprint.run()).toMatchObject({ exitCode: 0 })
    expect((await sprint.progress()).current).toEqual({ phase: 0, step: 1, 'sub-phase': null })
    expect((await sprint.progress())['parallel-tasks']).toEqual([])
  })

  it('parallel-tasks lists what runs beside other work, while it runs and afterwards (row 233)', async () => {
    const phases = [
      { id: 'docs', prompt: 'Docs.', parallel: true },
      { id: 'build', prompt: 'Build.' },
    ]
    const sprint = await createPhasesSprint(phases, {
      answers: {
        '/Docs\\./': { waits: 'go', report: { status: 'completed', summary: 'ok' } },
        '/Build\\./': { status: 'completed', summary: 'ok' },
      },
    })
    const run = sprint.startRun()
    await sprint.called(2)
    let running: unknown[] = []
    while (running.length === 0) running = (await sprint.progress())['parallel-tasks'] ?? []
    expect(running).toEqual([{ id: 'docs', 'phase-id': 'docs', status: 'running', 'spawned-at': expect.any(String) }])
    await sprint.release('go')

    expect(await run.ended).toMatchObject({ exitCode: 0 })
    expect(await sprint.progress()).toMatchObject({
      current: { phase: expect.any(Number) },
      'parallel-tasks': [{ id: 'docs', status: 'completed', 'completed-at': expect.any(String) }],
    })
  })
})

it('runs without yq, which 003:32-35 requires (row 202)', async () => {
  const sprint = await createTestSprint({ sprint: quick, answers: { '*': done } })
  await sprint.write('../bin/yq', '#!/bin/sh\ntouch called; exit 127\n')
  await chmod(sprint.at('../bin/yq'), 0o755)
  expect(await sprint.run()).toMatchObject({ exitCode: 0 })
  expect((await sprint.ralph('prompt', 's')).exitCode).toBe(0)
  expect(sprint.has('called')).toBe(false)
})
