import { basename } from 'node:path'
import { describe, expect, it } from 'vitest'
import { commitAll, git, putProgram } from '../support/programs.ts'
import { createTestSprint, type Answers, type TestSprint } from '../support/sprint.ts'

const proceed = { status: 'continue', summary: 'still at it' }
const goalComplete = { status: 'goal-complete', summary: 'f', goalCompleteSummary: 'done' }
const runAndReport = (run: string, summary = 'did it') => ({ run, report: { ...proceed, summary } })

/** A repository with a commit, a staged file, a changed file and a new file. */
async function createDirtyRepository(answers: Answers, settings = {}): Promise<TestSprint> {
  const sprint = await createTestSprint({
    sprint: { 'sprint-id': 'tidy', ...settings },
    files: { 'a.txt': 'one\n', 'b.txt': 'one\n' },
    answers,
  })
  await commitAll(sprint)
  await sprint.write('a.txt', 'staged\n')
  await git(sprint, 'add', 'a.txt')
  await sprint.write('b.txt', 'changed\n')
  await sprint.write('new.txt', 'new\n')
  return sprint
}

/** The parts of a repository that belong to the user. */
const readUserState = async (sprint: TestSprint) => ({
  head: await git(sprint, 'rev-parse', 'HEAD'),
  branch: await git(sprint, 'symbolic-ref', 'HEAD'),
  staged: await git(sprint, 'diff', '--cached'),
  index: await git(sprint, 'ls-files', '--stage'),
  stashes: await git(sprint, 'stash', 'list'),
  config: await sprint.read('.git/config'),
})

const listCheckpoints = async (sprint: TestSprint) =>
  (await git(sprint, 'for-each-ref', '--format=%(refname)', 'refs/ralph')).split('\n').toSorted()

/** The refs of a sprint bear the id of its state. */
const readRefs = (sprint: TestSprint): string => `refs/ralph/${basename(sprint.state())}`

describe('a checkpoint', () => {
  it("is created after each iteration that changed something, and touches nothing of the user's", async () => {
    const sprint = await createDirtyRepository({
      1: runAndReport('echo 1 >> log.txt', 'first'),
      2: proceed,
      3: runAndReport('rm b.txt; echo 3 >> log.txt', 'third'),
      4: goalComplete,
    })
    const before = await readUserState(sprint)

    expect(await sprint.run()).toMatchObject({ exitCode: 0 })

    expect(await readUserState(sprint)).toEqual(before)
    expect(sprint.has('.git/index.lock')).toBe(false)
    const refs = readRefs(sprint)
    expect(refs).toMatch(/^refs\/ralph\/[0-9a-f-]{36}$/)
    expect(await listCheckpoints(sprint)).toEqual(['0', '1', '3', 'last'].map((name) => `${refs}/${name}`))
    expect(await git(sprint, 'show', `${refs}/0:a.txt`)).toBe('staged')
    expect(await git(sprint, 'show', `${refs}/0:new.txt`)).toBe('new')
    expect(await git(sprint, 'ls-tree', '-r', '--name-only', `${refs}/3`)).toBe(
      ['a.txt', 'log.txt', 'new.txt', 'wf/ralph.yaml'].join('\n'),
    )
    const { iterations = [] } = await sprint.progress()
    expect(iterations.map(({ checkpoint }) => checkpoint)).toEqual([
      await git(sprint, 'rev-parse', `${refs}/1`),
      undefined,
      await git(sprint, 'rev-parse', `${refs}/3`),
      undefined,
    ])
    expect(await git(sprint, 'log', '-1', '--format=%an <%ae>%n%s%n%b', `${refs}/3`)).toMatch(
      /^Ralph <ralph@localhost>\nRalph tidy: iteration 3\nthird/,
    )
  })

  it('runs no hook of the repository', async () => {
    const sprint = await createDirtyRepository({ 1: { run: 'echo x > x', report: goalComplete } })
    for (const hook of ['pre-commit', 'post-commit', 'reference-transaction', 'post-index-change']) {
      await putProgram(sprint, `../project/.git/hooks/${hook}`, 'touch hooked; exit 1')
    }

    expect(await sprint.run()).toMatchObject({ exitCode: 0 })

    expect(sprint.has('hooked')).toBe(false)
    expect(await listCheckpoints(sprint)).toContain(`${readRefs(sprint)}/1`)
  })

  it('is also created after an iteration without a valid report', async () => {
    const sprint = await createDirtyRepository({
      1: { run: 'echo x > x', text: 'no report' },
      2: 'none either',
      3: goalComplete,
    })

    expect(await sprint.run()).toMatchObject({ exitCode: 0 })

    expect(await sprint.iterations()).toMatchObject([{ verdict: 'malformed', checkpoint: expect.any(String) }, {}])
  })

  it('that fails costs the checkpoint, not the sprint', async () => {
    const sprint = await createDirtyRepository({
      1: {
        run: 'for f in "$HOME"/.ralph/state/*/checkpoints/*.git/objects; do rm -rf "$f"; touch "$f"; done',
        report: goalComplete,
      },
    })

    const { exitCode, stdout } = await sprint.run()

    expect(exitCode).toBe(0)
    expect(stdout).toContain('! no checkpoint of iteration 1: git')
  })

  it("is in Ralph's store also if the agent breaks or deletes the repository, and the run says so", async () => {
    const sprint = await createDirtyRepository({
      1: { run: 'echo 1 > a.txt; rm -rf .git/objects; touch .git/objects', report: proceed },
      2: { run: 'echo 2 > a.txt; rm -rf .git', report: goalComplete },
    })

    const { exitCode, stdout } = await sprint.run()

    expect(exitCode).toBe(0)
    expect(stdout).toContain("! checkpoints are in Ralph's store only, not in your repository: git")
    expect(await sprint.ralph('diff', 's', '2')).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('+2') })
    const restored = await sprint.ralph('restore', 's', '1')
    expect(restored).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('it is in ') })
    expect(await sprint.read('a.txt')).toBe('1\n')
    expect(await sprint.ralph('restore', 's', '--undo')).toMatchObject({ exitCode: 0 })
    expect(await sprint.read('a.txt')).toBe('2\n')
    expect(await sprint.ralph('restore', 's', '0')).toMatchObject({ exitCode: 0 })
    expect(await sprint.read('new.txt')).toBe('new\n')
  })
})

describe('ralph diff', () => {
  it("shows the changes of one iteration or of all, and never Ralph's own files", async () => {
    const sprint = await createDirtyRepository({
      1: runAndReport('echo 1 >> log.txt'),
      2: runAndReport('echo 2 >> log.txt; rm new.txt'),
      3: goalComplete,
    })
    await sprint.run()

    const second = (await sprint.ralph('diff', 's', '2')).stdout
    expect(second).toMatch(/^\+2$/m)
    expect(second).not.toMatch(/^\+1$/m)
    expect((await sprint.ralph('diff', 's', '3')).stdout).toBe('no changes\n')
    const all = (await sprint.ralph('diff', 's')).stdout
    expect(all.match(/^diff --git .*$/gm)).toEqual(['diff --git a/log.txt b/log.txt', 'diff --git a/new.txt b/new.txt'])
    expect((await sprint.ralph('diff', 's', '--stat')).stdout).toMatch(/2 files changed/)
  })
})

describe('ralph restore', () => {
  it('restores the files to their state after an iteration, and saves the replaced ones', async () => {
    const sprint = await createDirtyRepository({
      1: runAndReport('echo 1 >> log.txt'),
      2: runAndReport('echo 2 >> log.txt; rm new.txt; mkdir d; echo d > d/d'),
      3: goalComplete,
    })
    await sprint.run()
    await sprint.write('log.txt', 'mine, not committed\n')
    const before = await readUserState(sprint)

    const { exitCode, stdout } = await sprint.ralph('restore', 's', '1')

    expect(exitCode).toBe(0)
    expect(await sprint.read('log.txt')).toBe('1\n')
    expect(await sprint.read('new.txt')).toBe('new\n')
    expect(sprint.has('d/d')).toBe(false)
    expect(await readUserState(sprint)).toEqual(before)
    const saved = /saved in (refs\/ralph\/\S+)/.exec(stdout)?.[1] ?? ''
    expect(await git(sprint, 'show', `${saved}:log.txt`)).toBe('mine, not committed')

    await sprint.ralph('restore', 's', '0')
    expect(sprint.has('log.txt')).toBe(false)
    expect(await sprint.read('a.txt')).toBe('staged\n')
  })

  it('that changes nothing says so, asks nothing, and leaves the undo as it was', async () => {
    const sprint = await createDirtyRepository({
      1: runAndReport('echo 1 >> log.txt'),
      2: { run: 'echo 2 >> log.txt', report: goalComplete },
    })
    await sprint.run()
    await sprint.write('log.txt', 'mine, not committed\n')
    await sprint.ralph('restore', 's', '1')
    const refs = await git(sprint, 'for-each-ref', 'refs/ralph')

    expect(await sprint.ralph('restore', 's', '1')).toEqual({
      exitCode: 0,
      stdout: 'these are already the files of iteration 1: nothing was restored or saved\n',
      stderr: '',
    })
    expect(JSON.parse((await sprint.ralph('restore', 's', '1', '--json')).stdout)).toEqual({
      restored: 1,
      saved: null,
      refs: [],
      revived: [],
      missing: [],
    })
    expect(await git(sprint, 'for-each-ref', 'refs/ralph')).toBe(refs)
    await sprint.ralph('restore', 's', '--undo')
    expect(await sprint.read('log.txt')).toBe('mine, not committed\n')
  })

  it('refuses while the sprint runs, and when there is nothing to restore', async () => {
    const sprint = await createTestSprint({ answers: { 1: { waits: 'go', report: goalComplete } } })
    const run = sprint.startRun()
    await sprint.called(1)

    expect(await sprint.ralph('restore', 's', '0')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('SPRINT_LOCKED'),
    })
    await sprint.release('go')
    await run.ended
    expect(await sprint.ralph('restore', 's', '0')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('CHECKPOINT_NOT_FOUND'),
    })
  })
})

describe('keep the best', () => {
  const checks = ['a', 'b', 'c'].map((name) => ({ run: `test -f ${name}`, name, 'each-iteration': true }))
  const answers = {
    1: runAndReport('touch a'),
    2: runAndReport('touch b'),
    3: runAndReport('rm a; echo worse > b'),
    '*': runAndReport('date >> log'),
  }

  it('names the iteration that passed most checks when a limit is reached, and how to restore it', async () => {
    const sprint = await createDirtyRepository(answers, { 'done-when': checks })

    const { exitCode, stdout } = await sprint.run('--max-iterations', '4')

    expect(exitCode).toBe(3)
    expect(stdout).toMatch(/^ {2}best +iteration 2: 2 of 3 checks passed; restore it with: ralph restore s 2$/m)
    expect(await sprint.ralph('restore', 's', '2')).toMatchObject({ exitCode: 0 })
    expect([sprint.has('a'), sprint.has('b'), await sprint.read('b')]).toEqual([true, true, ''])
  })

  it('does the same when an agent makes no progress', async () => {
    const sprint = await createDirtyRepository(
      { 1: runAndReport('touch a b'), 2: runAndReport('rm a'), '*': proceed },
      { 'done-when': checks, limits: { 'no-progress': 2 } },
    )

    const { exitCode, stdout } = await sprint.run()

    expect(exitCode).toBe(2)
    expect(stdout).toContain('iteration 1: 2 of 3 checks passed; restore it with: ralph restore s 1')
  })

  it('offers nothing if the last state is the best', async () => {
    const sprint = await createDirtyRepository(
      { 1: runAndReport('touch a'), 2: runAndReport('touch b') },
      { 'done-when': checks },
    )

    expect((await sprint.run('--max-iterations', '2')).stdout).toContain(
      'iteration 2: 2 of 3 checks passed (the current files)',
    )
  })
})
