import { dirname, join } from 'node:path'
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
import { findLargeFiles, formatGigabytes, type LargeFile } from './large-files.ts'
import { isLinkedWorktree, resolveGitFolders, type Repository } from './repositories.ts'

/** `skipped`: files and folders that git could not read, each with the reason. */
export type StoredTree = { readonly tree: string; readonly skipped: readonly string[] }

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
): Promise<{ paths: string[]; skipped: string[] }> {
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
  // A path that ends with a slash is a nested repository.
  const isStored = (path: string) =>
    path !== '' && !path.endsWith('/') && !folders.some((folder) => path.startsWith(folder)) && !isInWorktree(path)
  const paths = [...new Set([...changed, ...forced])].filter(isStored)
  const large = new Map((await findLargeFiles(repository, paths)).map((file) => [file.path, file]))
  return {
    paths: paths.filter((path) => !large.has(path)),
    skipped: [...parseSkipped(warnings), ...[...large.values()].map(describeLarge)],
  }
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

const describeLarge = ({ path, bytes }: LargeFile): string =>
  `${decodePath(path)}: ${formatGigabytes(bytes)}, and git does not track it`

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
 * By index: the version of the user's index whose ignored files are in the private one, and paths that the private index has lost since.
 * Such a path may come back as an ignored file, which `git status` does not list.
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
  const isMissing = (path: string) => !existsItself(resolvePath(root, path))
  const known = seen.get(indexFile(store))
  if (known?.signature === signature && [...known.missing].every(isMissing)) return []
  const args = ['ls-files', '--cached', '--ignored', '--exclude-standard', '-z']
  const listed = await storeGit(repository, { args, isBinary: true, index: users }).catch(() => '')
  // A folder is a submodule: a repository of its own.
  const forced = listed.split('\0').filter((path) => path !== '' && !isFolderItself(resolvePath(root, path)))
  seen.set(indexFile(store), { signature, missing: new Set([...(known?.missing ?? []), ...forced].filter(isMissing)) })
  return forced
}

/** Upper bound on the files and bytes that are stored between two calls of `onProgress`. */
const batch = { files: 10_000, bytes: 256 * 1024 ** 2 }

/** Updates the index with these paths; resolves with those that cannot be read. */
export async function updateIndex(
  repository: Repository,
  paths: readonly string[],
  onProgress?: (text: string) => void,
): Promise<string[]> {
  const batches = onProgress ? splitPaths(repository, paths) : paths.length > 0 ? [paths] : []
  const skipped: string[] = []
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

async function addPaths(repository: Repository, paths: readonly string[]): Promise<string[]> {
  const skipped: string[] = []
  let left = paths
  for (;;) {
    try {
      const args = ['update-index', '--add', '--remove', '--replace', '-z', '--stdin']
      await storeGit(repository, { args, isBinary: true, input: left.map((path) => `${path}\0`).join('') })
      return skipped
    } catch (error) {
      const message = errorMessage(error)
      const path = /^fatal: Unable to process path ([^]+)$/m.exec(message)?.[1]
      if (path === undefined || !left.includes(path)) throw error
      skipped.push(`${decodePath(path)}: ${/: (.+)$/m.exec(message.split('\n')[0] ?? '')?.[1] ?? 'git cannot read it'}`)
      left = left.filter((other) => other !== path)
    }
  }
}

const parseSkipped = (warnings: string): string[] =>
  warnings.split('\n').flatMap((line) => {
    const [, path, reason] = /could not open directory '(.+)': (.+)$/.exec(line) ?? []
    return path === undefined ? [] : [`${decodePath(path)}: ${reason}`]
  })

export const excludedPaths = ({ excluded }: Repository): string[] => excluded.map((path) => `:(exclude,top)${path}`)
