import { join } from 'node:path'
import { lstatSize, readTextSyncIfExists } from '../../platform/files/files.ts'
import { appendText } from '../../platform/files/text-files.ts'
import { decodePath, resolvePath } from './byte-paths.ts'
import { prepareStore, storeGit } from './checkpoint-store.ts'
import { resolveGitFolders, type Repository } from './repositories.ts'

/** Checkpoints contain a larger file only if the user tracks it or has agreed. */
const maxBytes = 1024 ** 3

/** `path`: one character per byte. */
export type LargeFile = { readonly path: string; readonly bytes: number }

const acceptedFile = ({ store }: Repository): string => join(store, 'large-files')

/** Files among these that are too large to be stored without a question. */
export async function findLargeFiles(repository: Repository, paths: readonly string[]): Promise<LargeFile[]> {
  const large = paths
    .map((path) => ({ path, bytes: lstatSize(resolvePath(repository.root, path)) }))
    .filter(({ bytes }) => bytes > maxBytes)
  if (large.length === 0) return []
  const accepted = new Set((readTextSyncIfExists(acceptedFile(repository)) ?? '').split('\0'))
  const tracked = new Set(await listTracked(repository, large))
  return large.filter(({ path }) => !accepted.has(path) && !tracked.has(path))
}

async function listTracked(repository: Repository, files: readonly LargeFile[]): Promise<string[]> {
  const index = join(resolveGitFolders(repository.root).own, 'index')
  const args = ['--literal-pathspecs', 'ls-files', '-z', '--', ...files.map(({ path }) => decodePath(path))]
  return (await storeGit(repository, { args, index, isBinary: true }).catch(() => '')).split('\0')
}

/** Remembers that the user wants these files in checkpoints. */
export async function acceptLargeFiles(repository: Repository, files: readonly LargeFile[]): Promise<void> {
  await prepareStore(repository)
  await appendText(acceptedFile(repository), files.map(({ path }) => `${path}\0`).join(''))
}

export const formatGigabytes = (bytes: number): string => `${(bytes / 1024 ** 3).toFixed(1)} GB`
