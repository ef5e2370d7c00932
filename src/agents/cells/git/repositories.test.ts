import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createTestFolder } from '../../../../test/support/folder.ts'
import { listGitNames, removePlanted } from './planted.ts'
import { closeRepositories, lookForRepositories } from './repositories.ts'

const listNames = async (cwd: string, memory?: string) => listGitNames(await lookForRepositories(cwd, memory))
const findRepositories = async (cwd: string, memory?: string) =>
  closeRepositories(await lookForRepositories(cwd, memory))

const createRepository = () => {
  const cwd = createTestFolder()
  execFileSync('git', ['init', '-q'], { cwd })
  return { cwd, steps: join(cwd, '.git/rebase-merge') }
}

function leaveSteps(folder: string): void {
  mkdirSync(folder)
  writeFileSync(join(folder, 'git-rebase-todo'), 'exec touch evil\n')
}

it('moves the steps of a new rebase aside: `git rebase --continue` would execute them, but they may be the steps of the user', async () => {
  const { cwd, steps } = createRepository()
  const before = await listNames(cwd)
  leaveSteps(steps)
  const aside = `${steps}.moved-by-ralph-1`
  expect(await removePlanted(before)).toEqual([expect.stringContaining(`moved ${steps} to ${aside}: `)])
  expect([existsSync(steps), existsSync(join(aside, 'git-rebase-todo'))]).toEqual([false, true])
})

it('keeps the interrupted rebase of the user, and lets no agent change its steps', async () => {
  const { cwd, steps } = createRepository()
  leaveSteps(steps)
  expect(await removePlanted(await listNames(cwd))).toEqual([])
  expect((await findRepositories(cwd)).readable).toContain(steps)
})

function createNested(cwd: string, name: string): string {
  const path = join(cwd, name)
  const nested = (...args: readonly string[]) => execFileSync('git', ['-C', path, ...args])
  mkdirSync(path, { recursive: true })
  nested('init', '-q')
  nested('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-q', '--allow-empty', '-m', 'a')
  return path
}

const listIndex = (cwd: string): string => execFileSync('git', ['ls-files'], { cwd, encoding: 'utf8' })

it('moves away the git folder of a new repository in the index: `git status` would execute its filters', async () => {
  const { cwd } = createRepository()
  const before = await listNames(cwd)
  const path = createNested(cwd, 'a/b/c/nested')
  execFileSync('git', ['add', 'a'], { cwd, stdio: 'ignore' })
  expect(await removePlanted(before)).toEqual([
    expect.stringContaining(`moved ${path}/.git to ${path}/.git.moved-by-ralph-1: `),
  ])
  expect(existsSync(join(path, '.git'))).toBe(false)
})

it('takes a repository that was there before out of the index, and leaves it as it is', async () => {
  const { cwd } = createRepository()
  const path = createNested(cwd, 'nested')
  const before = await listNames(cwd)
  execFileSync('git', ['add', 'nested'], { cwd, stdio: 'ignore' })
  expect(listIndex(cwd)).toBe('nested\n')
  expect(await removePlanted(before)).toEqual([expect.stringContaining(`removed ${path} from the index: `)])
  expect([listIndex(cwd), existsSync(join(path, '.git/HEAD'))]).toEqual(['', true])
})

it('leaves a submodule alone, unless a program makes the repository of one that was not fetched', async () => {
  const { cwd } = createRepository()
  createNested(cwd, 'fetched')
  const missing = createNested(cwd, 'third/party/missing')
  execFileSync('git', ['add', '.'], { cwd, stdio: 'ignore' })
  rmSync(join(missing, '.git'), { recursive: true })
  const before = await listNames(cwd)
  expect(await removePlanted(before)).toEqual([])
  createNested(cwd, 'third/party/missing')
  expect(await removePlanted(before)).toEqual([expect.stringContaining(`moved ${missing}/.git`)])
})

it('touches no repository that a link in the work tree leads to', async () => {
  const { cwd } = createRepository()
  const own = createNested(createTestFolder(), 'own')
  const before = await listNames(cwd)
  createNested(cwd, 'nested')
  execFileSync('git', ['add', 'nested'], { cwd, stdio: 'ignore' })
  rmSync(join(cwd, 'nested'), { recursive: true })
  symlinkSync(own, join(cwd, 'nested'))
  expect(await removePlanted(before)).toEqual([])
  expect(existsSync(join(own, '.git'))).toBe(true)
})

it('finds repositories far below the project', async () => {
  const { cwd } = createRepository()
  const path = createNested(cwd, 'vendor/example.com/group/name')
  expect((await findRepositories(cwd)).writable).toContain(join(path, '.git'))
})
