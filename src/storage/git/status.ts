import { dirname, join } from 'node:path'
import { exists } from '../../platform/files/files.ts'
import { git } from '../../platform/git.ts'

export type GitStatus = {
  /** `main`; undefined: detached HEAD. */
  readonly branch: string | undefined
  /** Files that differ from HEAD or are untracked. */
  readonly changed: number
}

/** The state of a work tree; undefined outside of git. Runs no filter: an agent may have configured one. */
export async function readGitStatus(cwd: string): Promise<GitStatus | undefined> {
  if (findRepository(cwd) === undefined) return undefined
  const filters = await listFilters(cwd)
  const off = filters.flatMap((name) => ['clean', 'process'].flatMap((key) => ['-c', `filter.${name}.${key}=`]))
  const args = ['status', '--porcelain', '--branch', '--ignore-submodules=all']
  const status = await git({ cwd }, ...off, ...args).catch(() => undefined)
  if (status === undefined) return undefined
  const [head = '', ...changed] = status.split('\n').filter((line) => line !== '')
  const branch = /^## (?:No commits yet on )?(.+?)(?:\.\.\.|$)/.exec(head)?.[1] ?? ''
  return { branch: branch.startsWith('HEAD (no branch)') ? undefined : branch, changed: changed.length }
}

async function listFilters(cwd: string): Promise<string[]> {
  const listed = await git({ cwd }, 'config', '--name-only', '--get-regexp', '^filter\\.').catch(() => '')
  const names = listed.split('\n').map((line) => /^filter\.(.+)\.\w+$/.exec(line)?.[1])
  return [...new Set(names.filter((name) => name !== undefined))]
}

/** The root of the git work tree that contains this folder. */
export function findRepository(folder: string): string | undefined {
  for (let above = folder; above !== dirname(above); above = dirname(above)) {
    if (exists(join(above, '.git'))) return above
  }
  return undefined
}
