import { execFileSync } from 'node:child_process'
import { rm, writeFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { createTestSprint, type TestSprint } from '../support/sprint.ts'

const done = { status: 'goal-complete', summary: 'wrote it', goalCompleteSummary: 'The parser @team reads both.' }
const work = 'echo new > new.txt; echo sprint >> old.txt; rm gone.txt'
const files = { 's/SPRINT.yaml': null, 'wf/ralph.yaml': null, 'old.txt': 'old\n', 'gone.txt': 'g\n', 'own.txt': 'o\n' }

const runGit = (sprint: TestSprint, ...args: readonly string[]): string =>
  execFileSync('git', args, { cwd: sprint.at(), encoding: 'utf8', stdio: 'pipe' }).trimEnd()

/** A repository with one commit whose user has an identity of their own. */
async function createRepository(setup: Parameters<typeof createTestSprint>[0] = {}) {
  const sprint = await createTestSprint({
    answers: { '*': { run: work, report: done } },
    ...setup,
    files: { ...files, ...setup.files },
  })
  const git = (...args: readonly string[]) => runGit(sprint, ...args)
  git('init', '--quiet', '--initial-branch=main')
  git('config', 'user.name', 'Ada')
  git('config', 'user.email', 'ada@example.invalid')
  git('add', '.')
  git('commit', '--quiet', '--message=start')
  return { sprint, git }
}

const runGoal = (sprint: TestSprint) => sprint.ralph('run', 'Build the parser', '--check', 'test -f new.txt')

describe('ralph finish', () => {
  it('refuses files of an earlier checkpoint, whose evidence it does not have', async () => {
    const { sprint, git } = await createRepository()
    expect(await runGoal(sprint)).toMatchObject({ exitCode: 0 })
    expect(await sprint.ralph('restore', 'build-the-parser', '0', '--yes')).toMatchObject({ exitCode: 0 })
    const refused = await sprint.ralph('finish', '--commit')
    expect(refused).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('ralph restore build-the-parser 1;') })
    expect((await sprint.ralph('finish', '--pr-body')).stderr).toContain('not the files of iteration 1')
    expect(git('rev-list', '--count', 'HEAD')).toBe('1')
    expect(await sprint.ralph('restore', 'build-the-parser', '--undo', '--yes')).toMatchObject({ exitCode: 0 })
    expect(await sprint.ralph('finish', '--commit')).toMatchObject({ exitCode: 0 })
    expect(git('rev-list', '--count', 'HEAD')).toBe('2')
  })

  it('says what is missing where the repository was deleted, or created again', async () => {
    const { sprint, git } = await createRepository()
    expect(await runGoal(sprint)).toMatchObject({ exitCode: 0 })
    await rm(sprint.at('.git'), { recursive: true })
    for (const how of [[], ['--commit'], ['--pr-body']]) {
      const { exitCode, stderr } = await sprint.ralph('finish', ...how)
      expect({ exitCode, stderr }).toEqual({
        exitCode: 1,
        stderr: expect.stringMatching(/GIT_FAILED {2}the repository was deleted.*"ralph diff"/),
      })
    }
    git('init', '--quiet', '--initial-branch=main')
    const { exitCode, stderr } = await sprint.ralph('finish', '--commit')
    expect({ exitCode, stderr }).toEqual({
      exitCode: 1,
      stderr: expect.stringMatching(/GIT_FAILED .*does not have the commit that the sprint started from.*"ralph diff"/),
    })
    git('gc', '--quiet', '--prune=now')
  })

  it('commits what the sprint changed and nothing else, and runs nothing that the agent planted', async () => {
    const planted = ['pre-commit', 'post-commit', 'reference-transaction', 'post-index-change', 'prepare-commit-msg']
    const plant = [
      ...planted.map(
        (hook) => `printf '#!/bin/sh\\ntouch ../planted\\n' > .git/hooks/${hook}; chmod +x .git/hooks/${hook}`,
      ),
      'git config core.fsmonitor "touch ../planted; false"',
      'git config commit.gpgSign true',
      'git config gpg.program "touch ../planted; false"',
    ].join('; ')
    const { sprint, git } = await createRepository({ answers: { '*': { run: `${work}; ${plant}`, report: done } } })
    await sprint.write('own.txt', 'mine, before the sprint\n')
    expect(await runGoal(sprint)).toMatchObject({ exitCode: 0 })
    await sprint.write('later.txt', 'mine, after the sprint\n')

    const { exitCode, stdout, stderr } = await sprint.ralph('finish', '--commit')

    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    expect(stdout).toContain('3 files (+2 −1) for main in project')
    expect(stdout).toContain('! not in the commit, because you had changed it before the sprint: own.txt')
    expect(stdout).toContain('! not in the commit, because it changed after the last iteration: later.txt')
    await rm(sprint.at('.git/hooks'), { recursive: true })
    expect(sprint.has('../planted')).toBe(false)
    git('config', 'core.fsmonitor', 'false')
    expect(git('show', '--format=%an <%ae>', '--name-status', 'HEAD').split('\n')).toEqual([
      'Ada <ada@example.invalid>',
      '',
      'D\tgone.txt',
      'A\tnew.txt',
      'M\told.txt',
    ])
    expect(git('log', '-1', '--format=%B')).toMatch(
      /^Build the parser\n\nThe parser @team reads both\.\n\n- Ralph: the goal is reached, after 1 iteration\n- Check: test -f new\.txt\n[\s\S]*\n\nRalph-Sprint: .*build-the-parser/,
    )
    expect(git('status', '--porcelain').split('\n')).toEqual([' M own.txt', '?? later.txt'])
    expect(await sprint.read('old.txt')).toBe('old\nsprint\n')
    expect(await sprint.ralph('finish', '--commit')).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('nothing to commit on main in project: it contains all changes of the sprint'),
    })
  })

  it('commits on a new branch, and leaves HEAD, index and files as they are', async () => {
    const { sprint, git } = await createRepository()
    await runGoal(sprint)
    const before = [git('rev-parse', 'HEAD'), git('status', '--porcelain')]

    expect(await sprint.ralph('finish', '--branch', 'work/parser', '--message', 'Add the parser')).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(
        /committed [0-9a-f]{10} on work\/parser in project\n[\s\S]*git push origin work\/parser/,
      ),
    })

    expect([git('rev-parse', 'HEAD'), git('status', '--porcelain')]).toEqual(before)
    expect(git('log', '--format=%s', 'work/parser')).toBe('Add the parser\nstart')
    expect(git('diff', '--name-only', 'main', 'work/parser')).toBe('gone.txt\nnew.txt\nold.txt')
  })

  it('prints the text of a pull request with the evidence, without mentions of people', async () => {
    const { sprint } = await createRepository()
    await runGoal(sprint)

    const { exitCode, stdout } = await sprint.ralph('finish', '--pr-body')

    expect(exitCode).toBe(0)
    expect(stdout).toMatch(
      /^# Build the parser\n\nThe parser &#64;team reads both\.\n\n## Evidence\n\n- Ralph: the goal is/,
    )
    expect(stdout).toContain('## Files (3)\n\n- gone.txt (+0 −1)\n- new.txt (+1 −0)\n- old.txt (+1 −0)\n')
  })

  it('without an option or a terminal lists the work and commits nothing', async () => {
    const { sprint, git } = await createRepository()
    await runGoal(sprint)
    const head = git('rev-parse', 'HEAD')

    expect(await sprint.ralph('finish')).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(
        /commit message:\n\n {4}Build the parser\n[\s\S]*nothing was committed; commit with: ralph finish build-the-parser --commit, or --branch NAME\n$/,
      ),
    })
    const { stdout } = await sprint.ralph('finish', '--json')
    expect(JSON.parse(stdout)).toMatchObject({
      sprint: 'build-the-parser',
      status: 'completed',
      repositories: [{ branch: 'main', head, commit: null, files: [{}, {}, {}], untouched: [], edited: [] }],
    })
    expect(git('rev-parse', 'HEAD')).toBe(head)
  })

  it('keeps a staged version of the user, and names files that both changed', async () => {
    const { sprint, git } = await createRepository()
    await sprint.write('old.txt', 'mine\n')
    await runGoal(sprint)
    await sprint.write('new.txt', 'staged by me\n')
    git('add', 'new.txt')

    const { stdout } = await sprint.ralph('finish', '--commit')

    expect(stdout).toContain('! you had changed these before the sprint; the commit contains both changes: old.txt')
    expect(stdout).toContain('! your staged version stays in the index: new.txt')
    expect(git('show', 'HEAD:new.txt')).toBe('new')
    expect(git('show', ':new.txt')).toBe('staged by me')
    expect(git('show', 'HEAD:old.txt')).toBe('mine\nsprint')
  })

  it('commits before the first commit of a repository, and a file that replaces a folder', async () => {
    const sprint = await createTestSprint({
      files: { 's/SPRINT.yaml': null, 'wf/ralph.yaml': null, 'a/b.txt': 'b\n' },
      answers: { '*': { run: 'rm -r a; echo a > a', report: done } },
      env: { GIT_AUTHOR_NAME: 'Ada', GIT_AUTHOR_EMAIL: 'ada@example.invalid' },
    })
    runGit(sprint, 'init', '--quiet', '--initial-branch=main')
    await sprint.ralph('run', 'Build the parser')

    expect(await sprint.ralph('finish', '--commit')).toMatchObject({ exitCode: 0 })
    expect(runGit(sprint, 'ls-tree', '-r', '--name-only', 'HEAD')).toBe('a')
  })
})

describe('ralph finish refuses', () => {
  it('options that contradict each other or name no new branch', async () => {
    const { sprint, git } = await createRepository()
    await runGoal(sprint)
    const refs = git('for-each-ref')

    for (const [args, line] of [
      [['--commit', '--pr-body'], /USAGE {2}finish: give one of --commit, --branch and --pr-body/],
      [['--branch', 'main'], /USAGE {2}finish: the branch main exists already/],
      [['--branch', 'a..b'], /USAGE {2}finish: "a\.\.b" is not a branch name/],
      [['--commit', '-m', ' '], /USAGE {2}finish: --message is empty/],
    ] as const) {
      expect(await sprint.ralph('finish', ...args)).toMatchObject({ exitCode: 1, stderr: expect.stringMatching(line) })
    }
    expect(git('for-each-ref')).toBe(refs)
  })

  it.each([
    [
      'a conflict with a later commit',
      async ({ sprint, git }: Repository) => {
        git('stash', '--quiet', '--include-untracked')
        await sprint.write('old.txt', 'later\n')
        git('commit', '--quiet', '--all', '--message=later')
      },
      /GIT_FAILED .*a later commit also changed old\.txt .*--branch NAME/,
    ],
    [
      'a merge in progress',
      async ({ sprint, git }: Repository) => writeFile(sprint.at('.git/MERGE_HEAD'), `${git('rev-parse', 'HEAD')}\n`),
      /GIT_FAILED .*a merge is in progress/,
    ],
    [
      'files that a filter converts',
      async ({ sprint, git }: Repository) => {
        await sprint.write('.gitattributes', '*.txt filter=lfs\n')
        git('config', 'filter.lfs.clean', 'touch ../planted; cat')
      },
      /GIT_FAILED .*git converts .*new\.txt.* and Ralph runs no filter .*git commit/,
    ],
    [
      'a user without an identity',
      async ({ git }: Repository) => void git('config', '--unset', 'user.email'),
      /GIT_FAILED .*git does not know who you are .*user\.email/,
    ],
  ])('%s, and loses nothing', async (_, change, line) => {
    const repository = await createRepository()
    const { sprint, git } = repository
    await runGoal(sprint)
    await change(repository)
    const head = git('rev-parse', 'HEAD')

    expect(await sprint.ralph('finish', '--commit')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(line),
    })
    expect(git('rev-parse', 'HEAD')).toBe(head)
    expect(sprint.has('../planted')).toBe(false)
  })

  it('a project without a repository, and a sprint that runs', async () => {
    const without = await createTestSprint({ files, answers: { '*': done } })
    await without.ralph('run', 'Build the parser')
    expect(await without.ralph('finish')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/CHECKPOINT_NOT_FOUND .*need a git repository/),
    })

    const { sprint } = await createRepository({ answers: { '*': { waits: 'go', report: done } } })
    const running = sprint.start('run', 'Build the parser')
    await sprint.called(1)
    expect(await sprint.ralph('finish', '--commit')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/SPRINT_LOCKED .*ralph pause build-the-parser/),
    })
    await sprint.release('go')
    await running.ended
  })

  it('no branch after a conflict: it starts where the sprint started', async () => {
    const { sprint, git } = await createRepository()
    await runGoal(sprint)
    git('stash', '--quiet', '--include-untracked')
    await sprint.write('old.txt', 'later\n')
    git('commit', '--quiet', '--all', '--message=later')

    expect(await sprint.ralph('finish', '--branch', 'parser')).toMatchObject({ exitCode: 0 })
    expect(git('merge-base', 'parser', 'main')).toBe(git('rev-parse', 'main~1'))
    expect(git('show', 'parser:old.txt')).toBe('old\nsprint')
  })
})

type Repository = Awaited<ReturnType<typeof createRepository>>
