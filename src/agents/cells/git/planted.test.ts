import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readlinkSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createTestFolder } from '../../../../test/support/folder.ts'
import { listGitNames, removePlanted } from './planted.ts'
import { closeRepositories, lookForRepositories } from './repositories.ts'

const listNames = async (cwd: string, memory?: string) => listGitNames(await lookForRepositories(cwd, memory))
const findRepositories = async (cwd: string, memory?: string) =>
  closeRepositories(await lookForRepositories(cwd, memory))

const git = (cwd: string, ...args: readonly string[]) =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd, stdio: 'ignore' })

function createRepository(path = createTestFolder()): string {
  mkdirSync(path, { recursive: true })
  git(path, 'init', '-q')
  git(path, 'commit', '-q', '--allow-empty', '-m', 'a')
  return path
}

/** What an agent makes of a new repository, by the name of the case. */
const executing: Readonly<Record<string, (path: string) => void>> = {
  'a monitor': (path) => git(path, 'config', 'core.fsmonitor', 'evil'),
  'a filter': (path) => git(path, 'config', 'filter.e.clean', 'evil'),
  'an included file': (path) => git(path, 'config', 'include.path', '../inc'),
  'a transport': (path) => git(path, 'config', 'remote.origin.url', 'ext::evil'),
  'a setting on the line of its section': (path) =>
    writeFileSync(join(path, '.git/config'), '[core] fsmonitor = evil\n'),
  'a value over two lines': (path) => writeFileSync(join(path, '.git/config'), '[user]\n\tname = a\\\n[core]\n'),
  'a hook': (path) => writeFileSync(join(path, '.git/hooks/post-index-change'), '#!/bin/sh\n'),
  'settings of a worktree': (path) => writeFileSync(join(path, '.git/config.worktree'), ''),
  'settings of another folder': (path) => writeFileSync(join(path, '.git/commondir'), '../../evil\n'),
  'a link in place of the folder': (path) => {
    renameSync(join(path, '.git'), join(path, 'g'))
    symlinkSync('g', join(path, '.git'))
  },
  'linked hooks': (path) => {
    renameSync(join(path, '.git/hooks'), join(path, 'h'))
    symlinkSync('../h', join(path, '.git/hooks'))
  },
  'a submodule that does': (path) => {
    git(createRepository(join(path, 'a/b')), 'config', 'core.fsmonitor', 'evil')
    git(path, 'add', '.')
  },
}

it.each(Object.keys(executing))('moves a new repository with %s aside: it would become a submodule', async (name) => {
  const cwd = createRepository()
  const before = await listNames(cwd)
  const path = createRepository(join(cwd, 'sub'))
  executing[name]?.(path)
  expect(await removePlanted(before)).toContainEqual(
    expect.stringContaining(`moved ${path}/.git to ${path}/.git.moved-by-ralph-1: `),
  )
})

it('keeps new repositories by which git executes nothing: a clone, one with a remote, a worktree', async () => {
  const cwd = createRepository()
  const before = await listNames(cwd)
  git(cwd, 'clone', '-q', cwd, 'clone')
  git(createRepository(join(cwd, 'made')), 'remote', 'add', 'origin', 'https://example.com/a.git')
  git(cwd, 'worktree', 'add', '-q', '-b', 'w', 'w')
  expect(await removePlanted(before)).toEqual([])
})

it('moves a repository aside that a program made of a project without one', async () => {
  const cwd = createTestFolder()
  const before = await listNames(cwd)
  git(createRepository(cwd), 'config', 'core.fsmonitor', 'evil')
  expect(await removePlanted(before)).toEqual([expect.stringContaining(`moved ${cwd}/.git to`)])
})

it('closes settings and hooks in the project that the configuration names, and moves aside those that were missing', async () => {
  const cwd = createRepository()
  git(cwd, 'config', 'include.path', '../.gitconfig')
  git(cwd, 'config', 'core.hooksPath', '.husky/_')
  mkdirSync(join(cwd, '.husky/_'), { recursive: true })
  expect((await findRepositories(cwd)).readable).toEqual(
    expect.arrayContaining([join(cwd, '.husky'), join(cwd, '.husky/_')]),
  )
  const before = await listNames(cwd)
  writeFileSync(join(cwd, '.gitconfig'), '[core]\n\tfsmonitor = evil\n')
  expect(await removePlanted(before)).toEqual([expect.stringContaining(`moved ${cwd}/.gitconfig to`)])
})

it('shows no folder for a configuration that names it: the project, one around it or one elsewhere', async () => {
  const cwd = createRepository()
  const elsewhere = createTestFolder()
  symlinkSync(elsewhere, join(cwd, 'link'))
  for (const path of ['.', '..', elsewhere, 'link']) git(cwd, 'config', '--add', 'core.hooksPath', path)
  const { readable } = await findRepositories(cwd)
  expect(readable.filter((path) => !path.startsWith(join(cwd, '.git')))).toEqual([])
})

it('remembers a repository that an agent hides behind many folders', async () => {
  const [cwd, memory] = [createRepository(), createTestFolder()]
  const path = createRepository(join(cwd, 'a/b/c/own'))
  await listNames(cwd, memory)
  for (let n = 0; n < 40; n++) for (let m = 0; m < 40; m++) mkdirSync(join(cwd, `m${n}/${m}`), { recursive: true })
  const found = await Promise.all([findRepositories(cwd), findRepositories(cwd, memory)])
  expect(found.map(({ writable }) => writable.includes(join(path, '.git')))).toEqual([false, true])
})

it('takes a name with a line break for no other path', async () => {
  const cwd = createRepository()
  const planted = join(cwd, '.git/commondir')
  mkdirSync(join(cwd, `y\n${cwd}/.git`), { recursive: true })
  writeFileSync(join(cwd, `y\n${planted}`), '')
  const before = await listNames(cwd)
  writeFileSync(planted, 'evil\n')
  expect(await removePlanted(before)).toEqual([expect.stringContaining(`removed ${planted}`)])
  expect(existsSync(planted)).toBe(false)
})

it('gives the worktree of an agent no settings of its own', async () => {
  const cwd = createRepository()
  git(cwd, 'worktree', 'add', '-q', '-b', 'w', 'w')
  const { readable } = await findRepositories(join(cwd, 'w'))
  expect(readable).toContain(join(cwd, '.git/worktrees/w/config.worktree'))
})

/** A folder that git takes for a repository, and whose settings name a program. */
function createBare(path: string): string {
  git(createTestFolder(), 'init', '-q', '--bare', path)
  writeFileSync(join(path, 'config'), '[core]\n\tbare = false\n\tworktree = .\n\tfsmonitor = evil\n')
  return path
}

it('moves HEAD of a new bare repository aside, also of one that is ignored and too deep for a look', async () => {
  const cwd = createRepository()
  const before = await listNames(cwd)
  for (let n = 0; n < 40; n++) for (let m = 0; m < 40; m++) mkdirSync(join(cwd, `m${n}/${m}`), { recursive: true })
  writeFileSync(join(cwd, '.gitignore'), '*\n')
  const bare = [createBare(join(cwd, 'src')), createBare(join(cwd, 'a/b/c/d/src'))]
  git(cwd, 'init', '-q', '--bare', 'harmless')
  expect((await removePlanted(before)).toSorted()).toEqual(
    bare.map((path) => expect.stringContaining(`moved ${path}/HEAD to ${path}/HEAD.moved-by-ralph-1: `)).toReversed(),
  )
  expect(await removePlanted(before)).toEqual([])
})

it.each(['src', 'a/b/c/d/src'])(
  'keeps the bare repository of the user in %s, unless a program changes it',
  async (name) => {
    const cwd = createRepository()
    const path = createBare(join(cwd, name))
    for (let n = 0; n < 40; n++) for (let m = 0; m < 40; m++) mkdirSync(join(cwd, `m${n}/${m}`), { recursive: true })
    await new Promise((done) => setTimeout(done, 50))
    const before = await listNames(cwd)
    writeFileSync(join(path, 'description'), 'mine')
    expect(await removePlanted(before)).toEqual([])
    writeFileSync(join(path, 'hooks/post-index-change'), 'evil')
    expect(await removePlanted(before)).toEqual([expect.stringContaining(`moved ${path}/HEAD to`)])
  },
)

it('keeps a repository of the user whose folder of git lies elsewhere', async () => {
  const cwd = createRepository()
  const path = createRepository(join(cwd, 'sub'))
  const elsewhere = join(createTestFolder(), 'g')
  git(path, 'init', '-q', '--separate-git-dir', elsewhere)
  git(path, 'config', 'core.fsmonitor', 'mine')
  const before = await listNames(cwd)
  expect(await removePlanted(before)).toEqual([])
})

it.each(['an empty folder', 'a file that leads nowhere'])(
  'takes a repository that was %s before for a new one',
  async (kind) => {
    const cwd = createRepository()
    const link = join(cwd, 'sub/.git')
    mkdirSync(join(cwd, 'sub'))
    if (kind === 'an empty folder') mkdirSync(link)
    else writeFileSync(link, 'gitdir: ../g\n')
    const before = await listNames(cwd)
    expect(await removePlanted(before)).toEqual([])
    const made = join(createRepository(), '.git')
    writeFileSync(join(made, 'hooks/post-index-change'), 'evil')
    renameSync(made, kind === 'an empty folder' ? link : join(cwd, 'g'))
    expect(await removePlanted(before)).toContainEqual(expect.stringContaining(`moved ${link} to`))
  },
)

it('closes what the links of the user lead to in the project, and restores the links', async () => {
  const cwd = createRepository()
  const hooks = join(cwd, '.git/hooks')
  rmSync(hooks, { recursive: true })
  mkdirSync(join(cwd, 'githooks'))
  symlinkSync(join(cwd, 'githooks'), hooks)
  symlinkSync('../lint.sh', join(cwd, 'githooks/pre-commit'))
  const { readable } = await findRepositories(cwd)
  expect(readable).toContain(join(cwd, 'githooks'))
  expect(readable).not.toContain(hooks)
  const before = await listNames(cwd)
  rmSync(hooks)
  mkdirSync(hooks)
  writeFileSync(join(hooks, 'pre-push'), 'evil')
  writeFileSync(join(cwd, 'lint.sh'), 'evil')
  expect(await removePlanted(before)).toEqual([
    `moved ${hooks} to ${hooks}.moved-by-ralph-1: restored the link ${hooks}, by which your git finds what it executes`,
    expect.stringContaining(`moved ${cwd}/lint.sh to`),
  ])
  expect(readlinkSync(hooks)).toBe(join(cwd, 'githooks'))
})
