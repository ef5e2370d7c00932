import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createTestFolder } from './folder.ts'

export const git = (cwd: string, ...args: readonly string[]) =>
  execFileSync('git', ['-c', 'user.name=U', '-c', 'user.email=u@x', ...args], {
    cwd,
    encoding: 'utf8',
    stdio: 'pipe',
  }).trim()

export function write(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
}

export function createRepository(folder: string, files: Readonly<Record<string, string>>): string {
  mkdirSync(folder, { recursive: true })
  git(folder, 'init', '--quiet', '--initial-branch=main')
  write(folder, files)
  git(folder, 'add', '.')
  git(folder, 'commit', '--quiet', '--message=first')
  return folder
}

/** A project with its sprint, and what the user has staged, checked out and configured there. */
export function createProject(files: Readonly<Record<string, string>> = { 'a.txt': 'a\n', 'b.txt': 'b\n' }) {
  const project = createRepository(join(createTestFolder(), 'project'), files)
  return { project, ...optionsFor(project), users: () => readUserState(project) }
}

export function optionsFor(project: string) {
  const sprintDir = join(project, '.claude', 'sprints', 's')
  write(sprintDir, { 'SPRINT.yaml': 'goal: g\n', 'journal/1.log': 'x' })
  return { sprintDir, options: { project, sprintDir, sprintId: 's' } }
}

const readUserState = (project: string) => ({
  head: readFileSync(join(project, '.git', 'HEAD'), 'utf8'),
  commit: git(project, 'rev-parse', '--verify', '--quiet', 'HEAD'),
  index: readFileSync(join(project, '.git', 'index')).toString('base64'),
  branches: git(project, 'branch', '--list', '--verbose'),
  stash: git(project, 'stash', 'list'),
})

/** Ralph's own git folder of a project with one repository. */
export const findStore = (sprintDir: string) =>
  join(sprintDir, 'checkpoints', readdirSync(join(sprintDir, 'checkpoints'))[0] ?? '')
