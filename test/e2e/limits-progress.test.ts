import { describe, expect, it } from 'vitest'
import { commitAll, git, prints, putProgram, reportBlock } from '../support/programs.ts'
import { createTestSprint, type Answers, type Setup } from '../support/sprint.ts'

const proceed = { status: 'continue', summary: 'still at it' }
const shortPatience = { limits: { 'no-progress': 2 } }

/** Six iterations are allowed, three without progress are not. */
const runToEnd = async ({ sprint = shortPatience, answers, ...setup }: Setup & { readonly answers: Answers }) => {
  const made = await createTestSprint({ sprint, answers, ...setup })
  return { made, run: () => made.run('--max-iterations', '6') }
}

describe('progress is', () => {
  it('a changed file', async () => {
    const { run } = await runToEnd({ answers: { '*': { run: 'echo x >> log.txt', report: proceed } } })

    expect(await run()).toMatchObject({ exitCode: 3 })
  })

  it('a commit, even an empty one', async () => {
    const commit = 'git -c user.name=a -c user.email=a@b commit --allow-empty -qm x'
    const { made, run } = await runToEnd({ answers: { '*': { run: commit, report: proceed } } })
    await commitAll(made)

    expect(await run()).toMatchObject({ exitCode: 3 })
  })

  it('a change in one of several repositories, including one that the agent created', async () => {
    const { made, run } = await runToEnd({
      answers: { 1: { run: 'git init -q web', report: proceed }, '*': { run: 'echo x >> web/log', report: proceed } },
    })
    await git(made, 'init', '--quiet', 'server')

    expect(await run()).toMatchObject({ exitCode: 3 })
    expect((await made.iterations()).map(({ changed }) => changed)).toEqual(Array.from({ length: 6 }, () => true))
  })

  it('a change in the steps', async () => {
    const plan = { ...proceed, pendingSteps: [{ id: null, prompt: 'one more' }] }
    const { run } = await runToEnd({ answers: { '*': plan } })

    expect(await run()).toMatchObject({ exitCode: 3 })
  })
})

describe('progress is not', () => {
  const idle: Answers = { '*': proceed }

  it('a change by a hook', async () => {
    const hooks = [{ id: 'notes', run: 'date +%s%N >> notes.txt', parallel: false }]
    const { made, run } = await runToEnd({ workflow: { 'per-iteration-hooks': hooks }, answers: idle })

    expect(await run()).toMatchObject({ exitCode: 2 })
    expect(await made.calls()).toHaveLength(3)
  })

  it('a change by a check', async () => {
    const check = { run: 'date +%s%N >> coverage.txt; false', 'each-iteration': true }
    const { made, run } = await runToEnd({ sprint: { ...shortPatience, 'done-when': [check] }, answers: idle })

    expect(await run()).toMatchObject({ exitCode: 2 })
    expect(await made.calls()).toHaveLength(3)
  })

  it("an ignored file, or a file of Ralph's own", async () => {
    const touch = { run: 'date +%s%N >> ignored.log; date +%s%N >> s/mine.txt', report: proceed }
    const { made, run } = await runToEnd({ files: { '.gitignore': '*.log\n' }, answers: { '*': touch } })
    await commitAll(made)

    expect(await run()).toMatchObject({ exitCode: 2 })
  })
})

it('never stops fifty small but real iterations', async () => {
  const sprint = await createTestSprint({ sprint: { limits: { 'no-progress': 5 } } })
  const result = reportBlock(proceed)
  await putProgram(
    sprint,
    'claude',
    ['cat >/dev/null', 'echo x >> log.txt', prints({ type: 'result', subtype: 'success', result })].join('\n'),
  )

  expect(await sprint.run('--max-iterations', '50')).toMatchObject({ exitCode: 3 })

  const iterations = await sprint.iterations()
  expect(iterations.map(({ verdict, changed }) => `${verdict} ${changed}`)).toEqual(
    Array.from({ length: 50 }, () => 'continue true'),
  )
})

it('ignores the files with no-progress: off, and never stops for it', async () => {
  const sprint = await createTestSprint({
    sprint: { limits: { 'no-progress': 'off' }, checkpoint: false },
    answers: { '*': proceed },
  })
  await commitAll(sprint)

  expect(await sprint.run('--max-iterations', '8')).toMatchObject({ exitCode: 3 })

  expect(sprint.has('s/index')).toBe(false)
  expect((await sprint.iterations()).every((iteration) => !('changed' in iteration))).toBe(true)
})

it('stuck: reflects once with the reason in its prompt, then asks, and the answer gives it another chance (rows 2, 148)', async () => {
  const sprint = await createTestSprint({
    sprint: { ...shortPatience, steps: ['alpha'] },
    answers: { '*': { status: 'continue', summary: 'I am confused' } },
  })

  const { exitCode, stdout } = await sprint.run()

  expect(exitCode).toBe(2)
  expect(stdout).toMatch(/a human is needed: No progress in 3 iterations: no file, step or check has changed/)
  expect(stdout).toContain('The last thing the agent said: I am confused')
  const prompts = (await sprint.calls()).map(({ prompt }) => prompt)
  expect(prompts.map((prompt) => /^# Ralph: (\w+)/.exec(prompt)?.[1])).toEqual(['executing', 'executing', 'reflecting'])
  expect(prompts[2]).toContain('In the last 2 iterations no file, step or check has changed')

  await sprint.ralph('answer', 's', 'Look at the logs')
  expect(await sprint.run('--max-iterations', '4')).toMatchObject({ exitCode: 3 })
  expect((await sprint.calls())[3]?.prompt).toMatch(/^# Ralph: executing[^]*Answer: Look at the logs/)
})
