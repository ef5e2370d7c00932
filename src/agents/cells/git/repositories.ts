import { createHash } from 'node:crypto'
import { basename, dirname, join, resolve } from 'node:path'
import { writeFileAtomic } from '../../../platform/files/atomic-file.ts'
import {
  createFolder,
  createPrivateFolder,
  exists,
  isFile,
  isFolder,
  isLink,
  leadsOut,
  listEntries,
  listFolder,
  readTextSyncIfExists,
  realPath,
  writeNewFile,
  type FolderEntry,
} from '../../../platform/files/files.ts'
import { git, parseSubmodules } from '../../../platform/git.ts'
import { isWithin } from '../../../platform/files/paths.ts'
import { listConfigured, listLinkedHooks } from './configured-files.ts'

export type Repositories = {
  /** Folders of git: everything in them can be written but what git itself would execute. */
  readonly writable: readonly string[]
  readonly readable: readonly string[]
}

/** Made first where they are missing, empty: a path that is not there cannot be covered, and would be planted. */
const executedFolders = ['hooks', 'modules', 'remotes', 'branches']
const executedFiles = ['config', 'config.worktree', 'info/attributes', 'objects/info/alternates']
const linkFiles = ['commondir', 'gitdir', 'config.worktree']

/** Steps of a rebase or a cherry-pick, which may be commands that the user's `git rebase --continue` would run. */
export const interruptedWork = ['rebase-merge', 'rebase-apply', 'sequencer']

/** What Ralph finds before an attempt. */
export type RepositoryLook = {
  readonly cwd: string
  /** The `.git` of every repository around and in the folder. */
  readonly links: readonly string[]
  readonly folders: readonly string[]
  /** The `.git` of every submodule in an index. */
  readonly submodules: readonly string[]
  /** See `listConfigured`. */
  readonly configured: readonly string[]
} & Pick<Folders, 'bare' | 'isComplete'>

/** `memory` is a folder that knows the repositories of earlier looks. */
export async function lookForRepositories(cwd: string, memory?: string): Promise<RepositoryLook> {
  const { links, submodules, bare, isComplete } = await findRepositories(cwd, memory)
  const folders = findGitFolders(links, cwd)
  const configured = await Promise.all([
    ...links.map((link) => listConfigured(dirname(link), cwd)),
    ...folders.map((folder) => listLinkedHooks(folder, cwd)),
  ])
  return { cwd, links, folders, submodules, bare, isComplete, configured: [...new Set(configured.flat())] }
}

/** What a program may write and read of the repositories around and in a folder. */
export async function closeRepositories({ cwd, links, folders, configured }: RepositoryLook): Promise<Repositories> {
  // An agent can make one in which git itself could not work, e.g. with a file in place of a folder: it becomes readable as a whole.
  const closed = await Promise.all(folders.map((folder) => closeRepository(folder, folders).catch(() => [folder])))
  // A link cannot be closed, but what it leads to in the project; the link itself is restored after the attempt.
  const leadTo = (path: string): string[] => {
    if (!isLink(path)) return [path]
    const isIn = exists(path) && [cwd, ...folders].some((folder) => isWithin(realPath(path), folder))
    return isIn ? [realPath(path)] : []
  }
  return {
    writable: folders.filter((folder, n) => closed[n]?.[0] !== folder),
    readable: [
      ...links.filter((link) => isFile(link)),
      ...closed.flat().flatMap(leadTo),
      ...configured.flatMap((path) => (exists(path) ? [realPath(path)] : [])),
    ],
  }
}

/** The `.git` of every submodule in the index, whether it exists or not. None that a link in the work tree leads to. */
export async function listSubmodules(workTree: string): Promise<string[]> {
  // `--sparse`: git would fetch what it needs to list the rest, by a program that the configuration names.
  const listed = await git({ cwd: workTree }, 'ls-files', '--stage', '--sparse', '-z').catch(() => '')
  const paths = parseSubmodules(listed).map((name) => join(workTree, name))
  return paths.filter((path) => exists(path) && realPath(path) === path).map((path) => join(path, '.git'))
}

async function closeRepository(folder: string, own: readonly string[]): Promise<string[]> {
  if (!exists(join(folder, 'objects'))) {
    if (basename(dirname(folder)) === 'worktrees') await writeNewFile(join(folder, 'config.worktree'), '')
    return [...linkFiles, 'config', 'hooks', ...interruptedWork]
      .map((name) => join(folder, name))
      .filter((path) => exists(path))
  }
  for (const name of executedFolders) await createFolder(join(folder, name))
  for (const name of executedFiles) {
    const path = join(folder, name)
    if (exists(path)) continue
    await createFolder(dirname(path))
    await writeNewFile(path, '')
  }
  const worktrees = (await listFolder(join(folder, 'worktrees'))).map((name) => join(folder, 'worktrees', name))
  return [
    ...[...executedFolders, ...executedFiles].map((name) => join(folder, name)),
    ...interruptedWork.map((name) => join(folder, name)).filter((path) => exists(path)),
    // `commondir` of another worktree would give the user's git there another configuration.
    ...worktrees.filter((path) => !own.includes(path)),
  ]
}

const listAll = async (links: readonly string[]): Promise<string[]> =>
  (await Promise.all(links.map((link) => listSubmodules(dirname(link))))).flat()

/** Whether a look closes what git would execute in the repository: it has a folder of git, and that is complete. */
export const isClosed = (link: string, cwd: string): boolean =>
  gitFolders(link, cwd).some((folder) => exists(join(folder, 'objects')))

/** With those of earlier looks: an agent can make more folders than one look visits. */
export async function findRepositories(
  cwd: string,
  memory?: string,
): Promise<Pick<RepositoryLook, 'links' | 'submodules' | 'bare' | 'isComplete'>> {
  const file = memory && join(memory, 'repositories', createHash('sha256').update(cwd).digest('hex').slice(0, 16))
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only this function writes it, where no agent can
  const known = JSON.parse((file && readTextSyncIfExists(file)) ?? '[]') as string[]
  const { folders, bare, isComplete } = await findFolders(cwd)
  const seen = [...ancestors(cwd), ...folders].map((folder) => join(folder, '.git'))
  const near = [...new Set([...seen, ...known])].filter((path) => exists(path) && !leadsOut(path, cwd))
  const submodules = await listAll(near)
  const below = [...new Set(submodules)].filter((link) => exists(link) && !near.includes(link))
  const links = [...near, ...below]
  if (file && links.some((link) => !known.includes(link))) {
    await createPrivateFolder(dirname(file))
    await writeFileAtomic(file, JSON.stringify(links))
  }
  return { links, submodules: [...submodules, ...(await listAll(below))], bare, isComplete }
}

const findGitFolders = (links: readonly string[], cwd: string): string[] => [
  ...new Set(links.flatMap((link) => gitFolders(link, cwd))),
]

/** More would make the start of every attempt slow. */
const maxFolders = 1000

type Folders = {
  readonly folders: readonly string[]
  /** Those that are themselves repositories, also without a `.git`: git in them obeys their settings. */
  readonly bare: readonly string[]
  /** Whether no folder was left out. */
  readonly isComplete: boolean
}

/** Folders in which a repository may be: two levels of them, and deeper as long as they are few. */
async function findFolders(cwd: string): Promise<Folders> {
  const folders: string[] = []
  const bare: string[] = []
  let level = [cwd]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > 1 && folders.length > maxFolders) return { folders, bare, isComplete: false }
    const entries = await Promise.all(level.map(listEntries))
    bare.push(...level.filter((_, n) => isGitFolder(entries[n]?.map(({ name }) => name) ?? [])))
    level = level.flatMap((folder, n) => foldersIn(folder, entries[n] ?? []))
    folders.push(...level)
  }
  return { folders, bare, isComplete: true }
}

const foldersIn = (folder: string, entries: readonly FolderEntry[]): string[] =>
  entries.flatMap(({ name, kind }) =>
    kind === 'folder' && name !== 'node_modules' && name !== '.git' ? [join(folder, name)] : [],
  )

/** Whether git takes a folder with these names for the folder of a repository. */
export const isGitFolder = (names: readonly string[]): boolean =>
  names.includes('HEAD') && (names.includes('commondir') || (names.includes('objects') && names.includes('refs')))

/** The folder and those around it, up to the first repository. */
function ancestors(folder: string): string[] {
  const parent = dirname(folder)
  return exists(join(folder, '.git')) || parent === folder ? [folder] : [folder, ...ancestors(parent)]
}

/**
 * Of a worktree: its own folder of git, and the one that it shares with the others. An agent can write a link that leads to any
 * folder of the machine, which must not be shown for that: git itself writes the way back into the folder of a worktree.
 */
export function gitFolders(link: string, cwd: string): string[] {
  if (isFolder(link)) return [realPath(link)]
  const own = /^gitdir: (.*)$/m.exec(readTextSyncIfExists(link) ?? '')?.[1]
  if (own === undefined) return []
  const folder = resolve(dirname(link), own)
  if (!exists(folder) || leadsOut(folder, cwd)) return []
  if (!isWithin(folder, dirname(link)) && !leadsBack(folder, link, cwd)) return []
  const [real, common] = [realPath(folder), resolve(folder, '..', '..')]
  // Where git puts it. The file `commondir` may say anything.
  const isWorktree = basename(dirname(folder)) === 'worktrees' && exists(join(common, 'objects'))
  return isWorktree ? [real, realPath(common)] : [real]
}

function leadsBack(folder: string, link: string, cwd: string): boolean {
  const back = readTextSyncIfExists(join(folder, 'gitdir'))?.trim()
  if (back !== undefined) return exists(resolve(folder, back)) && realPath(resolve(folder, back)) === realPath(link)
  // A submodule has its folder in that of the repository around it.
  const around = ancestors(dirname(dirname(link))).map((each) => join(each, '.git'))
  return around.some(
    (each) => isFolder(each) && !leadsOut(each, cwd) && isWithin(folder, join(realPath(each), 'modules')),
  )
}
