import { expect, it } from 'vitest'
import { createTestSprint, type RawProgress } from '../support/sprint.ts'

const plan = (...prompts: readonly string[]) => ({
  status: 'continue',
  summary: 'p',
  pendingSteps: prompts.map((prompt) => ({ id: null, prompt })),
})
const goalComplete = { status: 'goal-complete', summary: 'f', goalCompleteSummary: 'done' }

it('C1: plans, executes and finishes, and every step keeps its own id (rows 5, 22, 33, 40, 92, 93, 95, 96, 132-134, 137, 141, 146, 206)', async () => {
  const sprint = await createTestSprint({
    answers: {
      1: plan('alpha', 'beta'),
      2: {
        status: 'continue',
        summary: 'a',
        completedStepIds: ['<id of alpha>'],
        pendingSteps: [
          { id: '<id of beta>', prompt: 'beta' },
          { id: null, prompt: 'gamma' },
        ],
      },
      3: {
        status: 'goal-complete',
        summary: 'f',
        completedStepIds: ['<id of beta>', '<id of gamma>'],
        goalCompleteSummary: 'All "done"',
      },
    },
  })

  expect(await sprint.run()).toMatchObject({ exitCode: 0, stderr: '' })

  const progress = await sprint.progress()
  const step = { id: expect.any(String), status: 'completed', 'added-at': isoTime, 'completed-at': isoTime }
  expect(progress.status).toBe('completed')
  expect(progress['dynamic-steps']).toEqual([
    { ...step, prompt: 'alpha', 'added-in-iteration': 1, 'completed-in-iteration': 2 },
    { ...step, prompt: 'beta', 'added-in-iteration': 1, 'completed-in-iteration': 3 },
    { ...step, prompt: 'gamma', 'added-in-iteration': 2, 'completed-in-iteration': 3 },
  ])
  expect(new Set(progress['dynamic-steps'].map(({ id }) => id)).size).toBe(3)
  expect(progress['ralph-exit']).toEqual({
    iteration: 3,
    'final-summary': 'All "done"',
    'detected-at': isoTime,
    unchecked: true,
  })
  expect(listModes(progress)).toEqual(['planning', 'executing', 'executing'])
  expect(await sprint.calls()).toHaveLength(3)
})

it('C1: the order of pendingSteps is the order of execution', async () => {
  const sprint = await createTestSprint({
    answers: {
      1: plan('alpha', 'beta'),
      2: {
        status: 'continue',
        summary: 'turned around',
        pendingSteps: [
          { id: '<id of beta>', prompt: 'beta' },
          { id: '<id of alpha>', prompt: 'alpha' },
        ],
      },
      3: goalComplete,
    },
  })

  expect(await sprint.run()).toMatchObject({ exitCode: 0 })

  const prompts = (await sprint.calls()).map(({ prompt }) => /## Current step: \S+\s+(.*)/.exec(prompt)?.[1])
  expect(prompts).toEqual([undefined, 'alpha', 'beta'])
})

it('C2: keeps hostile step texts byte for byte, and they change nothing else', async () => {
  const texts = ['say "hi"', "a $(id) `b` \\ ' {{x}}", 'one\n  two: [\n# three', 'x", "status": "completed']
  const [hostile, harmless] = await Promise.all([
    createTestSprint({ sprint: { 'sprint-id': 'same' }, answers: { '*': plan(...texts) } }),
    createTestSprint({ sprint: { 'sprint-id': 'same' }, answers: { '*': plan('a', 'b', 'c', 'd') } }),
  ])

  expect(await hostile.run('--max-iterations', '1')).toMatchObject({ exitCode: 3 })
  expect(await harmless.run('--max-iterations', '1')).toMatchObject({ exitCode: 3 })

  const progress = await hostile.progress()
  expect(progress['dynamic-steps']).toEqual(
    texts.map((prompt) => ({
      id: expect.any(String),
      prompt,
      status: 'pending',
      'added-at': isoTime,
      'added-in-iteration': 1,
    })),
  )
  expect(withoutSteps(progress)).toEqual(withoutSteps(await harmless.progress()))
})

it('C2: handles a plan of 700 steps of 200 characters like any other', async () => {
  const steps = Array.from({ length: 700 }, (_, index) => `${index} `.padEnd(200, 'x'))
  const sprint = await createTestSprint({ answers: { 1: plan(...steps), 2: goalComplete } })

  expect(await sprint.run()).toMatchObject({ exitCode: 0, stderr: '' })

  const { prompt } = (await sprint.calls())[1] ?? {}
  expect(prompt).toContain(steps[0])
  expect((await sprint.progress())['dynamic-steps'].map((step) => step.prompt)).toEqual(steps)
  expect(await sprint.calls()).toHaveLength(2)
})

it('C3: reflects once there have been no steps for idle-threshold iterations (rows 32, 97, 209)', async () => {
  const sprint = await createTestSprint({
    sprint: { ralph: { 'idle-threshold': 3 } },
    answers: { '*': { status: 'continue', summary: 'thinking' } },
  })

  expect(await sprint.run('--max-iterations', '4')).toMatchObject({ exitCode: 3 })

  expect(listModes(await sprint.progress())).toEqual(['planning', 'planning', 'reflecting', 'reflecting'])
  expect(await sprint.calls()).toHaveLength(4)
})

it('C4: accepts goal-complete from min-iterations on, and records earlier claims', async () => {
  const sprint = await createTestSprint({ sprint: { ralph: { 'min-iterations': 3 } }, answers: { '*': goalComplete } })

  expect(await sprint.run()).toMatchObject({ exitCode: 0 })

  const progress = await sprint.progress()
  expect(await sprint.calls()).toHaveLength(3)
  expect(progress['ralph-exit'].iteration).toBe(3)
  expect(progress.ralph['goal-complete-attempted-at']).toBe(2)
  expect(progress.iterations?.map(({ verdict }) => verdict)).toEqual(['premature', 'premature', 'accepted'])
})

it('C5: asks a human, and does not call the agent again before there is an answer', async () => {
  const sprint = await createTestSprint({
    answers: {
      1: { status: 'needs-human', summary: 's', humanNeeded: { reason: 'no key', details: 'see .env' } },
    },
  })

  expect(await sprint.run()).toMatchObject({ exitCode: 2 })
  const progress = await sprint.progress()
  expect(progress.status).toBe('needs-human')
  expect(progress['human-needed']).toEqual({ reason: 'no key', details: 'see .env', 'asked-at': isoTime })

  expect(await sprint.run()).toMatchObject({ exitCode: 2, stdout: expect.stringContaining('no key') })
  expect(await sprint.calls()).toHaveLength(1)
  expect((await sprint.progress())['human-needed']).toEqual(progress['human-needed'])
})

it('C6: an agent that never reports is stopped by the limit, creates no step, and can be resumed', async () => {
  const sprint = await createTestSprint({ answers: { '*': 'I did a lot of good work today.' } })

  expect(await sprint.run('--max-iterations', '5')).toMatchObject({ exitCode: 3 })

  const progress = await sprint.progress()
  expect(progress).toMatchObject({ status: 'limit-reached', 'dynamic-steps': [], 'ralph-exit': { iteration: null } })
  expect(listIterationNumbers(progress)).toEqual([1, 2, 3, 4, 5])
  const calls = (await sprint.calls()).length
  expect(calls).toBeGreaterThanOrEqual(5)
  expect(calls).toBeLessThanOrEqual(10)

  await sprint.answer({ '*': goalComplete })
  expect(await sprint.run()).toMatchObject({ exitCode: 0 })
  expect((await sprint.progress())['ralph-exit'].iteration).toBe(6)
})

it('C7: an agent that exits with 1 has crashed, whatever it prints on stderr, and is retried', async () => {
  const sprint = await createTestSprint({ answers: { 1: { stderr: '429 rate limit\n', exit: 1 }, 2: goalComplete } })

  const { exitCode, stdout } = await sprint.run()

  expect(exitCode).toBe(0)
  expect(stdout).toMatch(/crash: .*exit code 1/)
  expect(await sprint.calls()).toHaveLength(2)
  expect(await sprint.iterations()).toEqual([expect.objectContaining({ number: 1, verdict: 'accepted', attempts: 2 })])
})

const isoTime = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)

const listModes = ({ iterations = [] }: RawProgress) => iterations.map(({ mode }) => mode)
const listIterationNumbers = ({ iterations = [] }: RawProgress) => iterations.map(({ number }) => number)

/** What two runs with different steps must have in common: everything except steps and times. */
const withoutSteps = (progress: RawProgress): unknown =>
  JSON.parse(
    JSON.stringify({ ...progress, 'dynamic-steps': [] }, (key, value: unknown) =>
      /-at$|^active-ms$/.test(key) && value !== null ? 'some time' : value,
    ),
  )
