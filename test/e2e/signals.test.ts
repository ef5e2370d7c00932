import { spawnSync } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { patience } from '../support/pace.ts'
import { readPacked } from '../support/packed.ts'
import { ralphProgram } from '../support/paths.ts'
import { createTestSprint, waitUntil, type Setup } from '../support/sprint.ts'

const proceed = { status: 'continue', summary: 'on' }
const goalComplete = { status: 'goal-complete', summary: 'f', goalCompleteSummary: 'done' }

it('SIGINT once finishes the iteration with its checks and hooks, then pauses with exit 4', async () => {
  const sprint = await createTestSprint({
    sprint: {
      'done-when': [{ run: 'true', name: 'quick', 'each-iteration': true }],
      'per-iteration-hooks': [{ id: 'after', run: 'echo "$ITERATION" >> hooked.txt', parallel: false }],
    },
    answers: { 1: { waits: 'go', report: proceed }, 2: goalComplete },
  })
  const run = sprint.startRun()
  await sprint.called(1)
  run.signal('SIGINT')
  await sprint.release('go')

  expect(await run.ended).toMatchObject({ exitCode: 4, stdout: expect.stringContaining('paused') })
  const progress = await sprint.progress()
  expect(progress.status).toBe('paused')
  expect(progress.iterations).toEqual([
    expect.objectContaining({ number: 1, verdict: 'continue', checks: [{ name: 'quick', passed: true }] }),
  ])
  expect(await sprint.read('hooked.txt')).toBe('1\n')

  expect(await sprint.run()).toMatchObject({ exitCode: 0 })
  expect((await sprint.progress()).status).toBe('completed')
  expect(await sprint.calls()).toHaveLength(2)
})

it.each([
  ['SIGINT twice', ['SIGINT', 'SIGINT']],
  ['SIGTERM', ['SIGTERM']],
] as const)(
  '%s ends the attempt immediately with exit 130, and the next run starts the next attempt',
  async (_, signals) => {
    const sprint = await createTestSprint({
      answers: { 1: { run: 'sleep 600 & setsid sleep 600 & wait' }, 2: goalComplete },
    })
    const run = sprint.startRun()
    await waitUntil('the programs that the agent starts', () => sprint.processes().length >= 4)
    const signalled = performance.now()
    for (const name of signals) {
      run.signal(name)
      await pause(100)
    }

    expect(await run.ended).toMatchObject({ exitCode: 130, stdout: expect.stringContaining('interrupted') })
    expect(performance.now() - signalled).toBeLessThan(patience(5000))
    expect(sprint.processes()).toEqual([])
    expect((await sprint.progress()).status).toBe('interrupted')

    expect(await sprint.run()).toMatchObject({ exitCode: 0 })
    expect(await sprint.iterations()).toEqual([
      expect.objectContaining({ number: 1, verdict: 'accepted', attempts: 2 }),
    ])
    expect(await sprint.calls()).toHaveLength(2)
    const attempts = [...readPacked(sprint.state()).keys()].map((path) => path.split('/')[0] ?? '')
    expect([...new Set(attempts)].toSorted()).toEqual(['1-1', '1-2'])
  },
)

it('a closed output ends the attempt with exit 130 and a line on stderr, and the next run resumes', async () => {
  const sprint = await createTestSprint({
    answers: { 1: { waits: 'go', report: proceed }, 2: { waits: 'never' }, 3: goalComplete },
  })
  const run = sprint.startRun()
  await sprint.called(1)
  run.closeOutput()
  await sprint.release('go')

  expect(await run.ended).toMatchObject({
    exitCode: 130,
    stderr: 'the output is closed: stopping the sprint; "ralph run" resumes it\n',
  })
  expect(sprint.processes()).toEqual([])
  expect((await sprint.progress()).status).toBe('interrupted')

  await sprint.answer({ '*': goalComplete })
  expect(await sprint.run()).toMatchObject({ exitCode: 0 })
})

it('output that cannot be written is an error, and a reader that stops is none', async () => {
  const { at, env } = await createTestSprint()
  const result = (script: string) =>
    spawnSync('bash', ['-c', script, process.execPath, ralphProgram], { cwd: at(), env, encoding: 'utf8' })

  expect(result('"$0" "$1" --help > /dev/full')).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/^error FILE_UNWRITABLE {2}cannot write the output: ENOSPC/),
  })
  expect(result('"$0" "$1" --help | true; exit ${PIPESTATUS[0]}')).toMatchObject({ status: 0, stderr: '' })
})

const slowly = 'test -f ready || { touch begun; sleep 600; }'
const slowHook = { id: 'slow', run: slowly, parallel: false }

describe('SIGTERM without a running agent', () => {
  it.each<readonly [string, Setup, calls: number]>([
    [
      'a check runs',
      {
        sprint: { 'done-when': [{ run: slowly, name: 'slow' }] },
        answers: { '*': { run: 'touch work', report: goalComplete } },
      },
      1,
    ],
    [
      'a sequential hook runs',
      { sprint: { 'per-iteration-hooks': [slowHook] }, answers: { 1: proceed, 2: goalComplete } },
      2,
    ],
    ['the next attempt is waited for', { answers: { 1: { run: 'touch begun', exit: 1 }, 2: goalComplete } }, 2],
  ])('ends immediately when %s, and the next run completes without repair', async (_, setup, calls) => {
    const sprint = await createTestSprint({ answers: { '*': goalComplete }, ...setup })
    const run = sprint.startRun()
    await waitUntil('the wait to begin', () => sprint.has('begun'))
    await waitUntil('the attempt to be over', async () => (await sprint.progress()).live?.[0]?.stage !== 'agent')
    const signalled = performance.now()
    run.signal('SIGTERM')

    expect(await run.ended).toMatchObject({ exitCode: 130 })
    expect(performance.now() - signalled).toBeLessThan(patience(5000))
    expect(sprint.processes()).toEqual([])
    expect((await sprint.progress()).status).toBe('interrupted')

    await sprint.write('ready', '')
    expect(await sprint.run()).toMatchObject({ exitCode: 0 })
    expect((await sprint.progress()).status).toBe('completed')
    expect(await sprint.calls()).toHaveLength(calls)
  })
})

it.each([
  ['sequential', false],
  ['background', true],
])('SIGTERM during a %s hook of the accepted iteration does not lose the goal', async (_, parallel) => {
  const sprint = await createTestSprint({
    sprint: { 'per-iteration-hooks': [{ ...slowHook, parallel }] },
    answers: { '*': goalComplete },
  })
  const run = sprint.startRun()
  await waitUntil('the hook to begin', () => sprint.has('begun'))
  run.signal('SIGTERM')
  await run.ended
  expect(sprint.processes()).toEqual([])

  await sprint.write('ready', '')
  expect(await sprint.run()).toMatchObject({ exitCode: 0 })
  const progress = await sprint.progress()
  expect(progress).toMatchObject({ status: 'completed', 'ralph-exit': { iteration: 1 } })
  expect(progress['hook-tasks'].map(({ status }) => status)).not.toContain('running')
  expect(await sprint.calls()).toHaveLength(1)
})
