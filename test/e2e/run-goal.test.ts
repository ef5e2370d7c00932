import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { createTestSprint } from '../support/sprint.ts'

const goalComplete = { status: 'goal-complete', summary: 'f', goalCompleteSummary: 'done' }
const today = () => new Date().toISOString().slice(0, 10)
const noYaml = { 's/SPRINT.yaml': null, 'wf/ralph.yaml': null }

it('runs a goal without any YAML, in a sprint folder that it creates', async () => {
  const sprint = await createTestSprint({ files: noYaml, answers: { '*': goalComplete } })
  const goal = 'Make "all" tests pass: today'
  const folder = `.claude/sprints/${today()}_make-all-tests-pass-today`

  const { exitCode, stdout, stderr } = await sprint.ralph('run', '--goal', goal)

  expect(exitCode).toBe(0)
  expect(stdout).toContain('accepted, unchecked')
  expect(stderr).toContain(folder)
  expect(parse(await sprint.read(`${folder}/SPRINT.yaml`))).toEqual({
    workflow: 'ralph',
    goal,
    limits: { iterations: 50, usd: 20 },
  })
  expect(parse(await sprint.read(`${folder}/PROGRESS.yaml`))).toMatchObject({ status: 'completed', goal })
  expect((await sprint.read(`${folder}/.gitignore`)).split('\n').slice(0, 2)).toEqual(['*', '!SPRINT.yaml'])
  expect(await sprint.calls()).toEqual([
    expect.objectContaining({ cwd: sprint.at(), prompt: expect.stringContaining(goal) }),
  ])
})

it('creates another sprint when the same goal is run again', async () => {
  const sprint = await createTestSprint({ files: noYaml, answers: { '*': goalComplete } })

  expect(await sprint.ralph('run', '--goal', 'tidy up')).toMatchObject({ exitCode: 0 })
  expect(await sprint.ralph('run', '--goal', 'tidy up')).toMatchObject({ exitCode: 0 })

  const made = Object.keys(await sprint.contents()).filter((path) => path.endsWith('SPRINT.yaml'))
  expect(made).toEqual([
    `.claude/sprints/${today()}_tidy-up-2/SPRINT.yaml`,
    `.claude/sprints/${today()}_tidy-up/SPRINT.yaml`,
  ])
  expect(await sprint.calls()).toHaveLength(2)
})

it('detects the check of the project, says so, and refuses a claim while it is red', async () => {
  const sprint = await createTestSprint({
    files: { ...noYaml, 'package.json': JSON.stringify({ scripts: { test: 'echo checking && test -f fixed' } }) },
    answers: { 1: goalComplete, 2: { run: 'touch fixed', report: goalComplete } },
  })

  const { exitCode, stdout } = await sprint.ralph('run', '--goal', 'fix it')

  expect(exitCode).toBe(0)
  expect(stdout).toMatch(/done when +npm test +detected/)
  expect(stdout).toMatch(/refused by npm test[\s\S]*accepted by npm test/)
})

it.each([
  ['an empty goal', ['run', '--goal', ' '], 'RALPH_MISSING_GOAL'],
  ['neither a goal nor a folder', ['run'], 'USAGE'],
  ['a goal for a folder that has one', ['run', 's', '--goal', 'other'], 'USAGE'],
])('refuses %s and writes nothing', async (_, args, code) => {
  const sprint = await createTestSprint()
  const before = await sprint.contents()

  const { exitCode, stdout, stderr } = await sprint.ralph(...args)

  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' })
  expect(stderr).toMatch(new RegExp(`^error ${code} [^\n]*\n$`))
  expect(await sprint.contents()).toEqual(before)
  expect(await sprint.calls()).toEqual([])
})
