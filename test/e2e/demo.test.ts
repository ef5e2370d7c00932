import { execFile } from 'node:child_process'
import { expect, it } from 'vitest'
import { createTestSprint } from '../support/sprint.ts'

it('refuses a claim and a cheat by the name of the test, then accepts, with a real check on tests that are really red', async () => {
  const sprint = await createTestSprint()

  const { exitCode, stdout, stderr } = await sprint.ralph('demo', 'pancakes', '--fast')

  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
  const [refused = '', cheat = '', accepted = ''] = stdout.split('refused by unit tests')
  expect(refused).toMatch(/check unit tests +✗/)
  expect(cheat).toMatch(/check unit tests +✗/)
  expect(accepted).toMatch(/missing[^\n]*never asks anybody to crack half an egg/)
  expect(accepted).toMatch(/check unit tests +✓[\s\S]*accepted by unit tests/)
  expect(stdout).toMatch(/hook scoreboard +✓/)
  const [, summary = '', closing = ''] = stdout.split(/goal reached|claude is installed/)
  for (const row of ['iterations', 'steps', 'checks', 'time', 'PROGRESS.yaml', 'transcripts', 'diff'])
    expect(summary).toContain(row)
  expect(closing).toMatch(/ralph run --goal .* --agent claude/)
  expect(await sprint.calls()).toEqual([])

  const project = sprint.at('pancakes')
  expect(await runForExitCode('npm', ['test'], project)).toBe(0)
  expect(await runForExitCode('git', ['checkout', '--quiet', '.'], project)).toBe(0)
  expect(await runForExitCode('npm', ['test'], project)).toBe(1)
})

it('does not touch an existing folder', async () => {
  const sprint = await createTestSprint()
  const before = await sprint.contents()

  expect(await sprint.ralph('demo', 's')).toEqual({
    exitCode: 1,
    stdout: '',
    stderr: expect.stringMatching(/^s  error SPRINT_EXISTS  [^\n]*\n$/),
  })
  expect(await sprint.contents()).toEqual(before)
})

const runForExitCode = (file: string, args: readonly string[], cwd: string): Promise<number> =>
  new Promise((resolve) => {
    const child = execFile(file, args, { cwd }, () => resolve(child.exitCode ?? -1))
  })
