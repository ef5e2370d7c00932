import { errorMessage } from '../../contract/errors.ts'
import { fileSignature, removeFile } from '../../platform/files/files.ts'
import { preparePrivateGit, privateGit } from './private-git.ts'
import type { Repository } from './repositories.ts'

/** `skipped`: files and folders that git could not read, each with the reason. */
export type StoredTree = { readonly tree: string; readonly skipped: readonly string[] }

/** Trees that this process has written, by index: an index that did not change still describes the same tree. */
const written = new Map<string, { readonly signature: string | undefined; readonly tree: string }>()

/** Stores the whole work tree as a tree object, through a private index. Nested repositories are not part of it. */
export async function writeWorkTree(repository: Repository): Promise<StoredTree> {
  const { index } = repository
  const { paths, skipped } = await listChanges(repository)
  const unreadable = paths.length > 0 ? await updateIndex(repository, paths) : []
  const known = written.get(index)
  const isKnown = known?.signature !== undefined && known.signature === fileSignature(index)
  const tree = isKnown ? known.tree : await privateGit(repository, { args: ['write-tree'] })
  written.set(index, { signature: fileSignature(index), tree })
  return { tree, skipped: [...skipped, ...unreadable] }
}

/** Hashes every file again: `git gc --prune=now` may have removed objects that no checkpoint refers to yet. */
export async function rewriteWorkTree(repository: Repository): Promise<StoredTree> {
  written.delete(repository.index)
  await removeFile(repository.index)
  return writeWorkTree(repository)
}

/**
 * Compares the work tree with the private index. Not `git add --all`, which runs `git status` in each nested repository, and so
 * the filters that an agent configured there. Two processes: `diff-files` asks for the state of files on several threads, while
 * `ls-files` reads the folders.
 */
async function listChanges(repository: Repository): Promise<{ paths: string[]; skipped: string[] }> {
  let warnings = ''
  await preparePrivateGit(repository)
  const [changed, others] = await Promise.all([
    privateGit(repository, { args: ['diff-files', '--name-only', '--no-ext-diff', '-z'], isBinary: true }),
    privateGit(repository, {
      args: ['ls-files', '--others', '--exclude-standard', '-z', '--', '.', ...excludedPaths(repository)],
      isBinary: true,
      onWarning: (text) => (warnings = text),
    }),
  ])
  // A path that ends with a slash is a nested repository.
  const paths = new Set(`${changed}\0${others}`.split('\0').filter((path) => path !== '' && !path.endsWith('/')))
  return { paths: [...paths], skipped: parseSkipped(warnings) }
}

/** Paths of git are bytes, one per character; users read UTF-8. */
export const decodePath = (path: string): string => Buffer.from(path, 'latin1').toString()

/** Updates the index with these paths; resolves with those that cannot be read. */
export async function updateIndex(repository: Repository, paths: readonly string[]): Promise<string[]> {
  const skipped: string[] = []
  let left = paths
  for (;;) {
    try {
      const args = ['update-index', '--add', '--remove', '--replace', '-z', '--stdin']
      await privateGit(repository, { args, isBinary: true, input: left.map((path) => `${path}\0`).join('') })
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
