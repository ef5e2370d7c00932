import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createTestFolder } from '../../../test/support/folder.ts'
import { findRepositories, listGitNames, removePlanted } from './repositories.ts'

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
  const before = await listGitNames(cwd)
  leaveSteps(steps)
  const aside = `${steps}.moved-by-ralph-1`
  expect(await removePlanted(before)).toEqual([expect.stringContaining(`moved ${steps} to ${aside}: `)])
  expect([existsSync(steps), existsSync(join(aside, 'git-rebase-todo'))]).toEqual([false, true])
})

it('keeps the interrupted rebase of the user, and lets no agent change its steps', async () => {
  const { cwd, steps } = createRepository()
  leaveSteps(steps)
  expect(await removePlanted(await listGitNames(cwd))).toEqual([])
  expect((await findRepositories(cwd)).readable).toContain(steps)
})
