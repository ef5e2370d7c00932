import { chmodSync, existsSync, readFileSync, rmSync, truncateSync, utimesSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createTestFolder } from '../../../test/support/folder.ts'
import { createProject, git, put } from '../../../test/support/room.ts'
import { openOwnGit } from './own-git.ts'
import { findLfsPointers, takeSnapshot } from './snapshot.ts'

async function createStore() {
  const own = await openOwnGit(join(createTestFolder(), 'git'))
  const take = (project: string, more = {}) => takeSnapshot(own, { project, exclude: ['.claude/sprints'], ...more })
  const paths = async (tree: string) => [...(await own.list(tree)).keys()]
  const text = async (tree: string, path: string) => {
    const id = (await own.list(tree)).get(path)?.id
    return id === undefined ? undefined : (await own.readBlobs([id]))[0]?.toString()
  }
  return { own, take, paths, text }
}

it('holds what is tracked and what is not ignored, without the project’s objects', async () => {
  const project = createProject({ 'a.js': 'a', '.gitignore': 'ignored\n', ignored: 'x' })
  put(project, { 'new.js': 'n', '.claude/sprints/s/SPRINT.yaml': 'x' })
  const { take, paths, text } = await createStore()
  const { tree } = await take(project)
  rmSync(join(project, '.git'), { recursive: true })

  expect(await paths(tree)).toEqual(['.gitignore', 'a.js', 'new.js'])
  expect(await text(tree, 'a.js')).toBe('a')
})

it('follows every kind of change', async () => {
  const project = createProject({ 'a.js': 'a', 'b.js': 'b', 'c/d.js': 'd', e: 'file', 'run.sh': 'x' })
  const { take, own, paths } = await createStore()
  const before = await take(project)
  for (const name of ['a.js', 'b.js', 'c', 'e']) rmSync(join(project, name), { recursive: true })
  put(project, { 'a.js': { link: '/etc/passwd' }, c: 'now a file', 'e/f': 'now a folder', 'new name': 'n' })
  chmodSync(join(project, 'run.sh'), 0o755)
  const after = await take(project)

  expect(await paths(after.tree)).toEqual(['a.js', 'c', 'e/f', 'new name', 'run.sh'])
  const modes = (await own.compare(before.tree, after.tree)).map(({ path, after: now }) => [path, now?.mode])
  expect(Object.fromEntries(modes)).toMatchObject({ 'a.js': '120000', 'run.sh': '100755', 'c/d.js': undefined })
})

it('reads no file of gigabytes that git does not track, and names it', async () => {
  const project = createProject({ 'a.js': 'a', '.gitignore': 'ignored.bin\n' })
  const grow = (path: string) => {
    writeFileSync(join(project, path), '')
    truncateSync(join(project, path), 5 * 1024 ** 3)
  }
  put(project, { 'notes.txt': 'small' })
  const { take, paths } = await createStore()
  const first = await take(project)
  expect(first.large).toEqual([])
  for (const name of ['data.bin', 'ignored.bin', 'notes.txt']) grow(name)
  const { tree, large } = await take(project)

  expect(large).toEqual(['data.bin (5.0 GB)', 'notes.txt (5.0 GB)'])
  // Not as it was when it was small.
  expect(await paths(tree)).toEqual(['.gitignore', 'a.js'])
  truncateSync(join(project, 'data.bin'), 3)
  expect(await paths((await take(project)).tree)).toEqual(['.gitignore', 'a.js', 'data.bin'])
})

it('works without git, without a commit, and in a worktree', async () => {
  const { take, paths } = await createStore()
  const bare = createTestFolder()
  put(bare, { 'a.js': 'a', 'node_modules/x/index.js': 'x' })
  expect(await paths((await take(bare)).tree)).toEqual(['a.js'])

  const unborn = createTestFolder()
  git(unborn, 'init', '-q')
  put(unborn, { 'a.js': 'a' })
  const second = await createStore()
  expect(await second.paths((await second.take(unborn)).tree)).toEqual(['a.js'])

  const main = createProject({ 'a.js': 'a', '.gitignore': 'kept\n' })
  put(main, { kept: 'k' })
  git(main, 'add', '-f', 'kept')
  git(main, 'commit', '-qm', 'kept')
  const worktree = join(createTestFolder(), 'w')
  git(main, 'worktree', 'add', '-q', worktree)
  const third = await createStore()
  expect(await third.paths((await third.take(worktree)).tree)).toEqual(['.gitignore', 'a.js', 'kept'])
})

it('takes the files of submodules, and names nested repositories, with and without a commit', async () => {
  const library = createProject({ 'lib.js': 'l' })
  const project = createProject({ 'a.js': 'a' })
  git(project, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', library, 'sub')
  put(project, { 'nested/x.js': 'x', 'unborn/y.js': 'y' })
  git(join(project, 'unborn'), 'init', '-q')
  git(join(project, 'nested'), 'init', '-q')
  git(join(project, 'nested'), 'add', '-A')
  git(join(project, 'nested'), 'commit', '-qm', 'x')
  const { take, paths } = await createStore()
  const { tree, nested } = await take(project)

  expect(nested.toSorted()).toEqual(['nested', 'unborn'])
  expect(await paths(tree)).toEqual(['.gitmodules', 'a.js', 'sub/lib.js'])
  put(project, { 'sub/lib.js': 'changed', 'sub/more.js': 'm' })
  const later = await take(project)
  expect(later.tree).not.toBe(tree)
  expect(await paths(later.tree)).toEqual(['.gitmodules', 'a.js', 'sub/lib.js', 'sub/more.js'])
})

it('still sees files that were there when an agent makes a repository around them', async () => {
  const project = createProject({ 'src/a.js': 'a' })
  const { take, paths, text } = await createStore()
  await take(project)
  git(join(project, 'src'), 'init', '-q')
  put(project, { 'src/a.js': 'changed', 'src/b.js': 'b' })
  const { tree } = await take(project)

  expect(await text(tree, 'src/a.js')).toBe('changed')
  expect(await paths(tree)).toContain('src/b.js')
})

it('names LFS pointers', async () => {
  const pointer = 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n'
  const project = createProject({ '.gitattributes': '*.bin filter=lfs -text\n', 'a.bin': 'x', 'b.bin': 'real' })
  writeFileSync(join(project, 'a.bin'), pointer)
  const { own, take } = await createStore()
  expect(await findLfsPointers(own, (await take(project)).tree)).toEqual(['a.bin'])
})

it('stores bytes as they are, whatever attributes say', async () => {
  const project = createTestFolder()
  put(project, { '.gitattributes': '* text eol=crlf ident\n', 'a.txt': '$Id$\r\nx\r\n' })
  const { take, text } = await createStore()
  expect(await text((await take(project)).tree, 'a.txt')).toBe('$Id$\r\nx\r\n')
})

it('includes ignored files that the user asks for', async () => {
  const project = createProject({ '.gitignore': '.env*\ngen\n', '.env.test': 'A=1', 'gen/x.js': 'x', '.env': 'SECRET' })
  const { take, paths } = await createStore()
  const { tree } = await take(project, { include: ['.env.test', 'gen', 'missing'] })
  expect(await paths(tree)).toEqual(['.env.test', '.gitignore', 'gen/x.js'])
})

it('sees a change that keeps size and time', async () => {
  const project = createProject({ 'a.js': 'aaaa' })
  const { take, text } = await createStore()
  await take(project)
  const { atime, mtime } = statSync(join(project, 'a.js'))
  writeFileSync(join(project, 'a.js'), 'bbbb')
  utimesSync(join(project, 'a.js'), atime, mtime)
  expect(await text((await take(project)).tree, 'a.js')).toBe('bbbb')
})

it('runs nothing that the repository configures', async () => {
  const project = createProject({ 'a.js': 'a', '.gitattributes': '* filter=e diff=e\n' })
  const trace = join(createTestFolder(), 'trace')
  const evil = `sh -c 'echo ran >> ${trace}; cat'`
  for (const [name, value] of [
    ['filter.e.clean', evil],
    ['filter.e.smudge', evil],
    ['filter.e.process', evil],
    ['core.fsmonitor', evil],
    ['diff.e.textconv', evil],
  ] as const)
    git(project, 'config', name, value)
  put(project, { '.git/hooks/post-index-change': { program: `#!/bin/sh\necho ran >> ${trace}\n` } })
  put(project, { 'b.js': 'b', 'a.js': 'changed' })
  const { take, own } = await createStore()
  const { tree } = await take(project)
  await own.run({ workTree: createTestFolder(), index: join(own.folder, 'x.idx') }, 'read-tree', '--reset', '-u', tree)

  expect(existsSync(trace) ? readFileSync(trace, 'utf8') : '').toBe('')
})

it('leaves out what the user may not read, and names it', async () => {
  const project = createProject({ 'a.js': 'a' })
  put(project, { secret: 's' })
  chmodSync(join(project, 'secret'), 0)
  const { take, paths } = await createStore()
  const { tree, unreadable } = await take(project)

  const isRoot = process.getuid?.() === 0
  expect([unreadable, await paths(tree)]).toEqual(isRoot ? [[], ['a.js', 'secret']] : [['secret'], ['a.js']])
})
