import { execFile } from 'node:child_process'
import { mkdir, readdir } from 'node:fs/promises'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { createTestSprint } from '../support/sprint.ts'
import { inTerminal } from '../support/terminal.ts'

const goalComplete = { status: 'goal-complete', summary: 'f', goalCompleteSummary: 'done' }
const noYaml = { 's/SPRINT.yaml': null, 'wf/ralph.yaml': null }
const greenTest = {
  'package.json': '{"type":"module","scripts":{"test":"node --test"}}',
  'a.test.js': "import test from 'node:test'\ntest('holds', () => {})\n",
}

it('takes the check of a new sprint from --check', async () => {
  const sprint = await createTestSprint({
    files: noYaml,
    answers: { 1: goalComplete, 2: { run: 'touch fixed', report: goalComplete } },
  })

  const { exitCode, stdout } = await sprint.ralph('run', '--goal', 'fix it', '--check', 'test -f fixed')

  expect({ exitCode, stdout }).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/refused by test -f fixed/) })
  const [folder] = await readdir(sprint.at('.claude/sprints'))
  expect(parse(await sprint.read(`.claude/sprints/${folder}/SPRINT.yaml`))).toMatchObject({
    'done-when': [{ run: 'test -f fixed' }],
  })
})

it.each([
  ['--check for a sprint that exists', ['--check', 'true']],
  ['--proof with another word', ['--proof', 'maybe']],
])('refuses %s and starts no agent', async (_, args) => {
  const sprint = await createTestSprint()

  const { exitCode, stderr } = await sprint.run(...args)

  expect({ exitCode, stderr }).toMatchObject({ exitCode: 1, stderr: expect.stringMatching(/^error USAGE [^\n]*\n$/) })
  expect(await sprint.calls()).toEqual([])
})

it('says at a green start what done will need, and accepts an unproven end with --proof optional, marked', async () => {
  const sprint = await createTestSprint({ files: greenTest, answers: { '*': goalComplete } })

  const refused = await sprint.run('--max-iterations', '1')
  expect(refused.exitCode).toBe(3)
  expect(refused.stdout).toContain('all checks pass already: done will need a test that fails without the change')
  expect(refused.stdout).toContain('No file has changed since the sprint began.')

  const accepted = await sprint.run('--max-iterations', '2', '--proof', 'optional')
  expect(accepted.exitCode).toBe(0)
  expect(accepted.stdout).toContain('unproven')
  expect((await sprint.progress())['ralph-exit']).toMatchObject({ unproven: true })
})

it('exits with 5 in CI when the end is unproven', async () => {
  const sprint = await createTestSprint({ files: greenTest, answers: { '*': goalComplete } })

  expect(await sprint.run('--proof', 'optional', '--ci')).toMatchObject({ exitCode: 5 })
})

it('finds the checks of the repository in one of its subfolders', async () => {
  const sprint = await createTestSprint({
    files: { ...noYaml, ...greenTest, 'app/core/readme.md': 'x' },
    answers: { '*': goalComplete },
  })
  await promisify(execFile)('git', ['init', '-q'], { cwd: sprint.at() })
  await mkdir(sprint.at('app/core/.claude/sprints/x'), { recursive: true })
  await sprint.write('app/core/.claude/sprints/x/SPRINT.yaml', 'workflow: ralph\ngoal: g\n')

  const { stdout } = await sprint.ralph('run', 'app/core/.claude/sprints/x', '--max-iterations', '1')

  expect(stdout).toMatch(/^done when {2}cd \.\.\/\.\. && npm test {2}detected/m)
  expect(stdout).toMatch(/^before {5}cd \.\.\/\.\. && npm test ✓/m)
})

it('asks once on a terminal for the check of a project that has none', async () => {
  const sprint = await createTestSprint({ answers: { 1: goalComplete, 2: { run: 'touch ok', report: goalComplete } } })
  const terminal = inTerminal(sprint, ['run', 's', '--workflows', 'wf', '--plain'])
  await terminal.sees('No check was found')
  terminal.type('test -f ok\r')

  expect(await terminal.ended).toBe(0)
  expect(terminal.shown()).toContain('accepted by test -f ok')
  expect(await sprint.progress()).toMatchObject({ 'done-when': [{ run: 'test -f ok' }] })
})
