import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { createTestFolder } from '../../test/support/folder.ts'
import { git } from './git.ts'
import { plumb } from './git-plumbing.ts'

it.each(['deep/.gitignore', '.git/packed-refs'])('rejects with the path if %s is a pipe', async (name) => {
  const cwd = createTestFolder()
  execFileSync('git', ['init', '-q'], { cwd })
  mkdirSync(dirname(join(cwd, name)), { recursive: true })
  rmSync(join(cwd, name), { force: true })
  execFileSync('mkfifo', [join(cwd, name), join(cwd, 'nobody-waits')])

  await expect(git({ cwd }, 'status', '--porcelain')).rejects.toMatchObject({
    code: 'GIT_FAILED',
    message: expect.stringContaining(join(cwd, name)),
  })
})

it('rejects with a git folder of its own too', async () => {
  const workTree = createTestFolder()
  const gitDir = createTestFolder()
  await plumb({ gitDir }, 'init', '-q', '--bare', gitDir)
  await plumb({ gitDir }, 'config', 'core.bare', 'false')
  execFileSync('mkfifo', [join(workTree, '.gitignore')])

  await expect(plumb({ gitDir, workTree }, 'add', '--all')).rejects.toMatchObject({ code: 'GIT_FAILED' })
})

it.each(['.', '/', '..', '.git/x', '../gone'])(
  'finds the pipe although a nested .git names the folder %s',
  async (target) => {
    const cwd = createTestFolder()
    execFileSync('git', ['init', '-q'], { cwd })
    mkdirSync(join(cwd, 'aaa'))
    mkdirSync(join(cwd, 'zloop'))
    writeFileSync(join(cwd, 'zloop/.git'), `gitdir: ${target}\n`)
    execFileSync('mkfifo', [join(cwd, 'aaa/.gitignore')])

    await expect(git({ cwd }, 'status', '--porcelain')).rejects.toMatchObject({
      code: 'GIT_FAILED',
      message: expect.stringContaining('aaa/.gitignore'),
    })
  },
)

it('finds a pipe in the git folder of a linked worktree', async () => {
  const main = createTestFolder()
  const cwd = join(createTestFolder(), 'linked')
  execFileSync('git', ['init', '-q'], { cwd: main })
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-q', '--allow-empty', '-m', 'a'], {
    cwd: main,
  })
  execFileSync('git', ['worktree', 'add', '-q', '--detach', cwd], { cwd: main })
  rmSync(join(main, '.git/packed-refs'), { force: true })
  execFileSync('mkfifo', [join(main, '.git/packed-refs')])

  await expect(git({ cwd }, 'status', '--porcelain')).rejects.toMatchObject({
    message: expect.stringContaining(join(main, '.git/packed-refs')),
  })
})
