import { join } from 'node:path'
import { errorMessage } from '../../contract/errors.ts'
import { exists, fileSize, readTextSyncIfExists, removeFile } from '../../platform/files/files.ts'
import { copyObjects } from '../../platform/git-pack.ts'
import { git, type GitOptions } from '../../platform/git.ts'
import { storeOptions, userObjects } from './checkpoint-store.ts'
import { hasForeignGitFolder, readHead, resolveGitFolders, type Repository } from './repositories.ts'

/** A commit, or undefined to delete the ref. */
export type RefChanges = Readonly<Record<string, string | undefined>>

export type ListedRef = { readonly name: string; readonly commit: string }

export const formatRefChanges = (refs: string, commits: RefChanges): string =>
  Object.entries(commits)
    .map(([name, commit]) => (commit === undefined ? `delete ${refs}/${name}\n` : `update ${refs}/${name} ${commit}\n`))
    .join('')

export async function listRefs(options: GitOptions, refs: string): Promise<ListedRef[]> {
  const listed = await git(options, 'for-each-ref', '--format=%(refname) %(objectname)', `${refs}/`)
  return listed
    .split('\n')
    .map((line) => line.split(' '))
    .map(([ref = '', commit = '']) => ({ name: ref.slice(refs.length + 1), commit }))
    .filter(({ commit }) => commit !== '')
}

/** Makes the user's repository show the same checkpoints as the store; resolves with the reason if it cannot. */
export async function pinRefs(repository: Repository, commits: RefChanges): Promise<string | undefined> {
  const { root, refs } = repository
  const { common } = resolveGitFolders(root)
  try {
    if (!exists(common)) throw new Error(`${root} is no repository any more`)
    if (hasForeignGitFolder(repository)) throw new Error(`the git folder of ${root} belongs to another repository`)
    const targets = [...new Set(Object.values(commits).filter((commit) => commit !== undefined))]
    if (targets.length > 0 && !(await hasEarlierHistory(repository))) throw new Error(noHistory(root))
    const isCleaning = exists(join(common, 'gc.pid'))
    if (targets.length > 0) await copyToRepository(repository, targets)
    for (const name of Object.keys(commits)) {
      const lock = join(common, refs, `${name}.lock`)
      if (exists(lock)) await removeFile(lock)
    }
    await git({ cwd: root, input: formatRefChanges(refs, commits) }, 'update-ref', '--stdin')
    if (isCleaning || exists(join(common, 'gc.pid'))) await completeObjects(repository, targets)
    return undefined
  } catch (error) {
    return errorMessage(error).split('\n')[0] ?? ''
  }
}

const noHistory = (root: string): string => `${root} does not have the commit that the sprint started from`

/**
 * The first checkpoint follows a commit of the user, whose history the store does not have. In a repository that was created again,
 * a ref to it would make `git gc` fail.
 */
async function hasEarlierHistory(repository: Repository): Promise<boolean> {
  if (readUserRef(repository, 'last') !== undefined) return true
  const cut = (readTextSyncIfExists(join(repository.store, 'shallow')) ?? '').split('\n').filter((line) => line !== '')
  const head = await readHead(repository)
  for (const commit of cut) {
    const text = await git(storeOptions(repository), 'cat-file', 'commit', commit)
    const parents = [...text.matchAll(/^parent (\w+)$/gm)].map(([, parent]) => parent ?? '')
    for (const parent of parents.filter((id) => id !== head)) {
      const isThere = git({ cwd: repository.root }, 'cat-file', '-e', `${parent}^{commit}`)
      if (
        !(await isThere.then(
          () => true,
          () => false,
        ))
      )
        return false
    }
  }
  return true
}

/** Copies what the user's repository lacks of these commits. It has all of the last checkpoint there, and of HEAD. */
async function copyToRepository(repository: Repository, commits: readonly string[]): Promise<void> {
  const known = [readUserRef(repository, 'last'), await readHead(repository)]
  const lacking = commits.filter((commit) => !known.includes(commit))
  if (lacking.length === 0) return
  const without = known.filter((commit) => commit !== undefined && commit !== 'unborn').map((commit) => `^${commit}`)
  await copyCommits(repository, [...lacking, ...without]).catch(() => copyCommits(repository, lacking))
}

const copyCommits = (repository: Repository, revisions: readonly string[]): Promise<number> =>
  copyObjects({
    from: { ...storeOptions(repository), alternates: userObjects(repository) },
    to: { ...storeOptions(repository), objects: userObjects(repository) },
    args: ['--revs'],
    input: revisions.map((revision) => `${revision}\n`).join(''),
  })

/** A `git gc` at the same time may have removed new objects before the refs protected them. */
async function completeObjects(repository: Repository, commits: readonly string[]): Promise<void> {
  for (let attempt = 0; attempt < 3; attempt++) {
    const objects = userObjects(repository)
    const check = git({ ...storeOptions(repository), objects }, 'rev-list', '--objects', '--quiet', ...commits)
    if (
      await check.then(
        () => true,
        () => false,
      )
    )
      return
    await copyCommits(repository, commits)
  }
}

/** Read from the file, because a process for every checkpoint costs more than the copy. */
function readUserRef({ root, refs }: Repository, name: string): string | undefined {
  const { common } = resolveGitFolders(root)
  const loose = readTextSyncIfExists(join(common, refs, name))?.trim()
  if (loose !== undefined) return loose
  const packed = readTextSyncIfExists(join(common, 'packed-refs')) ?? ''
  return packed
    .split('\n')
    .find((line) => line.endsWith(` ${refs}/${name}`))
    ?.slice(0, -refs.length - name.length - 2)
}

/** Pins what the user's repository lacks, e.g. after `git clone`, for commands that work there. Resolves as `pinRefs` does. */
export async function ensurePinned(repository: Repository, names: readonly string[]): Promise<string | undefined> {
  const known = await listRefs(storeOptions(repository), repository.refs)
  const missing = known.filter(({ name, commit }) => names.includes(name) && readUserRef(repository, name) !== commit)
  if (missing.length === 0) return undefined
  return pinRefs(repository, Object.fromEntries(missing.map(({ name, commit }) => [name, commit])))
}

/** Packs in the store what a repository has of these commits, without their parents. */
export async function copyFromRepository(repository: Repository, commits: readonly string[]): Promise<void> {
  const alternates = userObjects(repository)
  const args = ['rev-list', '--objects', '--no-object-names', '--no-walk', ...commits]
  const ids = await git({ ...storeOptions(repository), alternates }, ...args)
  await copyObjects({
    from: { ...storeOptions(repository), alternates },
    to: storeOptions(repository),
    args: [],
    input: `${ids}\n`,
  })
}

/** An index of fewer bytes has less than about 1,000 files, which git stores as fast as it copies them. */
const smallIndex = 100_000

/**
 * Copies the content of tracked files as one pack, so that the first checkpoint of a large repository need not compress it and
 * write a file for each. Best effort: what is missing afterwards is stored from the files.
 */
export async function copyTrackedFiles(repository: Repository): Promise<void> {
  const index = join(resolveGitFolders(repository.root).own, 'index')
  if (fileSize(index) < smallIndex) return
  try {
    const listed = await git({ ...storeOptions(repository), index, isBinary: true }, 'ls-files', '--stage', '-t', '-z')
    // Not what a sparse checkout leaves out (S), no submodule (160000).
    const ids = new Set(listed.split('\0').map((line) => /^H 1[02]\d{4} ([0-9a-f]+) /.exec(line)?.[1]))
    const input = [...ids].flatMap((id) => (id === undefined ? [] : [`${id}\n`])).join('')
    const from = { ...storeOptions(repository), alternates: userObjects(repository) }
    await copyObjects({ from, to: storeOptions(repository), args: [], input })
  } catch {
    // A partial clone lacks objects.
  }
}
