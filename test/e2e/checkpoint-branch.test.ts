import { execFileSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { createTestSprint } from '../support/sprint.ts'

it('checkpoint: branch shows the work in git log, and moves neither branch nor index of the user (row 180)', async () => {
  const more = { status: 'continue', summary: 'wrote a', pendingSteps: [{ id: null, prompt: 'b' }] }
  const done = { status: 'goal-complete', summary: 'wrote b', goalCompleteSummary: 'both are there' }
  const sprint = await createTestSprint({
    sprint: { checkpoint: 'branch', 'done-when': [], 'sprint-id': 'two-files' },
    answers: { 1: { run: 'echo a > a', report: more }, '*': { run: 'echo b > b', report: done } },
  })
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=T', '-c', 'user.email=t@example.invalid', ...args], {
      cwd: sprint.at(),
      encoding: 'utf8',
    }).trim()
  git('init', '--quiet', '--initial-branch=main')
  git('add', '.')
  git('commit', '--quiet', '--message=start')
  const head = git('rev-parse', 'HEAD')

  expect(await sprint.run()).toMatchObject({ exitCode: 0 })

  expect(git('log', '--format=%s', 'ralph/two-files', '^main').split('\n')).toEqual([
    expect.stringContaining('iteration 2'),
    expect.stringContaining('iteration 1'),
    'Before the first iteration',
  ])
  expect(git('show', 'ralph/two-files:b')).toBe('b')
  expect({
    head: git('rev-parse', 'HEAD'),
    branch: git('branch', '--show-current'),
    staged: git('diff', '--cached', '--name-only'),
  }).toEqual({
    head,
    branch: 'main',
    staged: '',
  })
})
