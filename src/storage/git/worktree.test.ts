import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import type { CompiledWorktree } from '../../contract/phases.ts'
import type { ProjectWorkspace } from '../../runtime/ports.ts'
import { commitToBranch, openWorktree, removeWorktree } from './worktree.ts'

const worktree: CompiledWorktree = { enabled: true, branch: 'sprint/S', path: '../tree', cleanup: 'on-complete' }

it('keeps the place of a project within a repository', async () => {
  const { base, project } = createRepository('app')

  expect(await openWorktree({ project, worktree })).toEqual({
    folder: join(base, 'repo/tree/app'),
    isNew: true,
    warnings: [],
  })
  expect(existsSync(join(base, 'repo/tree/app/a.txt'))).toBe(true)
})

it('is found again, even through a link', async () => {
  const { base, project } = createRepository()
  await openWorktree({ project, worktree })
  symlinkSync(project, join(base, 'link'))

  expect(await openWorktree({ project, worktree })).toMatchObject({ isNew: false })
  expect(
    await openWorktree({ project: join(base, 'link'), worktree: { ...worktree, path: join(base, 'tree') } }),
  ).toMatchObject({
    isNew: false,
  })
})

it('continues on an existing branch, and says so', async () => {
  const { project } = createRepository()
  git(project, 'branch', 'sprint/S')

  expect(await openWorktree({ project, worktree })).toMatchObject({
    isNew: true,
    warnings: [expect.stringContaining('already')],
  })
})

it('is not confused with the worktree of another branch', async () => {
  const { project } = createRepository()
  await openWorktree({ project, worktree: { ...worktree, branch: 'other' } })

  await expect(openWorktree({ project, worktree })).rejects.toMatchObject({
    code: 'WORKTREE_UNAVAILABLE',
    message: expect.stringContaining('on other, not on sprint/S'),
  })
})

it.each([
  ['an uncommitted file', (tree: string) => writeFileSync(join(tree, 'new.txt'), ''), /uncommitted/],
  ['commits on no branch', (tree: string) => git(tree, 'checkout', '--quiet', '--detach'), /no longer on branch/],
])('is not removed with %s in it', async (_, change, reason) => {
  const { base, project } = createRepository()
  await openWorktree({ project, worktree })
  change(join(base, 'tree'))

  expect(await removeWorktree({ project, worktree })).toMatch(reason)
  expect(existsSync(join(base, 'tree'))).toBe(true)
})

it('is removed when nothing is lost, and may be gone already', async () => {
  const { base, project } = createRepository()
  await openWorktree({ project, worktree })

  expect(await removeWorktree({ project, worktree })).toBeUndefined()
  expect(existsSync(join(base, 'tree'))).toBe(false)
  expect(git(project, 'branch', '--list', 'sprint/S')).toContain('sprint/S')
  expect(await removeWorktree({ project, worktree })).toBeUndefined()
})

it('is refused in a repository without a commit', async () => {
  const { project } = createRepository('.', [])

  await expect(openWorktree({ project, worktree })).rejects.toMatchObject({ code: 'WORKTREE_UNAVAILABLE' })
})

it('executes nothing that a repository in the work tree configures', async () => {
  const { base, project } = createRepository()
  const { folder } = await openWorktree({ project, worktree })
  const nested = join(folder, 'nested')
  mkdirSync(nested)
  git(nested, 'init', '--quiet')
  writeFileSync(join(nested, 'a.txt'), '')
  git(nested, 'add', '.')
  git(nested, 'commit', '--quiet', '--message=begin')
  const ran = join(base, 'ran')
  git(nested, 'config', 'filter.e.clean', `touch ${ran}; cat`)
  writeFileSync(join(nested, '.gitattributes'), '* filter=e')
  const { checkpoint } = commitToBranch(storesNothing, folder, 'sprint/S')
  for (const iteration of [1, 2]) {
    writeFileSync(join(nested, 'a.txt'), `${iteration}`)
    writeFileSync(join(folder, 'own.txt'), `${iteration}`)
    await checkpoint(iteration, 'work')
    // As an agent may add it.
    git(folder, 'update-index', '--add', '--cacheinfo', `160000,${git(nested, 'rev-parse', 'HEAD').trim()},nested`)
  }
  await removeWorktree({ project, worktree })

  expect([existsSync(ran), git(folder, 'show', '--name-only', '--format=', 'HEAD~1')]).toEqual([false, 'own.txt\n'])
})

/** A workspace whose checkpoints are only those of the branch. */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the other functions are not called
const storesNothing = { checkpoint: async () => undefined } as unknown as ProjectWorkspace

/** A repository, and a project in it, or below it. */
function createRepository(
  below = '.',
  files: readonly string[] = ['a.txt'],
): { readonly base: string; readonly project: string } {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'ralph-worktree-')))
  onTestFinished(() => rmSync(base, { recursive: true, force: true }))
  const project = join(base, 'repo', below)
  mkdirSync(project, { recursive: true })
  git(join(base, 'repo'), 'init', '--quiet', '--initial-branch=main')
  for (const file of files) {
    writeFileSync(join(project, file), '')
    git(project, 'add', file)
    git(project, 'commit', '--quiet', '--message=begin')
  }
  return { base, project }
}

const git = (cwd: string, ...args: readonly string[]): string =>
  execFileSync('git', ['-c', 'user.name=T', '-c', 'user.email=t@example.org', ...args], { cwd, encoding: 'utf8' })
