import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createTestFolder } from '../support/folder.ts'
import { commitAll, git } from '../support/programs.ts'
import { createTestSprint, type Setup, type TestSprint } from '../support/sprint.ts'

const proceed = { status: 'continue', summary: 'still at it' }
const goalComplete = { status: 'goal-complete', summary: 'f', goalCompleteSummary: 'done' }
const runAndReport = (run: string) => ({ run, report: proceed })

async function createRepository(
  answers: Parameters<TestSprint['answer']>[0],
  files = {},
  more: Setup = {},
): Promise<TestSprint> {
  const sprint = await createTestSprint({ files: { 'a.txt': 'one\n', ...files }, answers, ...more })
  await commitAll(sprint)
  return sprint
}

const store = '"$HOME"/.ralph/state/*/checkpoints/*.git'
/** No checkpoint can be written: the store has a file in place of its objects. */
const breakStore = `for s in ${store}; do mv "$s/objects" "$s/kept"; touch "$s/objects"; done`
const repairStore = `for s in ${store}; do rm "$s/objects"; mv "$s/kept" "$s/objects"; done`

describe('a checkpoint that failed', () => {
  it('D4: is a fact: diff and restore name the reason and the nearest iterations', async () => {
    const sprint = await createRepository({})
    await sprint.answer({
      1: runAndReport('echo 1 > a.txt'),
      2: runAndReport(`echo 2 > a.txt; ${breakStore}`),
      3: runAndReport(`${repairStore}; echo 3 > a.txt`),
      4: goalComplete,
    })
    expect(await sprint.run()).toMatchObject({ exitCode: 0 })

    for (const command of ['diff', 'restore']) {
      expect(await sprint.ralph(command, 's', '2')).toMatchObject({
        exitCode: 1,
        stderr: expect.stringMatching(
          /CHECKPOINT_NOT_FOUND[^]*iteration 2 has no checkpoint: git[^]*nearest[^]*1 and 3/,
        ),
      })
    }
    expect(await sprint.read('a.txt')).toBe('3\n')
    expect(await sprint.ralph('diff', 's', '3')).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining('iteration 2 has no checkpoint, so this includes its changes'),
    })
    expect(await sprint.ralph('restore', 's', '1')).toMatchObject({ exitCode: 0 })
    expect(await sprint.read('a.txt')).toBe('1\n')
  })

  it('is no iteration that never was', async () => {
    const sprint = await createRepository({ 1: { run: 'echo 1 > a.txt', report: goalComplete } })
    await sprint.run()

    expect(await sprint.ralph('restore', 's', '7')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('there is no iteration 7; the last one is 1'),
    })
    expect(await sprint.read('a.txt')).toBe('1\n')
  })
})

describe('checkpoints of sprints with the same name', () => {
  it('D2: stay apart in two worktrees of one repository', async () => {
    const folder = '.claude/sprints/s'
    const answers = { '*': { run: 'pwd > a.txt', report: goalComplete } }
    const sprint = await createRepository(answers, { [`${folder}/SPRINT.yaml`]: 'workflow: ralph\ngoal: g\n' })
    await git(sprint, 'worktree', 'add', '--quiet', '-b', 'other', '../other')
    const run = (tree: string) => sprint.ralph('run', join(tree, folder), '--workflows', sprint.at('wf'))

    expect(await run(sprint.at())).toMatchObject({ exitCode: 0 })
    const before = await git(sprint, 'for-each-ref', 'refs/ralph')
    expect(await run(sprint.at('..', 'other'))).toMatchObject({ exitCode: 0 })

    const after = (await git(sprint, 'for-each-ref', 'refs/ralph')).split('\n')
    expect(after).toEqual(expect.arrayContaining(before.split('\n')))
    expect(after).toHaveLength(6)
    expect(await sprint.ralph('restore', folder, '0')).toMatchObject({ exitCode: 0 })
    expect(await sprint.read('a.txt')).toBe('one\n')
    expect(await sprint.read('../other/a.txt')).toBe(`${sprint.at('..', 'other')}\n`)
  })
})

describe('restore', () => {
  it('D19: refuses while another sprint works in the same tree', async () => {
    const sprint = await createRepository({ 1: { run: 'echo 1 > a.txt', report: goalComplete } })
    await sprint.run()
    mkdirSync(sprint.at('t'))
    writeFileSync(sprint.at('t', 'SPRINT.yaml'), 'workflow: ralph\ngoal: another\n')
    await sprint.answer({ '*': { waits: 'go', report: goalComplete } })
    const second = sprint.start('run', 't', '--workflows', 'wf')
    await sprint.called(2)

    expect(await sprint.ralph('restore', 's', '0')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/WORK_TREE_BUSY {2}the sprint t \(pid \d+\) works on these files/),
    })
    expect(await sprint.read('a.txt')).toBe('1\n')
    await sprint.release('go')
    await second.ended
    expect(await sprint.ralph('restore', 's', '0')).toMatchObject({ exitCode: 0 })
  })

  it('D8: brings back the files of a deleted nested repository, says what is missing, and can be undone', async () => {
    const sprint = await createRepository({
      1: runAndReport('git init --quiet empty; git init --quiet nested; echo n > nested/n.txt; echo 1 > a.txt'),
      2: { run: 'rm -rf nested; echo 2 > a.txt', report: goalComplete },
    })
    await sprint.run()
    const restored = await sprint.ralph('restore', 's', '1')

    expect({ exitCode: restored.exitCode, stderr: restored.stderr }).toEqual({ exitCode: 0, stderr: '' })
    expect(restored.stdout).toContain('  adds nested/n.txt\n')
    expect(restored.stdout).toContain(`restored ${sprint.at('nested')} without its git history`)
    expect([await sprint.read('a.txt'), await sprint.read('nested/n.txt')]).toEqual(['1\n', 'n\n'])

    expect(await sprint.ralph('restore', 's', '--undo')).toMatchObject({ exitCode: 0 })
    expect([await sprint.read('a.txt'), sprint.has('nested/n.txt')]).toEqual(['2\n', false])

    mkdirSync(sprint.at('nested'))
    writeFileSync(sprint.at('nested/n.txt'), 'ignored\n')
    writeFileSync(sprint.at('nested/.gitignore'), '*\n')
    const refused = await sprint.ralph('restore', 's', '1')
    expect(refused.stdout).toContain(`not restored: ${sprint.at('nested')} was a repository then`)
    expect(await sprint.read('nested/n.txt')).toBe('ignored\n')
  })

  it('writes nothing through a link that the agent left in place of a folder', async () => {
    const outside = createTestFolder()
    const sprint = await createRepository({
      1: runAndReport('git init --quiet deep/nested; echo planted > deep/nested/n.txt; echo 1 > a.txt'),
      2: { run: `rm -rf deep; echo deep >> .gitignore; ln -s '${outside}' deep; echo 2 > a.txt`, report: goalComplete },
    })
    await sprint.run()
    const { stdout } = await sprint.ralph('restore', 's', '1')

    expect(readdirSync(outside)).toEqual([])
    expect(stdout).not.toContain('deep/nested/n.txt')
    expect(stdout).toContain(`not restored: ${sprint.at('deep/nested')} was a repository then`)
    expect(await sprint.read('a.txt')).toBe('1\n')
  })

  it('keeps ignored files that it replaces', async () => {
    const sprint = await createRepository({
      1: { run: 'rm a.txt; echo a.txt > .gitignore; echo secret > a.txt', report: goalComplete },
    })
    await sprint.run()
    rmSync(sprint.at('a.txt'))
    await sprint.ralph('restore', 's', '1')
    writeFileSync(sprint.at('a.txt'), 'only here\n')

    const { exitCode, stdout } = await sprint.ralph('restore', 's', '0')

    expect(exitCode).toBe(0)
    expect(await sprint.read('a.txt')).toBe('one\n')
    const saved = /saved in (\S+)/.exec(stdout)?.[1] ?? ''
    expect(await git(sprint, 'show', `${saved}:a.txt`)).toBe('only here')
  })

  it('replaces no file that it cannot read, and so cannot keep', async () => {
    const answers = { 1: { run: 'echo 1 > a.txt; echo 1 > b.txt', report: goalComplete } }
    const sprint = await createRepository(answers, {}, { obeysPermissions: true })
    await sprint.run()
    writeFileSync(sprint.at('a.txt'), 'only here\n')
    chmodSync(sprint.at('a.txt'), 0)
    const { exitCode, stderr } = await sprint.ralph('restore', 's', '0')
    chmodSync(sprint.at('a.txt'), 0o644)

    expect({ exitCode, stderr }).toEqual({
      exitCode: 1,
      stderr: expect.stringMatching(
        /CHECKPOINT_FAILED {2}a\.txt \(.*denied\) could not be saved, so nothing was restored/,
      ),
    })
    expect([await sprint.read('a.txt'), await sprint.read('b.txt')]).toEqual(['only here\n', '1\n'])
  })

  it('makes no secret public, neither one that the agent changed nor one that it deleted', async () => {
    const sprint = await createRepository(
      { 1: { run: 'echo 1 > key; rm deploy', report: goalComplete } },
      { key: 'k', deploy: 'd' },
    )
    chmodSync(sprint.at('key'), 0o600)
    chmodSync(sprint.at('deploy'), 0o700)
    await sprint.run()
    const modes = () => ['key', 'deploy'].map((name) => statSync(sprint.at(name), { throwIfNoEntry: false })?.mode)
    const before = modes()

    expect(await sprint.ralph('restore', 's', '0')).toMatchObject({ exitCode: 0 })
    expect(modes()).toEqual([0o100600, 0o100700])
    expect(await sprint.ralph('restore', 's', '--undo')).toMatchObject({ exitCode: 0 })
    expect(modes()).toEqual(before)
  })
})

describe('run starts in every tree that git status accepts', () => {
  it('D7: with folders that the user may not read, also an ignored one, and names once what it cannot keep', async () => {
    const answers = {
      '*': {
        run: 'mkdir -p d/e/f/g .hidden; git init -q d/e/f/g; git init -q .hidden; echo 1 > d/e/f/g/n.txt',
        report: goalComplete,
      },
    }
    const files = { 'data/base/x': 'x', 'volume/x': 'x', '.gitignore': 'data/\n' }
    const sprint = await createTestSprint({ files, answers, obeysPermissions: true })
    const closed = [sprint.at('data/base'), sprint.at('volume')]
    await git(sprint, 'init', '--quiet')
    for (const folder of closed) chmodSync(folder, 0)
    const { exitCode, stdout } = await sprint.run()
    const restored = await sprint.ralph('restore', 's', '0')
    for (const folder of closed) chmodSync(folder, 0o755)

    expect([exitCode, restored.exitCode]).toEqual([0, 0])
    const notes = stdout.split('\n').filter((line) => line.includes('no checkpoint contains'))
    expect(notes).toEqual([
      expect.stringContaining('no checkpoint contains volume/: Permission denied'),
      expect.stringContaining(
        'no checkpoint contains .hidden/: a repository of its own, hidden or more than two folders deep; d/e/f/g/: a repository',
      ),
    ])
  })

  it.each([
    ['a link to itself', 'ln -s loop loop'],
    ['a sparse checkout', 'git sparse-checkout set other; mkdir -p deep; echo u > deep/untracked'],
    ['safecrlf', 'git config core.autocrlf true; git config core.safecrlf true; printf "a\\r\\nb\\n" > mixed.txt'],
    ['a nested repository without a commit', 'git init --quiet x/y/z/deep'],
    [
      'a rebase',
      'git checkout --quiet -b x; echo x > a.txt; git commit -qam x; git checkout -q -; echo y > a.txt; git commit -qam y; git rebase x || true',
    ],
  ])('D7: %s', async (_name, prepare) => {
    const sprint = await createRepository({ '*': { run: 'echo 1 > new.txt', report: goalComplete } })
    const { execFileSync } = await import('node:child_process')
    execFileSync('sh', ['-c', `git config user.name u; git config user.email u@x; ${prepare}`], {
      cwd: sprint.at(),
      stdio: 'ignore',
    })

    const { exitCode, stdout } = await sprint.run()

    expect(exitCode).toBe(0)
    expect(stdout).not.toContain('no checkpoint of')
    expect(await sprint.ralph('restore', 's', '0')).toMatchObject({ exitCode: 0 })
    expect(existsSync(sprint.at('new.txt'))).toBe(false)
    expect(readFileSync(sprint.at('s', 'SPRINT.yaml'), 'utf8')).toContain('goal')
  })
})
