import { existsSync } from 'node:fs'
import { unlink } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { parse, stringify } from 'yaml'
import { exitCodes } from '../../src/cli/io/exit-code.ts'
import { createTestSprint, type RawProgress, type TestSprint } from '../support/sprint.ts'

const done = { status: 'goal-complete', summary: 'done', goalCompleteSummary: 'All of it works' }
const quick = { 'done-when': [] }

const listPrompts = async (sprint: TestSprint): Promise<string[]> => (await sprint.calls()).map(({ prompt }) => prompt)

/** Changes PROGRESS.yaml as a person with an editor would. */
async function edit(sprint: TestSprint, change: (progress: RawProgress) => void): Promise<void> {
  const progress: RawProgress = parse(await sprint.read('s/PROGRESS.yaml'))
  change(progress)
  await sprint.write('s/PROGRESS.yaml', stringify(progress))
}

describe('PROGRESS.yaml edited between two runs (row 64)', () => {
  const steps = { ...quick, steps: ['first thing', 'second thing'] }

  it('counts before the next prompt: a step that is marked completed is not done again', async () => {
    const sprint = await createTestSprint({ sprint: steps, answers: { '*': done } })
    await sprint.compile()
    await edit(sprint, ({ 'dynamic-steps': [first] }) => {
      if (first) first.status = 'completed'
    })
    const before = await sprint.contents()

    expect((await sprint.ralph('prompt', 's')).stdout).toContain('step-1\n\nsecond thing')
    const status = (await sprint.ralph('status', 's')).stdout
    expect(status).toContain('✓ step-0  first thing')
    expect(status).toContain('edited in PROGRESS.yaml since the last run; the next run applies it')
    expect((await sprint.run('--dry-run')).stdout).toContain('step-1\n\nsecond thing')
    expect(await sprint.contents()).toEqual(before)
    expect(await sprint.run()).toMatchObject({ exitCode: 0 })
    // The dry run asks the program for its version.
    expect((await listPrompts(sprint)).at(-1)).toContain('second thing')
    expect((await sprint.iterations())[0]?.step).toBe('step-1')
  })

  it('starts nothing after status: paused, and the run after that resumes', async () => {
    const sprint = await createTestSprint({ sprint: steps, answers: { '*': done } })
    await sprint.compile()
    await edit(sprint, (progress) => {
      progress.status = 'paused'
    })

    expect((await sprint.ralph('status', 's')).stdout).toContain('edited in PROGRESS.yaml')
    const first = await sprint.run()
    expect({ exitCode: first.exitCode, calls: (await sprint.calls()).length }).toEqual({
      exitCode: exitCodes.paused,
      calls: 0,
    })
    expect(first.stderr).toContain('was paused in PROGRESS.yaml')
    expect(await sprint.run()).toMatchObject({ exitCode: 0 })
  })
})

it('starts nothing while PAUSE is in the sprint folder (m42)', async () => {
  const sprint = await createTestSprint({ sprint: quick, answers: { '*': done }, files: { 's/PAUSE': '' } })
  const first = await sprint.run()
  expect({ exitCode: first.exitCode, calls: (await sprint.calls()).length }).toEqual({
    exitCode: exitCodes.paused,
    calls: 0,
  })

  await unlink(sprint.at('s/PAUSE'))
  expect(await sprint.run()).toMatchObject({ exitCode: 0 })
})

it('pauses after the iteration when PAUSE appears while it runs', async () => {
  const slow = {
    waits: 'go',
    report: { status: 'continue', summary: 's', pendingSteps: [{ id: null, prompt: 'more' }] },
  }
  const sprint = await createTestSprint({ sprint: quick, answers: { 1: slow, '*': done } })
  const run = sprint.startRun()
  await sprint.called(1)
  await sprint.write('s/PAUSE', '')
  while (!run.printed().includes('found PAUSE')) await pause(50)
  await sprint.release('go')

  expect(await run.ended).toMatchObject({ exitCode: exitCodes.paused })
  expect((await sprint.progress()).status).toBe('paused')
})

it('puts context/_shared.md into every prompt (m42)', async () => {
  const sprint = await createTestSprint({
    sprint: quick,
    files: { 's/context/_shared.md': 'We use tabs, never spaces.\n' },
    answers: { 1: { status: 'continue', summary: 's', pendingSteps: [{ id: null, prompt: 'x' }] }, '*': done },
  })
  expect(await sprint.run()).toMatchObject({ exitCode: 0 })
  for (const prompt of await listPrompts(sprint)) expect(prompt).toContain('We use tabs, never spaces.')
  expect((await sprint.ralph('prompt', 's', '--mode', 'planning')).stdout).toContain('We use tabs, never spaces.')
})

describe('a phase without a report', () => {
  const phases = 'phases:\n  - { id: one, prompt: Do one }\n  - { id: two, prompt: Do two }\n'
  const files = (report: string) => ({
    's/SPRINT.yaml': 'workflow: plain\n',
    'wf/plain.yaml': `name: Plain\n${report}${phases}`,
  })

  it("follows m42's rule when the workflow says report: optional (row 256)", async () => {
    const sprint = await createTestSprint({ files: files('report: optional\n'), answers: { '*': 'I did it.' } })
    expect(await sprint.run()).toMatchObject({ exitCode: 0 })
    expect((await sprint.iterations()).map(({ verdict, summary }) => `${verdict}: ${summary}`)).toEqual([
      'completed: I did it.',
      'completed: I did it.',
    ])
  })

  it('is blocked by default', async () => {
    const sprint = await createTestSprint({ files: files(''), answers: { '*': 'I did it.' } })
    expect(await sprint.run()).toMatchObject({ exitCode: 1 })
  })
})

describe('hooks', () => {
  it('show the pid of their process while they run, and null afterwards (rows 24, 25, 44, 125)', async () => {
    const hook = { id: 'slow', run: `while [ ! -e go ]; do sleep 0.1; done`, parallel: true, enabled: true }
    const sprint = await createTestSprint({
      sprint: quick,
      workflow: { 'per-iteration-hooks': [hook] },
      answers: { '*': done },
    })
    const run = sprint.startRun()
    let pid: number | null | undefined
    for (; !pid; await pause(100)) {
      if (sprint.has('s/PROGRESS.yaml'))
        pid = (await sprint.progress())['hook-tasks'].find((task) => task.status === 'running')?.pid
    }
    expect(existsSync(`/proc/${pid}`)).toBe(true)
    await sprint.write('go', '')

    expect(await run.ended).toMatchObject({ exitCode: 0 })
    expect((await sprint.progress())['hook-tasks']).toMatchObject([
      { 'hook-id': 'slow', status: 'completed', pid: null },
    ])
  })

  it('run the phases of a local workflow in order, each as a call of its own (rows 10, 88, 110)', async () => {
    const sprint = await createTestSprint({
      sprint: quick,
      workflow: { 'per-iteration-hooks': [{ id: 'doc', workflow: 'doc-update', parallel: false, enabled: true }] },
      files: {
        'wf/doc-update.yaml':
          'name: D\nphases:\n  - { id: a, prompt: HOOK read it }\n  - { id: b, prompt: HOOK write it }\n',
      },
      answers: { '/^HOOK/': 'ok', '*': done },
    })
    expect(await sprint.run()).toMatchObject({ exitCode: 0 })
    expect((await listPrompts(sprint)).filter((prompt) => prompt.startsWith('HOOK'))).toEqual([
      'HOOK read it',
      'HOOK write it',
    ])
    expect((await sprint.progress())['hook-tasks']).toMatchObject([{ 'hook-id': 'doc', status: 'completed' }])
    expect(sprint.has('s/transcripts/iter-1-doc-2.jsonl')).toBe(true)
  })

  const init = (commands: readonly string[]) =>
    JSON.stringify({ type: 'system', subtype: 'init', session_id: 's', slash_commands: commands })
  const learning = { 'per-iteration-hooks': { learning: { enabled: true } } }

  it('fail if the plugin of their command is not installed (row 87)', async () => {
    const sprint = await createTestSprint({
      sprint: quick,
      workflow: { 'per-iteration-hooks': [{ id: 'x', workflow: 'signs:extract', parallel: false, enabled: true }] },
      answers: { '/^.signs:extract/': { lines: [init(['compact'])], lingers: true }, '*': done },
    })
    expect(await sprint.run()).toMatchObject({ exitCode: 0 })
    const [task] = (await sprint.progress())['hook-tasks']
    expect(task).toMatchObject({ status: 'failed' })
    expect(task?.error).toContain('claude has no command /signs:extract')
  })

  it.each([
    ['calls the plugin of the bundled learning hook where it is installed', ['m42-signs:learning-extraction'], 1],
    ['uses the prompt of our own otherwise', ['compact'], 2],
  ])('%s (row 69)', async (_, commands, calls) => {
    const sprint = await createTestSprint({
      sprint: { ...quick, ...learning },
      files: { 'wf/ralph.yaml': null },
      answers: {
        '/^.m42-signs/': { lines: [init(commands)], text: 'learned' },
        '/LEARNINGS/': 'learned',
        '*': done,
      },
    })
    expect(await sprint.run()).toMatchObject({ exitCode: 0 })
    expect((await sprint.calls()).filter(({ kind }) => kind === 'matched')).toHaveLength(calls)
    expect((await sprint.progress())['hook-tasks']).toMatchObject([{ 'hook-id': 'learning', status: 'completed' }])
  })
})
