import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { createTestSprint } from '../support/sprint.ts'

const proceed = { status: 'continue', summary: 'still at it' }
const goalComplete = { status: 'goal-complete', summary: 'f', goalCompleteSummary: 'all tests pass' }
const packageJson = (test: string) => JSON.stringify({ name: 'x', scripts: { test } })
const testFile = (call: string) => `import test from 'node:test'\n${call}('adds', () => {})\n`

describe('detected checks', () => {
  it('are found in the project, and one line says so and how to disable them', async () => {
    const sprint = await createTestSprint({
      files: { 'package.json': packageJson('test -f fixed') },
      answers: { 1: goalComplete, 2: { run: 'touch fixed', report: goalComplete } },
    })

    const { exitCode, stdout } = await sprint.run()

    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/^done when {2}npm test {2}detected; disable with "done-when: \[\]" in SPRINT\.yaml$/m)
    expect(stdout).toMatch(/^before {5}npm test ✗ fails/m)
    expect(stdout).toMatch(/refused by npm test[\s\S]*accepted by npm test/)
    const progress = await sprint.progress()
    expect(progress['done-when']).toMatchObject([{ run: 'npm test' }])
    expect(progress['ralph-exit']).not.toHaveProperty('unchecked')
  })

  it('stay the same in the next run, even if the project changes', async () => {
    const sprint = await createTestSprint({
      files: { 'package.json': packageJson('false') },
      answers: { '*': goalComplete },
    })
    await sprint.run('--max-iterations', '1')
    await sprint.write('package.json', '{}')
    await sprint.write('Makefile', 'test:\n\ttrue\n')

    expect(await sprint.run('--max-iterations', '2')).toMatchObject({ exitCode: 3 })

    expect((await sprint.progress())['done-when']).toMatchObject([{ run: 'npm test' }])
  })

  it.each([
    ['switched off', { 'done-when': [] }, { 'package.json': packageJson('false') }],
    ['not there', {}, {}],
  ])('that are %s: the claim is accepted unchecked, and the start and the end say so', async (_, settings, files) => {
    const sprint = await createTestSprint({ sprint: settings, files, answers: { 1: goalComplete } })

    const { exitCode, stdout } = await sprint.run()

    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/^done when {2}no check found: Ralph will accept the agent's claim unchecked/m)
    expect(stdout).toContain('accepted, unchecked: the sprint has no check')
    expect((await sprint.progress())['ralph-exit']).toMatchObject({ unchecked: true })
  })
})

describe('a check that ran no test', () => {
  it.each([
    ['all tests were deleted', 'rm a.test.mjs'],
    ['all tests were skipped', `echo "import test from 'node:test'; test.skip('adds', () => {})" > a.test.mjs`],
  ])('does not pass: %s', async (_, cheat) => {
    const sprint = await createTestSprint({
      sprint: { 'done-when': [{ run: `${process.execPath} --test` }] },
      files: { 'a.test.mjs': testFile('test') },
      answers: { '*': { run: cheat, report: goalComplete } },
    })

    const { exitCode, stdout } = await sprint.run('--max-iterations', '1')

    expect(exitCode).toBe(3)
    expect(stdout).toMatch(/^before .*✓ passes$/m)
    expect(stdout).toContain('it ran no test')
    expect((await sprint.progress())['refused-by']).toMatchObject([{ 'exit-code': 0, reason: 'it ran no test' }])
  })

  it('differs from one that ran some: a real runner with a real test passes', async () => {
    const sprint = await createTestSprint({
      sprint: { 'done-when': [{ run: `${process.execPath} --test` }], proof: 'optional' },
      files: { 'a.test.mjs': testFile('test') },
      answers: { 1: goalComplete },
    })

    expect(await sprint.run()).toMatchObject({ exitCode: 0 })
  })
})

it('tells the agent in the next prompt that a check was red before the sprint began', async () => {
  const sprint = await createTestSprint({
    sprint: {
      'done-when': [
        { run: 'echo old trouble; false', name: 'old' },
        { run: 'test ! -f broken', name: 'new' },
      ],
    },
    answers: { '*': { run: 'touch broken', report: goalComplete } },
  })

  expect(await sprint.run('--max-iterations', '2')).toMatchObject({ exitCode: 3 })

  const [first, second] = (await sprint.calls()).map(({ prompt }) => prompt)
  expect(first).not.toContain('Refused')
  expect(second).toMatch(/## Refused: old\n\n.*it was already failing before the sprint began[\s\S]*old trouble/)
  expect(second).not.toMatch(/## Refused: new\n\n.*it was red before/)
  expect((await sprint.progress()).baseline).toEqual([
    { name: 'old', passed: false },
    { name: 'new', passed: true },
  ])
})

describe('an agent that tampers with what defines a check', () => {
  const honest = '#!/bin/sh\necho honest; exit 1\n'
  const cheats: Readonly<Record<string, string>> = {
    'writes another one': 'printf "#!/bin/sh\\nexit 0\\n" > scripts/check.sh',
    'deletes the folder': 'rm -rf scripts && mkdir scripts && printf "exit 0" > scripts/check.sh',
    'puts a link in its place': 'rm scripts/check.sh && ln -s /bin/true scripts/check.sh',
    'puts a folder in its place': 'rm scripts/check.sh && mkdir -p scripts/check.sh/x',
  }
  const setup = (protect: boolean, cheat: string) => ({
    sprint: { 'done-when': [{ run: 'scripts/check.sh', protect }] },
    files: { 'scripts/check.sh': honest },
    answers: { '*': { run: cheat, report: goalComplete } },
  })

  it('is reported and refused', async () => {
    const sprint = await createTestSprint(setup(false, cheats['writes another one'] ?? ''))
    await promisify(execFile)('chmod', ['+x', sprint.at('scripts/check.sh')])

    const { exitCode, stdout } = await sprint.run('--max-iterations', '1')

    expect(exitCode).toBe(3)
    expect(stdout).toContain('! the agent changed files that define the checks: scripts/check.sh')
    expect(await sprint.iterations()).toMatchObject([{ verdict: 'refused', tampered: ['scripts/check.sh'] }])
  })

  it.each(Object.entries(cheats))('has no effect with protect: true, if it %s', async (_, cheat) => {
    const sprint = await createTestSprint(setup(true, cheat))
    await promisify(execFile)('chmod', ['+x', sprint.at('scripts/check.sh')])

    const { exitCode, stdout } = await sprint.run('--max-iterations', '1')

    expect(exitCode).toBe(3)
    expect(stdout).toMatch(/check scripts\/check\.sh {2}✗ exit code 1[\s\S]*honest/)
    expect(await sprint.read('scripts/check.sh')).toBe(honest)
    expect(await sprint.iterations()).toMatchObject([{ verdict: 'refused', tampered: ['scripts/check.sh'] }])
  })
})

describe('a check', () => {
  it("that does not exist stops the sprint with the shell's message, before an agent is paid", async () => {
    const sprint = await createTestSprint({
      sprint: { 'done-when': [{ run: 'no-such-program --all' }] },
      answers: { '*': goalComplete },
    })

    const { exitCode, stderr } = await sprint.run('--max-iterations', '1')

    expect(exitCode).toBe(1)
    expect(stderr).toMatch(/CHECK_NOT_STARTED[\s\S]*no-such-program: not found/)
    expect(await sprint.calls()).toEqual([])
  })

  it('that hangs is killed with its process tree, and is red', async () => {
    const sprint = await createTestSprint({
      sprint: { 'done-when': [{ run: 'setsid sleep 600 & sleep 600', timeout: '1s' }] },
      answers: { '*': goalComplete },
    })
    const started = performance.now()

    expect(await sprint.run('--max-iterations', '1')).toMatchObject({
      exitCode: 3,
      stdout: expect.stringContaining('✗ timed out after 1 s'),
    })
    expect(performance.now() - started).toBeLessThan(120_000)
    expect(sprint.processes()).toEqual([])
  })

  it('that prints gigabytes is killed, and only a small part of its output is kept', async () => {
    const sprint = await createTestSprint({
      sprint: { 'done-when': [{ run: 'test -f started || exit 1; yes flood', name: 'flood' }] },
      answers: { '*': { run: 'touch started', report: goalComplete } },
    })

    const { exitCode, stdout } = await sprint.run('--max-iterations', '1')

    expect(exitCode).toBe(3)
    expect(stdout).toContain('✗ printed more than 1 GiB')
    expect((await sprint.read('s/PROGRESS.yaml')).length).toBeLessThan(40_000)
    expect(sprint.processes()).toEqual([])
  })

  it('that runs every iteration needs no claim; its output is in the next prompt until it is green', async () => {
    const lint = { run: 'echo 2 problems; test -f clean', name: 'lint', 'each-iteration': true }
    const sprint = await createTestSprint({
      sprint: { 'done-when': [lint, { run: 'true', name: 'unit tests' }] },
      answers: { 1: proceed, 2: { run: 'touch clean', report: proceed }, 3: proceed, 4: goalComplete },
    })

    expect(await sprint.run()).toMatchObject({ exitCode: 0 })

    const prompts = (await sprint.calls()).map(({ prompt }) => /## Refused: lint[^]*2 problems/.test(prompt))
    expect(prompts).toEqual([false, true, false, false])
    expect((await sprint.iterations()).map(({ checks }) => checks)).toEqual([
      [{ name: 'lint', passed: false }],
      [{ name: 'lint', passed: true }],
      [{ name: 'lint', passed: true }],
      [
        { name: 'lint', passed: true },
        { name: 'unit tests', passed: true },
      ],
    ])
  })

  it('sees only the variables that SPRINT.yaml names, and none of Ralph', async () => {
    const sprint = await createTestSprint({
      env: { SECRET_TOKEN: 's3cret', DB_URL: 'db' },
      sprint: {
        'done-when': [{ run: 'test -f done && echo "$SECRET_TOKEN|$DB_URL|$RALPH_ATTEMPT|"; false' }],
        env: { pass: ['DB_URL'] },
      },
      answers: { '*': { run: 'touch done', report: goalComplete } },
    })

    expect(await sprint.run('--max-iterations', '1')).toMatchObject({ exitCode: 3 })

    expect((await sprint.progress())['refused-by']).toMatchObject([{ output: '|db||\n' }])
  })
})

describe('a review', () => {
  const fakeCodex = (verdict: string) =>
    [
      '#!/bin/sh',
      'cat > "$0.prompt"',
      `printf '%s\\n' '${JSON.stringify({ type: 'thread.started', thread_id: 't' })}'`,
      `printf '%s\\n' '${JSON.stringify({ type: 'item.completed', item: { id: 'i', type: 'agent_message', text: verdict } })}'`,
      `printf '%s\\n' '${JSON.stringify({ type: 'turn.completed', usage: { input_tokens: 70, output_tokens: 30 } })}'`,
      '',
    ].join('\n')
  const says = (verdict: string) => `\`\`\`json\n{"verdict": "${verdict}", "summary": "I looked"}\n\`\`\``

  it.each([
    ['pass', 0, 'accepted'],
    ['fail', 3, 'refused'],
  ])('by another agent that says %s decides, and is recorded', async (verdict, exitCode, result) => {
    const sprint = await createTestSprint({ sprint: { review: { agent: 'codex' } }, answers: { '*': goalComplete } })
    await sprint.write('../bin/codex', fakeCodex(says(verdict)))
    await promisify(execFile)('chmod', ['+x', sprint.at('../bin/codex')])

    expect(await sprint.run('--max-iterations', '1')).toMatchObject({ exitCode })

    expect(await sprint.iterations()).toMatchObject([
      {
        verdict: result,
        review: { passed: verdict === 'pass', summary: 'I looked' },
        usage: { 'input-tokens': 80, 'output-tokens': 35 },
      },
    ])
    expect(await sprint.read('../bin/codex.prompt')).toContain('all tests pass')
  })

  it('by an agent that is not installed is an error before the start', async () => {
    const sprint = await createTestSprint({ sprint: { review: { agent: 'codex' } }, answers: { '*': goalComplete } })

    expect(await sprint.run()).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('error AGENT_NOT_FOUND') })
    expect(await sprint.calls()).toEqual([])
  })
})
