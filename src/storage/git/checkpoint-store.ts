import { join } from 'node:path'
import { writeFileAtomic } from '../../platform/files/atomic-file.ts'
import {
  createFolder,
  exists,
  hasGroupWrite,
  readTextIfExists,
  readTextSyncIfExists,
  removeFile,
} from '../../platform/files/files.ts'
import { git, type GitOptions } from '../../platform/git.ts'
import { resolveGitFolders, type Repository } from './repositories.ts'

/**
 * Files are stored byte for byte: no line-ending conversion, no filter, no encoding. `info/attributes` of the store overrides
 * every `.gitattributes` file, so that no filter the agent configured runs, and a restored file is what it was.
 */
const attributes = '* -text -ident -filter -working-tree-encoding\n'

export type StoreCommand = Pick<
  GitOptions,
  'input' | 'index' | 'isBinary' | 'onWarning' | 'alternates' | 'refreshesIndex'
> & {
  readonly args: readonly string[]
}

/**
 * Runs git on a work tree with Ralph's own git folder: its configuration, attributes, index, objects and refs. Nothing in the
 * user's repository can run a program, change content or lose a checkpoint.
 */
export async function storeGit(repository: Repository, { args, ...more }: StoreCommand): Promise<string> {
  await prepareStore(repository)
  return git({ ...storeOptions(repository), ...more }, ...args)
}

export const storeOptions = ({ root, store }: Repository): GitOptions => ({
  cwd: root,
  gitDir: store,
  index: indexFile(store),
})

export const indexFile = (store: string): string => join(store, 'index')

export const hasStore = ({ store }: Pick<Repository, 'store'>): boolean => exists(join(store, 'info', 'attributes'))

/** Where the user's repository has its objects; git may read them, but the store never depends on them. */
export const userObjects = ({ root }: Pick<Repository, 'root'>): string =>
  join(resolveGitFolders(root).common, 'objects')

/** Creates the store if needed. Call it before two calls at the same time. */
export async function prepareStore(repository: Repository): Promise<void> {
  const { store } = repository
  // Only one run at a time uses this index, so a lock is left over from a killed one.
  if (exists(`${indexFile(store)}.lock`)) await removeFile(`${indexFile(store)}.lock`)
  if (!hasStore(repository)) await createStore(repository)
  await writeExcludes(repository)
}

/** `fill` runs before the store counts: a process that is killed in between has created none. */
export async function createStore({ root, store }: Repository, fill?: () => Promise<void>): Promise<void> {
  await createFolder(store)
  const format = await git({ cwd: root }, 'rev-parse', '--show-object-format').catch(() => 'sha1')
  await git({ cwd: store }, 'init', '--quiet', '--bare', '--template=', `--object-format=${format}`, store)
  await writeFileAtomic(join(store, 'config'), storeConfig(root, format))
  // `git status` compares with the last checkpoint.
  await writeFileAtomic(join(store, 'HEAD'), 'ref: refs/heads/last\n')
  await createFolder(join(store, 'info'))
  await fill?.()
  await writeFileAtomic(join(store, 'info', 'attributes'), attributes)
}

/** Every name that Linux allows is stored, also those that Windows and macOS would confuse with `.git`. */
const storeConfig = (root: string, format: string): string =>
  [
    '[core]',
    `\trepositoryFormatVersion = ${format === 'sha1' ? 0 : 1}`,
    '\tbare = false',
    '\tautocrlf = false',
    '\tsafecrlf = false',
    '\tprotectNTFS = false',
    '\tprotectHFS = false',
    '\ttrustctime = true',
    '\tcheckStat = default',
    '\tcompression = 1',
    '\tlogAllRefUpdates = false',
    // Larger files are not read into memory.
    '\tbigFileThreshold = 16m',
    // Objects that Ralph copies into a repository of a group belong to the group.
    ...(hasGroupWrite(userObjects({ root })) ? ['\tsharedRepository = group'] : []),
    '[status]',
    '\tshowUntrackedFiles = all',
    ...(format === 'sha1' ? [] : ['[extensions]', `\tobjectFormat = ${format}`]),
    '',
  ].join('\n')

/** What the user excludes in this repository alone stays excluded, and so do the folders of sprints. */
async function writeExcludes({ root, store, excluded }: Repository): Promise<void> {
  const { common } = resolveGitFolders(root)
  const target = join(store, 'info', 'exclude')
  if (!exists(common) && exists(target)) return
  const users = (await readTextIfExists(join(common, 'info', 'exclude'))) ?? ''
  // A name with characters that mean something in a pattern is filtered afterwards.
  const own = excluded.filter((path) => /^[\w./-]+$/.test(path)).map((path) => `/${path}/\n`)
  const content = `${users}\n${own.join('')}`
  if ((await readTextIfExists(target)) !== content) await writeFileAtomic(target, content)
}

/** Tells git that the parents of these commits are not in the store. */
export async function cutHistory({ store }: Repository, commits: readonly string[]): Promise<void> {
  const known = (readTextSyncIfExists(join(store, 'shallow')) ?? '').split('\n')
  const lines = new Set([...known, ...commits].filter((line) => line !== ''))
  await writeFileAtomic(join(store, 'shallow'), [...lines].map((line) => `${line}\n`).join(''))
}
