import { basename, dirname, join, resolve } from 'node:path'
import { isWithin } from './mounts.ts'
import {
  exists,
  isFile,
  isFolder,
  listFolder,
  createFolder,
  readTextSyncIfExists,
  realPath,
  removeFolder,
  writeNewFile,
} from '../../platform/files/files.ts'

export type Repositories = {
  /** Folders of git: everything in them can be written but what git itself would execute. */
  readonly writable: readonly string[]
  readonly readable: readonly string[]
}

/** Made first where they are missing, empty: a path that is not there cannot be covered, and would be planted. */
const executedFolders = ['hooks', 'modules']
const executedFiles = ['config', 'config.worktree', 'info/attributes', 'objects/info/alternates']
const linkFiles = ['commondir', 'gitdir', 'config.worktree']

/** The repositories around and directly in a folder. */
export async function findRepositories(cwd: string): Promise<Repositories> {
  const links = await gitLinks(cwd)
  const folders = [...new Set(links.flatMap(gitFolders))]
  const readable = await Promise.all(folders.map(closeRepository))
  return { writable: folders, readable: [...links.filter((link) => isFile(link)), ...readable.flat()] }
}

/** The paths directly in the folders of git, and the folders with a slash behind, one per line: to be compared after the attempt. */
export async function listGitNames(cwd: string): Promise<string> {
  const folders = [...new Set((await gitLinks(cwd)).flatMap(gitFolders))]
  const lists = await Promise.all(
    folders.map(async (folder) => [`${folder}/`, ...(await listFolder(folder)).map((name) => join(folder, name))]),
  )
  return lists.flat().join('\n')
}

/**
 * Removes what appeared in folders of git and would change what git does there: `commondir` makes git read another
 * configuration, and a lock that a killed program left keeps the user's git from working. Resolves with their paths.
 */
export async function removePlanted(before: string): Promise<string[]> {
  const known = new Set(before.split('\n'))
  const planted: string[] = []
  for (const folder of [...known].filter((path) => path.endsWith('/'))) {
    const paths = (await listFolder(folder)).map((name) => join(folder, name)).filter((path) => !known.has(path))
    for (const path of paths.filter((each) => basename(each) === 'commondir' || each.endsWith('.lock'))) {
      await removeFolder(path).catch(() => {})
      planted.push(path)
    }
  }
  return planted
}

async function closeRepository(folder: string): Promise<string[]> {
  if (!exists(join(folder, 'objects'))) {
    return [...linkFiles, 'config', 'hooks'].map((name) => join(folder, name)).filter((path) => exists(path))
  }
  for (const name of executedFolders) await createFolder(join(folder, name))
  for (const name of executedFiles) {
    const path = join(folder, name)
    if (exists(path)) continue
    await createFolder(dirname(path))
    await writeNewFile(path, '')
  }
  return [...executedFolders, ...executedFiles].map((name) => join(folder, name))
}

async function gitLinks(cwd: string): Promise<string[]> {
  const names = await listFolder(cwd)
  const below = names.filter((name) => name !== 'node_modules' && name !== '.git').map((name) => join(cwd, name))
  return [...ancestors(cwd), ...below].map((folder) => join(folder, '.git')).filter((path) => exists(path))
}

/** The folder and those around it, up to the first repository. */
function ancestors(folder: string): string[] {
  const parent = dirname(folder)
  return exists(join(folder, '.git')) || parent === folder ? [folder] : [folder, ...ancestors(parent)]
}

/**
 * Of a worktree: its own folder of git, and the one that it shares with the others. An agent can write a link that leads to any
 * folder of the machine, which must not be shown for that: git itself writes the way back into the folder of a worktree.
 */
function gitFolders(link: string): string[] {
  if (isFolder(link)) return [realPath(link)]
  const own = /^gitdir: (.*)$/m.exec(readTextSyncIfExists(link) ?? '')?.[1]
  if (own === undefined) return []
  const folder = resolve(dirname(link), own)
  if (!isWithin(folder, dirname(link)) && !leadsBack(folder, link)) return []
  const common = readTextSyncIfExists(join(folder, 'commondir'))?.trim()
  const folders = common === undefined ? [folder] : [folder, resolve(folder, common)]
  return folders.filter((path) => exists(path)).map((path) => realPath(path))
}

function leadsBack(folder: string, link: string): boolean {
  const back = readTextSyncIfExists(join(folder, 'gitdir'))?.trim()
  if (back !== undefined) return exists(resolve(folder, back)) && realPath(resolve(folder, back)) === realPath(link)
  // A submodule has its folder in that of the repository around it.
  const around = ancestors(dirname(dirname(link))).map((each) => join(each, '.git'))
  return around.some((git) => isFolder(git) && isWithin(folder, join(realPath(git), 'modules')))
}
