import { expect, it } from 'vitest'
import { createTestSprint } from '../support/sprint.ts'

const proceed = { status: 'continue', summary: 'on' }
const goalComplete = { status: 'goal-complete', summary: 'f', goalCompleteSummary: 'done' }

it('C11: runs hooks in order, in the background or not, and records each result (rows 3, 23, 26, 35, 47, 48, 107, 114, 120-124, 126, 142)', async () => {
  const sprint = await createTestSprint({
    sprint: { 'sprint-id': 'hooked' },
    workflow: {
      'per-iteration-hooks': [
        { id: 'A', prompt: 'A $ITERATION $SPRINT_ID $ITERATION_TRANSCRIPT', parallel: false },
        { id: 'B', prompt: 'B $ITERATION', parallel: true },
        { id: 'C', prompt: 'C $ITERATION', parallel: false },
        { id: 'D', prompt: 'D $ITERATION', parallel: false, enabled: false },
        { id: 'E', workflow: 'x:y', parallel: false },
      ],
    },
    answers: {
      1: proceed,
      2: goalComplete,
      '/^A /': 'noted',
      '/^B /': { sleep: 2, text: 'slow' },
      '/^C /': { exit: 3 },
      '/^D /': 'never',
      '/^\\/x:y/': 'ran it',
    },
  })

  expect(await sprint.run()).toMatchObject({ exitCode: 0 })

  const calls = await sprint.calls()
  const inTurn = calls.filter(({ prompt }) => !prompt.startsWith('B '))
  const transcript = (iteration: number) => sprint.at('s', 'transcripts', `iteration-${iteration}.jsonl`)
  expect(inTurn.map(({ prompt }) => (prompt.startsWith('# Ralph') ? 'agent' : prompt.trim()))).toEqual([
    'agent',
    `A 1 hooked ${transcript(1)}`,
    'C 1',
    expect.stringMatching(/^\/x:y\b/),
    'agent',
    `A 2 hooked ${transcript(2)}`,
    'C 2',
    expect.stringMatching(/^\/x:y\b/),
  ])
  for (const [index, { startedAt }] of inTurn.slice(1).entries())
    expect(startedAt).toBeGreaterThanOrEqual(findHookEnd(inTurn[index]))
  for (const { prompt, sees } of calls.filter(({ prompt: text }) => text.startsWith('A ')))
    expect(sees).toEqual({ [transcript(Number(prompt.split(' ')[1]))]: expect.stringContaining('"type":"result"') })

  const background = calls.find(({ prompt }) => prompt.startsWith('B 1'))
  const second = calls.find(({ number, kind }) => kind === 'numbered' && number === 2)
  expect(second?.startedAt).toBeLessThan(findHookEnd(background))

  const tasks = (await sprint.progress())['hook-tasks']
  const outcomes = tasks.map((task) => `${task.iteration} ${task['hook-id']} ${task.status} ${task['exit-code']}`)
  expect(outcomes.toSorted()).toEqual([
    '1 A completed 0',
    '1 B completed 0',
    '1 C failed 3',
    '1 E completed 0',
    '2 A completed 0',
    '2 B completed 0',
    '2 C failed 3',
    '2 E completed 0',
  ])
  for (const task of tasks) {
    expect(task).toMatchObject({ 'spawned-at': isoTime, 'completed-at': isoTime })
    expect(task.transcript).toBe(`transcripts/iter-${task.iteration}-${task['hook-id']}.jsonl`)
    expect(sprint.has(`s/${task.transcript}`)).toBe(true)
  }
})

it.each([
  ['a command', { run: 'sleep 600' }],
  ['a prompt', { prompt: 'sleep' }],
])('C11: ends a hook that is %s and never ends, by its timeout', async (_, action) => {
  const sprint = await createTestSprint({
    sprint: { timeouts: { hook: '2s' } },
    workflow: { 'per-iteration-hooks': [{ id: 'endless', ...action, parallel: true }] },
    answers: { 1: goalComplete, '/^sleep/': { run: 'sleep 600' } },
  })
  const started = performance.now()

  expect(await sprint.run()).toMatchObject({ exitCode: 0 })

  expect(performance.now() - started).toBeLessThan(10_000)
  expect(sprint.processes()).toEqual([])
  expect((await sprint.progress())['hook-tasks']).toEqual([
    expect.objectContaining({
      'hook-id': 'endless',
      status: 'failed',
      'completed-at': expect.any(String),
      error: expect.stringMatching(/timed out|longer than/),
    }),
  ])
})

it('C12: four parallel hooks over 15 iterations lose neither a task nor a step, and all end before the exit (row 41)', async () => {
  const hooks = ['h1', 'h2', 'h3', 'h4']
  const step = { status: 'continue', summary: 'on', pendingSteps: [{ id: null, prompt: 'one more' }] }
  const sprint = await createTestSprint({
    workflow: {
      'per-iteration-hooks': hooks.map((id, index) => ({
        id,
        parallel: true,
        ...(index === 0 ? { prompt: 'hook $ITERATION' } : { run: `sleep 0.${index}; echo $ITERATION` }),
      })),
    },
    answers: { '*': step, 15: goalComplete, '/^hook /': 'fine' },
  })

  expect(await sprint.run()).toMatchObject({ exitCode: 0 })

  const progress = await sprint.progress()
  const tasks = progress['hook-tasks'].map((task) => `${task.iteration} ${task['hook-id']} ${task.status}`)
  const expected = Array.from({ length: 15 }, (_, index) => hooks.map((id) => `${index + 1} ${id} completed`))
  expect(tasks.toSorted()).toEqual(expected.flat().toSorted())
  expect(progress['dynamic-steps']).toHaveLength(14)
  expect(new Set(progress['dynamic-steps'].map(({ id }) => id)).size).toBe(14)
  expect(progress.iterations?.map(({ number }) => number)).toEqual(Array.from({ length: 15 }, (_, index) => index + 1))
})

const isoTime = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)

const findHookEnd = (call: { readonly endedAt?: number } | undefined): number => call?.endedAt ?? Number.NaN
