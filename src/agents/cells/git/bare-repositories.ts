import { createHash } from 'node:crypto'
import { dirname, join } from 'node:path'
import { changedAt, isFolder, listEntries, readPlainText } from '../../../platform/files/files.ts'
import { readLink } from '../../../platform/files/links.ts'
import { git } from '../../../platform/git.ts'
import { isPlainFolder, readGitFile } from './new-repositories.ts'
import { isGitFolder } from './repositories.ts'

/** The bare repositories of a project, as they were before an attempt. */
export type BareRepositories = {
  /** See `describeRepository`, with the path before it. */
  readonly known: ReadonlySet<string>
  readonly isComplete: boolean
  readonly startedAt: number
}

/**
 * Folders that git takes for a repository although they have no `.git`, and whose settings or hooks it would execute: also in a folder
 * with the user's own files, as soon as the user or a shell prompt asks for the status there.
 */
export async function listExecutingBare(
  workTrees: readonly string[],
  found: { readonly bare: readonly string[]; readonly isComplete: boolean },
  before: BareRepositories,
): Promise<string[]> {
  const deep = found.isComplete ? [] : (await Promise.all(workTrees.map(listDeep))).flat()
  const checked = await Promise.all(
    [...new Set([...found.bare, ...deep])].map(async (folder) =>
      (await isOwn(folder, before)) || (await isPlainFolder(folder).catch(() => false)) ? [] : [folder],
    ),
  )
  return checked.flat()
}

/** Whether it was there before the attempt, and git executes in it what it did then. */
async function isOwn(folder: string, { known, isComplete, startedAt }: BareRepositories): Promise<boolean> {
  if (known.has(await describeRepository(folder))) return true
  if (isComplete || [...known].some((each) => each.startsWith(`bare ${folder}@`))) return false
  // No look went so deep before the attempt.
  const parts = ['HEAD', 'objects', 'refs', ...executed]
  const hooks = (await listEntries(join(folder, 'hooks'))).map(({ name }) => `hooks/${name}`)
  return [...parts, ...hooks].every((name) => changedAt(join(folder, name)) < startedAt)
}

/** Ignored and tracked files too: an agent writes the list of what is ignored. */
async function listDeep(workTree: string): Promise<string[]> {
  const words = ['ls-files', '--cached', '--others', '-z', '--', ':(glob)**/HEAD']
  const listed = await git({ cwd: workTree }, ...words).catch(() => '')
  const folders = listed.split('\0').flatMap((name) => (name === '' ? [] : [dirname(join(workTree, name))]))
  const entries = await Promise.all(folders.map(listEntries))
  return folders.filter((_, n) => isGitFolder(entries[n]?.map(({ name }) => name) ?? []))
}

const executed = ['config', 'config.worktree', 'commondir', 'hooks']

/** One text for what git would execute in a folder of a repository, or in the one to which a `.git` file leads. */
export async function describeRepository(path: string): Promise<string> {
  const folder = isFolder(path) ? path : followGitFile(path)
  const hooks = (await listEntries(join(folder, 'hooks'))).map(({ name }) => `hooks/${name}`)
  const parts = [...executed, ...hooks.toSorted()].map((name) => {
    const file = join(folder, name)
    return [name, readLink(file) ?? '', isFolder(file) ? 'folder' : readIfAllowed(file)]
  })
  const text = JSON.stringify([folder, readLink(path) ?? '', parts])
  return `bare ${path}@${createHash('sha256').update(text).digest('hex')}`
}

/** A pipe leads nowhere, nor does a file that may not be read. */
function followGitFile(path: string): string {
  try {
    return readGitFile(path) ?? path
  } catch {
    return path
  }
}

function readIfAllowed(file: string): string {
  try {
    return readPlainText(file) ?? ''
  } catch {
    return 'unreadable'
  }
}
