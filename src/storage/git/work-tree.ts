import { dirname, join, relative } from 'node:path'
import { errorMessage } from '../../contract/errors.ts'
import {
  existsItself,
  fileSignature,
  hasReliableFolderTimes,
  isFolderItself,
  lstatSize,
  removeFile,
} from '../../platform/files/files.ts'
import { decodePath, resolvePath } from './byte-paths.ts'
import { indexFile, prepareStore, storeGit } from './checkpoint-store.ts'
import { openStore } from './import-checkpoints.ts'
import { rememberPermissions } from './file-permissions.ts'
import { findLargeFiles, formatGigabytes, type LargeFile } from './large-files.ts'
import { isLinkedWorktree, isSearched, resolveGitFolders, type Repository } from './repositories.ts'

/** A file or folder that a tree does not contain as it is now. `path`: one character per byte. */
export type UnstoredPath = { readonly path: string; readonly reason: string }

export type StoredTree = { readonly tree: string; readonly skipped: readonly UnstoredPath[] }

/** Trees that this process has written, by index: an index that did not change still describes the same tree. */
const written = new Map<string, { readonly signature: string | undefined; readonly tree: string }>()

export type ScanOptions = {
  /** `fast` lets git skip folders whose time did not change (the untracked cache); default. */
  readonly scan?: 'fast' | 'full'
  /** Called while many files are stored. */
  readonly onProgress?: ((text: string) => void) | undefined
}

/** Stores the whole work tree as a tree object, through a private index. Nested repositories are not part of it. */
export async function writeWorkTree(repository: Repository, options: ScanOptions = {}): Promise<StoredTree> {
  await openStore(repository)
  const index = indexFile(repository.store)
  const known = written.get(index)
  const isKnown = known?.signature !== undefined && known.signature === fileSignature(index)
  const { paths, skipped } = await listChanges(repository, options)
  const unreadable = await updateIndex(repository, paths, options.onProgress)
  const tree = isKnown && paths.length === 0 ? known.tree : await storeGit(repository, { args: ['write-tree'] })
  written.set(index, { signature: fileSignature(index), tree })
  return { tree, skipped: [...skipped, ...unreadable] }
}

/** Hashes every file again: the store may have lost objects. */
export async function rewriteWorkTree(repository: Repository): Promise<StoredTree> {
  written.delete(indexFile(repository.store))
  forgetForced(repository)
  await removeFile(indexFile(repository.store))
  return writeWorkTree(repository, { scan: 'full' })
}

/**
 * Compares the work tree with the private index. Not `git add --all`, which runs `git status` in each nested repository, and so
 * the filters that an agent configured there. Files that are too large are not among the paths.
 */
async function listChanges(
  repository: Repository,
  { scan = 'fast' }: ScanOptions,
): Promise<{ paths: string[]; skipped: UnstoredPath[] }> {
  await prepareStore(repository)
  const cache = scan === 'fast' && hasReliableFolderTimes(repository.root)
  const [found, forced] = await Promise.all([listStatus(repository, cache), listForced(repository)])
  const { listed, warnings } = hasStaleRepository(repository, found.listed)
    ? await listStatus(repository, false)
    : found
  const lines = listed.split('\0').filter((line) => /^.[^ ] /.test(line))
  const changed = lines.map((line) => line.slice(3))
  const { missing } = seen.get(indexFile(repository.store)) ?? {}
  for (const line of lines) if (line[1] === 'D') missing?.add(line.slice(3))
  const folders = repository.excluded.map((path) => Buffer.from(`${path}/`).toString('latin1'))
  const isInWorktree = createWorktreeTest(repository)
  const isOurs = (path: string) => path !== '' && !folders.some((folder) => path.startsWith(folder))
  // A path that ends with a slash is a nested repository.
  const isStored = (path: string) => isOurs(path) && !path.endsWith('/') && !isInWorktree(path)
  const paths = [...new Set([...changed, ...forced])].filter(isStored)
  const large = new Map((await findLargeFiles(repository, paths)).map((file) => [file.path, file]))
  await rememberPermissions(repository, paths)
  return {
    paths: paths.filter((path) => !large.has(path)),
    skipped: [
      ...parseSkipped(warnings),
      ...[...large.values()].map(describeLarge),
      ...changed
        .filter((path) => isOurs(path) && path.endsWith('/'))
        .flatMap((path) => describeNested(repository, path)),
    ],
  }
}

/** Other nested repositories are stored by themselves. */
function describeNested({ root, project = root }: Repository, path: string): UnstoredPath[] {
  const folder = join(root, decodePath(path))
  if (isLinkedWorktree(folder)) return [{ path, reason: 'a work tree of its own' }]
  if (isSearched(relative(project, folder))) return []
  return [{ path, reason: 'a repository of its own, hidden or more than two folders deep' }]
}

async function listStatus(repository: Repository, cache: boolean): Promise<{ listed: string; warnings: string }> {
  let warnings = ''
  const listed = await storeGit(repository, {
    args: ['-c', `core.untrackedCache=${cache}`, ...statusArgs],
    isBinary: true,
    refreshesIndex: true,
    onWarning: (text) => (warnings = text),
  })
  return { listed, warnings }
}

/**
 * Whether git lists a nested repository whose `.git` is gone. The untracked cache keeps its name, not its files: the time of the
 * folder above did not change.
 */
const hasStaleRepository = ({ root }: Repository, listed: string): boolean =>
  listed.includes('/\0') &&
  listed.split('\0').some((line) => line.endsWith('/') && !existsItself(resolvePath(root, `${line.slice(3)}.git`)))

/** Git takes a linked worktree for a plain folder once the `.git` of the project is deleted; it is still not part of the project. */
function createWorktreeTest({ root }: Repository): (path: string) => boolean {
  const known = new Map([['.', false]])
  const isInWorktree = (path: string): boolean => {
    const folder = dirname(path)
    const found = known.get(folder) ?? (isLinkedWorktree(join(root, decodePath(folder))) || isInWorktree(folder))
    known.set(folder, found)
    return found
  }
  return isInWorktree
}

const describeLarge = ({ path, bytes }: LargeFile): UnstoredPath => ({
  path,
  reason: `${formatGigabytes(bytes)}, and git does not track it`,
})

/** Untracked files of a new sprint that are too large to be stored without a question. */
export async function listLargeFiles(repository: Repository): Promise<LargeFile[]> {
  await openStore(repository, 'new')
  const args = ['ls-files', '--others', '--exclude-standard', '-z', '--', '.', ...excludedPaths(repository)]
  const listed = await storeGit(repository, { args, isBinary: true })
  return findLargeFiles(
    repository,
    listed.split('\0').filter((path) => path !== '' && !path.endsWith('/')),
  )
}

const statusArgs = ['status', '--porcelain', '-z', '--ignore-submodules=all', '--no-renames']

/**
 * By index: the version of the user's index whose ignored files are in the private one, and paths that are not in it as files:
 * deleted since, or a submodule. Such a path may come back as an ignored file, which `git status` does not list.
 */
const seen = new Map<string, { readonly signature: string; readonly missing: Set<string> }>()

/** Call it when something else changes the private index. */
export const forgetForced = ({ store }: Repository): void => void seen.delete(indexFile(store))

/** Files that the user tracks although they are ignored: `git add --force`. */
async function listForced(repository: Repository): Promise<string[]> {
  const { root, store } = repository
  const users = join(resolveGitFolders(root).own, 'index')
  const signature = fileSignature(users)
  if (signature === undefined) return []
  // A folder is a submodule: a repository of its own.
  const isSubmodule = (path: string) => isFolderItself(resolvePath(root, path))
  const isMissing = (path: string) => !existsItself(resolvePath(root, path)) || isSubmodule(path)
  const known = seen.get(indexFile(store))
  if (known?.signature === signature && [...known.missing].every(isMissing)) return []
  const args = ['ls-files', '--cached', '--ignored', '--exclude-standard', '-z']
  const listed = await storeGit(repository, { args, isBinary: true, index: users }).catch(() => '')
  const forced = listed.split('\0').filter((path) => path !== '')
  seen.set(indexFile(store), { signature, missing: new Set([...(known?.missing ?? []), ...forced].filter(isMissing)) })
  return forced.filter((path) => !isSubmodule(path))
}

/** Upper bound on the files and bytes that are stored between two calls of `onProgress`. */
const batch = { files: 10_000, bytes: 256 * 1024 ** 2 }

/** Updates the index with these paths; resolves with those that git cannot store. */
export async function updateIndex(
  repository: Repository,
  paths: readonly string[],
  onProgress?: (text: string) => void,
): Promise<UnstoredPath[]> {
  const batches = onProgress ? splitPaths(repository, paths) : paths.length > 0 ? [paths] : []
  const skipped: UnstoredPath[] = []
  let stored = 0
  for (const part of batches) {
    skipped.push(...(await addPaths(repository, part)))
    stored += part.length
    if (batches.length > 1) onProgress?.(`stored ${stored} of ${paths.length} files before the first iteration`)
  }
  return skipped
}

function splitPaths({ root }: Repository, paths: readonly string[]): string[][] {
  const batches: string[][] = []
  let bytes = Infinity
  for (const path of paths) {
    const last = batches.at(-1)
    if (!last || last.length >= batch.files || bytes >= batch.bytes) {
      batches.push([path])
      bytes = 0
    } else last.push(path)
    bytes += lstatSize(resolvePath(root, path))
  }
  return batches
}

async function addPaths(repository: Repository, paths: readonly string[]): Promise<UnstoredPath[]> {
  const skipped: UnstoredPath[] = []
  const behindLinks: string[] = []
  const update = (how: readonly string[], changed: readonly string[]) =>
    storeGit(repository, {
      args: ['update-index', ...how, '-z', '--stdin'],
      isBinary: true,
      input: changed.map((path) => `${path}\0`).join(''),
      onWarning: (text) => skipped.push(...parseIgnored(text)),
    })
  let left = paths
  for (;;) {
    try {
      await update(['--add', '--remove', '--replace'], left)
      if (behindLinks.length > 0) await update(['--force-remove'], behindLinks)
      return skipped
    } catch (error) {
      const message = errorMessage(error)
      const path = /^fatal: Unable to process path ([^]+)$/m.exec(message)?.[1]
      if (path === undefined || !left.includes(path)) throw error
      const reason = /: (?:error: )?(.+)$/m.exec(message.split('\n')[0] ?? '')?.[1] ?? 'git cannot read it'
      // A link replaced its folder, so the file is gone.
      if (reason.endsWith('is beyond a symbolic link')) behindLinks.push(path)
      else skipped.push({ path, reason })
      left = left.filter((other) => other !== path)
    }
  }
}

/** Names such as `.GIT`, which are `.git` on other systems. */
const parseIgnored = (warnings: string): UnstoredPath[] =>
  [...warnings.matchAll(/^Ignoring path (.+)$/gm)].map(([, path = '']) => ({
    path,
    reason: 'git stores no file with this name',
  }))

const parseSkipped = (warnings: string): UnstoredPath[] =>
  warnings.split('\n').flatMap((line) => {
    const [, path, reason] = /could not open directory '(.+)': (.+)$/.exec(line) ?? []
    return path === undefined || reason === undefined ? [] : [{ path, reason }]
  })

export const excludedPaths = ({ excluded }: Repository): string[] => excluded.map((path) => `:(exclude,top)${path}`)
