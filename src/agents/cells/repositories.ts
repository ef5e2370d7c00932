import { basename, dirname, join, resolve } from 'node:path'
import { isWithin } from './mounts.ts'
import {
  exists,
  existsItself,
  isFile,
  isFolder,
  listEntries,
  listFolder,
  createFolder,
  createTemporaryFolder,
  leadsOut,
  moveFile,
  readTextSyncIfExists,
  realPath,
  removeFolder,
  writeNewFile,
} from '../../platform/files/files.ts'
import { readLink } from '../../platform/files/links.ts'
import { git, parseSubmodules } from '../../platform/git.ts'
import { plumb } from '../../platform/git-plumbing.ts'

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
const interruptedWork = ['rebase-merge', 'rebase-apply', 'sequencer']

/** The repositories around and in a folder. */
export async function findRepositories(cwd: string): Promise<Repositories> {
  const links = await gitLinks(cwd)
  const folders = findGitFolders(links, cwd)
  const readable = await Promise.all(folders.map((folder) => closeRepository(folder, folders)))
  return { writable: folders, readable: [...links.filter((link) => isFile(link)), ...readable.flat()] }
}

/**
 * The `.git` of all repositories, the paths directly in the folders of git, all links below, and the folders with a slash behind, one
 * per line: to be compared after the attempt.
 */
export async function listGitNames(cwd: string): Promise<string> {
  const links = await gitLinks(cwd)
  const folders = findGitFolders(links, cwd)
  const lists = await Promise.all(
    folders.map(async (folder) => [
      `${folder}/`,
      ...(await listFolder(folder)).map((name) => join(folder, name)),
      ...(await findLinks(folder)).map(describeLink),
    ]),
  )
  const submodules = await Promise.all(links.map((link) => listSubmodules(dirname(link))))
  return [...links, ...submodules.flat().map(describeSubmodule), ...lists.flat()].join('\n')
}

const describeSubmodule = (link: string): string => `submodule ${link}`

/**
 * Takes away what appeared in folders of git and would change what git does there: `commondir` makes git read another configuration, the
 * steps of a rebase may be commands, a lock that a killed program left keeps the user's git from working, and through a link git would write to a file elsewhere, e.g. a
 * commit message to `.bashrc`. git itself makes no links there. Steps of a rebase may be the user's, so they are moved aside. Resolves
 * with one line for each.
 */
export async function removePlanted(before: string): Promise<string[]> {
  const known = new Set(before.split('\n'))
  const lines: string[] = []
  for (const folder of [...known].filter((path) => path.endsWith('/'))) {
    const links = (await findLinks(folder.slice(0, -1))).filter((path) => !known.has(describeLink(path)))
    const paths = (await listFolder(folder)).map((name) => join(folder, name)).filter((path) => !known.has(path))
    const harmful = paths.filter((path) => basename(path) === 'commondir' || path.endsWith('.lock'))
    for (const path of new Set([...harmful, ...links])) {
      await removeFolder(path).catch(() => {})
      lines.push(`removed ${path}, which a program left and which would change what git does`)
    }
    const steps = paths.filter((path) => interruptedWork.includes(basename(path)) && !links.includes(path))
    for (const path of steps) lines.push(`moved ${path} to ${await moveAside(path)}: ${whyMoved}`)
  }
  return [...lines, ...(await removeSubmodules(known))]
}

/**
 * Repositories that a program added to the index, or made in place of a submodule. The user's `git status` in the project would read their
 * configuration, and execute a filter or a monitor that it names. One that was there before may be the user's, so it only leaves the index.
 */
async function removeSubmodules(known: ReadonlySet<string>): Promise<string[]> {
  const lines: string[] = []
  for (const workTree of [...known].filter((path) => basename(path) === '.git').map((path) => dirname(path))) {
    for (const link of (await listSubmodules(workTree)).filter((path) => existsItself(path))) {
      if (known.has(link) && known.has(describeSubmodule(link))) continue
      const isRemoved = known.has(link) && (await removeFromIndex(dirname(link), workTree))
      const change = isRemoved ? `removed ${dirname(link)} from the index` : `moved ${link} to ${await moveAside(link)}`
      lines.push(
        `${change}: a program added this repository to yours, and "git status" would execute what its settings name`,
      )
    }
  }
  return lines
}

/** By a folder of git without settings: to read a sparse index, git may execute what the repository's settings name. */
async function removeFromIndex(path: string, workTree: string): Promise<boolean> {
  const [folder] = gitFolders(join(workTree, '.git'), workTree)
  if (folder === undefined) return false
  const gitDir = await createTemporaryFolder('ralph-git')
  try {
    await plumb({ gitDir }, 'init', '--quiet', '--bare', '--template=', gitDir)
    await plumb({ gitDir }, 'config', 'core.bare', 'false')
    await plumb({ gitDir, workTree, index: join(folder, 'index') }, 'update-index', '--force-remove', '--', path)
    return true
  } catch {
    return false
  } finally {
    await removeFolder(gitDir)
  }
}

/** The `.git` of every submodule in the index, whether it exists or not. None that a link in the work tree leads to. */
async function listSubmodules(workTree: string): Promise<string[]> {
  // `--sparse`: git would fetch what it needs to list the rest, by a program that the configuration names.
  const listed = await git({ cwd: workTree }, 'ls-files', '--stage', '--sparse', '-z').catch(() => '')
  const paths = parseSubmodules(listed).map((name) => join(workTree, name))
  return paths.filter((path) => exists(path) && realPath(path) === path).map((path) => join(path, '.git'))
}

const whyMoved =
  'it appeared while the agent worked, and "git rebase --continue" would run its steps; if the rebase is yours, move it back'

async function moveAside(path: string): Promise<string> {
  const aside = (n: number): string => `${path}.moved-by-ralph-${n}`
  let n = 1
  while (existsItself(aside(n))) n++
  await moveFile(path, aside(n)).catch(() => removeFolder(path))
  return aside(n)
}

/** With its target: a file that was there may have become a link, and a link another one. */
const describeLink = (path: string): string => `${path}@${encodeURIComponent(readLink(path) ?? '')}`

/** More would make every attempt slow. */
const maxEntries = 50_000

/** Links where git writes, which are few folders: not in those of single objects. */
async function findLinks(folder: string): Promise<string[]> {
  const links: string[] = []
  const queue = [folder]
  for (let entries = 0; entries < maxEntries;) {
    const next = queue.pop()
    if (next === undefined) return links
    for (const { name, kind } of await listEntries(next)) {
      entries++
      if (kind === 'link') links.push(join(next, name))
      else if (kind === 'folder' && !/\/objects\/[\da-f]{2}$/.test(join(next, name))) queue.push(join(next, name))
    }
  }
  return links
}

async function closeRepository(folder: string, own: readonly string[]): Promise<string[]> {
  if (!exists(join(folder, 'objects'))) {
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

async function gitLinks(cwd: string): Promise<string[]> {
  const near = [...ancestors(cwd), ...(await findFolders(cwd))]
    .map((folder) => join(folder, '.git'))
    .filter((path) => exists(path) && !leadsOut(path, cwd))
  const submodules = await Promise.all(near.map((link) => listSubmodules(dirname(link))))
  return [...new Set([...near, ...submodules.flat().filter((link) => exists(link))])]
}

const findGitFolders = (links: readonly string[], cwd: string): string[] => [
  ...new Set(links.flatMap((link) => gitFolders(link, cwd))),
]

/** More would make the start of every attempt slow. */
const maxFolders = 1000

/** Folders in which a repository may be: two levels of them, and deeper as long as they are few. */
async function findFolders(cwd: string): Promise<string[]> {
  const found: string[] = []
  let level = await foldersIn(cwd)
  for (let depth = 1; level.length > 0; depth++) {
    found.push(...level)
    if (depth > 1 && found.length > maxFolders) return found
    level = (await Promise.all(level.map(foldersIn))).flat()
  }
  return found
}

const foldersIn = async (folder: string): Promise<string[]> =>
  (await listEntries(folder)).flatMap(({ name, kind }) =>
    kind === 'folder' && name !== 'node_modules' && name !== '.git' ? [join(folder, name)] : [],
  )

/** The folder and those around it, up to the first repository. */
function ancestors(folder: string): string[] {
  const parent = dirname(folder)
  return exists(join(folder, '.git')) || parent === folder ? [folder] : [folder, ...ancestors(parent)]
}

/**
 * Of a worktree: its own folder of git, and the one that it shares with the others. An agent can write a link that leads to any
 * folder of the machine, which must not be shown for that: git itself writes the way back into the folder of a worktree.
 */
function gitFolders(link: string, cwd: string): string[] {
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
