import { execFileSync } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createTestFolder } from '../../../test/support/folder.ts'
import { excludeFromGit } from './exclude-from-git.ts'

it.each(['.', 'packages/web'])(
  'hides the sprints of a project in %s of a repository from git status, once',
  async (at) => {
    const root = createTestFolder()
    const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' })
    git('init', '--quiet')
    const sprintDir = join(root, at, '.claude/sprints/2026-11-15_x')
    await mkdir(sprintDir, { recursive: true })
    await writeFile(join(sprintDir, 'SPRINT.yaml'), 'goal: g\n')

    expect(await excludeFromGit(sprintDir)).toBe(true)
    expect(git('status', '--porcelain', '--untracked-files=all')).toBe('')
    expect(await excludeFromGit(sprintDir)).toBe(false)
  },
)
