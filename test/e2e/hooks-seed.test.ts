import { describe, expect, it } from 'vitest'
import { createTestSprint } from '../support/sprint.ts'

const proceed = { status: 'continue', summary: 'on' }
const goalComplete = { status: 'goal-complete', summary: 'f', goalCompleteSummary: 'done' }

it('meets all seven requirements of the first plan for Ralph mode (rows 9, 11, 12, 43, 45, 46, 89, 109, 111)', async () => {
  const sprint = await createTestSprint({
    sprint: {
      goal: 'Create a hello world TypeScript function with tests',
      'per-iteration-hooks': { learning: { enabled: true }, documentation: { enabled: true } },
      ralph: { 'idle-threshold': 1 },
    },
    workflow: {
      'per-iteration-hooks': [
        { id: 'learning', workflow: 'm42-signs:learning-extraction', parallel: true, enabled: false },
        { id: 'documentation', prompt: 'Update the docs.', parallel: true, enabled: false },
        { id: 'custom', prompt: 'Never.', parallel: true, enabled: false },
      ],
    },
    answers: {
      1: { ...proceed, pendingSteps: [{ id: null, prompt: 'write hello.ts' }] },
      2: { ...proceed, completedStepIds: ['<id of write hello.ts>'] },
      3: 'All criteria are met.\n\nRALPH_COMPLETE: hello world with tests',
      '/^\\/m42-signs:learning-extraction /': { sleep: 1.5, text: 'learned' },
      '/^Update the docs/': { sleep: 1.5, text: 'updated' },
    },
  })

  const { exitCode } = await sprint.run()

  const progress = await sprint.progress()
  const calls = await sprint.calls()
  const hooks = calls.filter(({ kind }) => kind === 'matched')
  const [first, second, third] = calls.filter(({ kind }) => kind === 'numbered')

  // 1. The loop starts and recognises `mode: ralph`.
  expect(progress.mode).toBe('ralph')
  expect(first?.prompt).toMatch(/^# Ralph: planning[^]*Create a hello world TypeScript function/)

  // 2. The agent adds steps (the free part).
  expect(progress['dynamic-steps']).toMatchObject([
    { prompt: 'write hello.ts', status: 'completed', 'added-in-iteration': 1, 'completed-in-iteration': 2 },
  ])

  // 3. The hooks of an iteration start in parallel (the deterministic part): both at once, while the next iteration
  // runs.
  const [one, other] = hooks
  expect(new Set([one?.prompt, other?.prompt])).toEqual(
    new Set([
      `/m42-signs:learning-extraction ${sprint.at('s', 'transcripts', 'iteration-1.jsonl')}`,
      'Update the docs.',
    ]),
  )
  expect(Math.abs((one?.startedAt ?? 0) - (other?.startedAt ?? 0))).toBeLessThan(1000)
  expect(second?.startedAt).toBeLessThan(Math.min(one?.endedAt ?? 0, other?.endedAt ?? 0))

  // 4. They are registered in `hook-tasks`; disabled ones are not.
  expect(progress['hook-tasks'].map((task) => `${task.iteration} ${task['hook-id']}`).toSorted()).toEqual([
    '1 documentation',
    '1 learning',
    '2 documentation',
    '2 learning',
    '3 documentation',
    '3 learning',
  ])

  // 5. Reflection begins when no step is pending.
  expect(second?.prompt).toMatch(/^# Ralph: executing/)
  expect(third?.prompt).toMatch(/^# Ralph: reflecting/)

  // 6. RALPH_COMPLETE is recognised and the loop ends.
  expect(exitCode).toBe(0)
  expect(progress.status).toBe('completed')
  expect(progress['ralph-exit']).toMatchObject({ iteration: 3, 'final-summary': 'hello world with tests' })

  // 7. All parallel hooks are completed before the exit.
  expect(progress['hook-tasks'].map(({ status }) => status)).toEqual(Array.from({ length: 6 }, () => 'completed'))
  expect(hooks.every(({ endedAt }) => endedAt !== undefined)).toBe(true)
})

describe('hooks', () => {
  it('run four at a time', async () => {
    const hook = 'mkdir -p running; me=$(mktemp -p running); ls running | wc -l >> most; sleep 0.5; rm "$me"'
    const sprint = await createTestSprint({
      workflow: {
        'per-iteration-hooks': Array.from({ length: 7 }, (_, n) => ({ id: `h${n}`, run: hook, parallel: true })),
      },
      answers: { 1: goalComplete },
    })

    expect(await sprint.run()).toMatchObject({ exitCode: 0 })

    const running = (await sprint.read('most')).trim().split('\n').map(Number)
    expect(running).toHaveLength(7)
    expect(Math.max(...running)).toBe(4)
    expect((await sprint.progress())['hook-tasks'].map(({ status }) => status)).toEqual(
      Array.from({ length: 7 }, () => 'completed'),
    )
  })

  it('feed their output into the next prompt if they fail, and only then', async () => {
    const lint = {
      id: 'lint',
      run: 'echo "$((3 + 4)) problems"; test -f clean',
      parallel: false,
      'on-fail': 'feed-back',
    }
    const sprint = await createTestSprint({
      workflow: { 'per-iteration-hooks': [lint] },
      answers: { 1: proceed, 2: { run: 'touch clean', report: proceed }, 3: goalComplete },
    })

    expect(await sprint.run()).toMatchObject({ exitCode: 0 })

    const withFailure = (await sprint.calls()).map(({ prompt }) => /## Hook lint failed[^]*7 problems/.test(prompt))
    expect(withFailure).toEqual([false, true, false])
  })

  it('block the sprint if configured to', async () => {
    const gate = { id: 'license', run: 'echo GPL found; exit 4', parallel: false, 'on-fail': 'block' }
    const sprint = await createTestSprint({ workflow: { 'per-iteration-hooks': [gate] }, answers: { '*': proceed } })

    const { exitCode, stdout } = await sprint.run()

    expect(exitCode).toBe(1)
    expect(stdout).toContain('blocked: hook license failed: exit code 4')
    expect(await sprint.calls()).toHaveLength(1)
    expect((await sprint.progress())['hook-tasks']).toMatchObject([{ status: 'failed', 'exit-code': 4 }])
  })

  it('do not run after an iteration without a valid report, which is recorded (row 94)', async () => {
    const sprint = await createTestSprint({
      workflow: { 'per-iteration-hooks': [{ id: 'notes', run: 'echo $ITERATION >> notes', parallel: false }] },
      answers: { 1: 'no report', 2: 'none either', 3: goalComplete },
    })

    expect(await sprint.run()).toMatchObject({ exitCode: 0 })

    expect((await sprint.iterations()).map(({ verdict, hooks }) => [verdict, hooks])).toEqual([
      ['malformed', 'skipped'],
      ['accepted', undefined],
    ])
    expect(await sprint.read('notes')).toBe('2\n')
  })

  it('that are a workflow of the project run its phases in order as one task', async () => {
    const sprint = await createTestSprint({
      files: { 'wf/tidy.yaml': 'name: Tidy\nphases:\n  - {id: a, prompt: Sort it.}\n  - {id: b, prompt: Sweep it.}\n' },
      workflow: { 'per-iteration-hooks': [{ id: 'tidy', workflow: 'tidy', parallel: false }] },
      answers: { 1: goalComplete, '/Sort it|Sweep it/': 'tidied' },
    })

    expect(await sprint.run()).toMatchObject({ exitCode: 0 })

    expect((await sprint.calls()).slice(-2).map(({ prompt }) => prompt)).toEqual(['Sort it.', 'Sweep it.'])
    expect((await sprint.progress())['hook-tasks']).toMatchObject([{ 'hook-id': 'tidy', status: 'completed' }])
  })

  it('that need a slash command of an agent without any are an error before the start', async () => {
    const sprint = await createTestSprint({
      sprint: { agent: 'codex' },
      workflow: { 'per-iteration-hooks': [{ id: 'learning', workflow: 'signs:extract' }] },
    })

    expect(await sprint.run()).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('NOT_SUPPORTED') })
  })

  it('add their cost', async () => {
    const sprint = await createTestSprint({
      workflow: { 'per-iteration-hooks': [{ id: 'learn', prompt: 'learn', parallel: true }] },
      answers: { 1: goalComplete, '/^learn/': 'learned' },
    })

    expect(await sprint.run()).toMatchObject({ exitCode: 0 })

    const progress = await sprint.progress()
    expect(progress.stats['cost-usd']).toBe(0.02)
    expect(progress.iterations).toMatchObject([{ 'cost-usd': 0.01 }])
    expect(progress['hook-tasks']).toMatchObject([{ 'cost-usd': 0.01 }])
  })
})
