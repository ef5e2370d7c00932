import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { completedReport, createPhasesSprint } from '../support/phases-sprint.ts'
import { createTestSprint, type Answers, type TestSprint } from '../support/sprint.ts'

const ab = [
  { id: 'a', prompt: 'Task A.' },
  { id: 'b', prompt: 'Task B.' },
]
const answers: Answers = {
  '*': completedReport,
  1: { run: 'echo one > one.txt', report: completedReport },
  2: { run: 'echo two > two.txt', report: completedReport },
}

describe('a sprint in a worktree', () => {
  it('works there, on its own branch, with a commit per phase, and does not touch the project', async () => {
    const sprint = await createSprintInRepository({ worktree: { enabled: true, cleanup: 'never' }, 'sprint-id': 'S' })
    await sprint.write('mine.txt', 'not committed')

    expect(await sprint.run()).toMatchObject({ exitCode: 0 })

    const tree = siblingPath(sprint, 'S-worktree')
    expect((await sprint.calls()).map(({ cwd }) => cwd)).toEqual([tree, tree])
    expect(git(tree, 'log', '--format=%s', 'base..sprint/S')).toBe('Ralph S: iteration 2 b\nRalph S: iteration 1 a')
    expect(git(tree, 'status', '--porcelain')).toBe('')
    expect(readFileSync(join(tree, 'two.txt'), 'utf8')).toBe('two\n')
    expect(sprint.has('one.txt')).toBe(false)
    expect(git(sprint.at(), 'rev-parse', '--abbrev-ref', 'HEAD')).toBe('main')
    expect(git(sprint.at(), 'rev-parse', 'HEAD')).toBe(git(sprint.at(), 'rev-parse', 'base'))
    expect(await sprint.progress()).toMatchObject({
      status: 'completed',
      worktree: { branch: 'sprint/S', path: '../S-worktree', cleanup: 'never' },
      'worktree-state': { 'created-at': expect.any(String) },
    })
    expect(await sprint.ralph('diff', 's', '--stat')).toMatchObject({ stdout: expect.stringContaining('two.txt') })
  })

  it('is removed when completed, and the branch has the work', async () => {
    const sprint = await createSprintInRepository({ worktree: { enabled: true }, 'sprint-id': 'S' })

    expect(await sprint.run()).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('branch sprint/S') })

    expect(existsSync(siblingPath(sprint, 'S-worktree'))).toBe(false)
    expect(git(sprint.at(), 'show', 'sprint/S:two.txt')).toBe('two')
    expect(await sprint.progress()).toMatchObject({ status: 'completed', 'worktree-state': { 'cleaned-up': true } })

    // The project has nothing of the work, so neither its checks nor its checkpoints say anything about the sprint.
    expect(await sprint.run()).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(/goal reached.*on branch sprint\/S\nbring it here with: git merge sprint\/S\n/),
    })
    expect(existsSync(siblingPath(sprint, 'S-worktree'))).toBe(false)
    for (const command of ['diff', 'finish'])
      expect((await sprint.ralph(command, 's')).stderr).toMatch(/work is on branch sprint\/S .*git merge sprint\/S\)/)
  })

  it('is kept when it has uncommitted changes, and says so', async () => {
    const sprint = await createSprintInRepository({ worktree: { enabled: true }, 'sprint-id': 'S', checkpoint: false })

    expect(await sprint.run()).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/kept: .*uncommitted/) })

    expect(readFileSync(join(siblingPath(sprint, 'S-worktree'), 'two.txt'), 'utf8')).toBe('two\n')
  })

  it('is removed after the merge with on-merge', async () => {
    const sprint = await createSprintInRepository({
      worktree: { enabled: true, cleanup: 'on-merge' },
      'sprint-id': 'S',
    })

    expect(await sprint.run()).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/kept: .*not merged/) })
    expect(existsSync(siblingPath(sprint, 'S-worktree'))).toBe(true)

    git(sprint.at(), 'merge', '--quiet', 'sprint/S')
    expect(await sprint.run()).toMatchObject({ exitCode: 0 })
    expect(existsSync(siblingPath(sprint, 'S-worktree'))).toBe(false)
    expect(sprint.has('two.txt')).toBe(true)
  })

  it('resumes in its worktree, even if the user has deleted the folder', async () => {
    const sprint = await createSprintInRepository({ worktree: { enabled: true, cleanup: 'never' }, 'sprint-id': 'S' })
    const tree = siblingPath(sprint, 'S-worktree')
    expect(await sprint.run('-n', '1')).toMatchObject({ exitCode: 3 })
    execFileSync('rm', ['-rf', tree])

    expect(await sprint.run()).toMatchObject({ exitCode: 0 })

    expect(git(tree, 'log', '--format=%s', 'base..sprint/S')).toBe('Ralph S: iteration 2 b\nRalph S: iteration 1 a')
    expect(readFileSync(join(tree, 'one.txt'), 'utf8')).toBe('one\n')
  })

  it('is refused with a reason if there is no repository, or the path is taken', async () => {
    const without = await createPhasesSprint(ab, { sprint: { worktree: { enabled: true } }, answers })
    expect(await without.run()).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/WORKTREE_UNAVAILABLE.*not a git repository/),
    })

    const taken = await createSprintInRepository({ worktree: { enabled: true, path: 'docs' } })
    await taken.write('docs/x.md', '')
    expect(await taken.run()).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/WORKTREE_UNAVAILABLE.*not empty/),
    })
    expect([...(await without.calls()), ...(await taken.calls())]).toEqual([])
  })

  it('works with a goal too: agent, checks and hooks are in the worktree', async () => {
    const sprint = await createTestSprint({
      sprint: {
        'sprint-id': 'S',
        worktree: { enabled: true, cleanup: 'never' },
        'done-when': [{ run: 'test -f made.txt' }],
        'per-iteration-hooks': [{ id: 'h', run: 'pwd > where.txt', parallel: false }],
      },
      answers: {
        '*': {
          run: 'echo made > made.txt',
          report: { status: 'goal-complete', summary: 's', goalCompleteSummary: 'g' },
        },
      },
    })
    createRepository(sprint)

    expect(await sprint.run()).toMatchObject({ exitCode: 0 })

    const tree = siblingPath(sprint, 'S-worktree')
    expect(readFileSync(join(tree, 'where.txt'), 'utf8')).toBe(`${tree}\n`)
    expect(git(tree, 'show', '--stat', '--format=%s', 'sprint/S')).toMatch(/iteration 1[^]*made.txt/)
    expect(sprint.has('made.txt')).toBe(false)
  })
})

it('A7: never passes a branch name to a shell', async () => {
  const sprint = await createSprintInRepository({ worktree: { enabled: true, branch: 'x;touch${IFS}PWNED;' } })

  expect(await sprint.run()).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('WORKTREE_INVALID_BRANCH_NAME'),
  })
  expect(sprint.has('PWNED')).toBe(false)
})

async function createSprintInRepository(sprint: Readonly<Record<string, unknown>>): Promise<TestSprint> {
  const made = await createPhasesSprint(ab, { sprint, answers })
  createRepository(made)
  return made
}

function createRepository(sprint: TestSprint): void {
  git(sprint.at(), 'init', '--quiet', '--initial-branch=main')
  git(sprint.at(), 'commit', '--quiet', '--allow-empty', '--message=begin')
  git(sprint.at(), 'tag', 'base')
}

const siblingPath = (sprint: TestSprint, name: string): string => join(dirname(sprint.at()), name)

const git = (cwd: string, ...args: readonly string[]): string =>
  execFileSync('git', ['-c', 'user.name=T', '-c', 'user.email=t@example.org', ...args], {
    cwd,
    encoding: 'utf8',
  }).trim()
