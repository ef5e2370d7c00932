import { join } from 'node:path'
import { errorMessage } from '../../contract/errors.ts'
import { exists, fileSize, readTextSyncIfExists, removeFile } from '../../platform/files/files.ts'
import {
  parseTree,
  readLooseObject,
  readRef,
  readRefs,
  writeLooseObject,
  writeRefs,
  type LooseObject,
  type RefChanges,
} from '../../platform/files/git-files.ts'
import { copyObjects } from '../../platform/git-pack.ts'
import { git, type GitOptions } from '../../platform/git.ts'
import { storeOptions, userObjects } from './checkpoint-store.ts'
import { hasForeignGitFolder, readHead, resolveGitFolders, type Repository } from './repositories.ts'

export type ListedRef = { readonly name: string; readonly commit: string }

export async function listRefs(options: GitOptions, refs: string): Promise<ListedRef[]> {
  const known = options.gitDir === undefined ? undefined : readRefs(options.gitDir, refs)
  if (known) return [...known].map(([name, commit]) => ({ name, commit }))
  const listed = await git(options, 'for-each-ref', '--format=%(refname) %(objectname)', `${refs}/`)
  return listed
    .split('\n')
    .map((line) => line.split(' '))
    .map(([ref = '', commit = '']) => ({ name: ref.slice(refs.length + 1), commit }))
    .filter(({ commit }) => commit !== '')
}

/** Git compares the work tree with `refs/heads/last`. */
export const changeStoreRefs = (repository: Repository, commits: RefChanges): Promise<void> =>
  changeRefs(storeOptions(repository), repository.store, {
    ...addPrefix(repository.refs, commits),
    ...('last' in commits && { 'refs/heads/last': commits['last'] }),
  })

const addPrefix = (refs: string, commits: RefChanges): RefChanges =>
  Object.fromEntries(Object.entries(commits).map(([name, commit]) => [`${refs}/${name}`, commit]))

async function changeRefs(options: GitOptions, folder: string, changes: RefChanges): Promise<void> {
  // A ref of Ralph's has one writer, so a lock on it is left over from a killed run.
  for (const ref of Object.keys(changes)) {
    const lock = join(folder, `${ref}.lock`)
    if (exists(lock)) await removeFile(lock)
  }
  if (writeRefs(folder, changes)) return
  const lines = Object.entries(changes).map(([ref, commit]) =>
    commit === undefined ? `delete ${ref}\n` : `update ${ref} ${commit}\n`,
  )
  await git({ ...options, input: lines.join('') }, 'update-ref', '--stdin')
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
    await changeRefs({ cwd: root }, common, addPrefix(refs, commits))
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
  const last = readUserRef(repository, 'last')
  const [commit, ...more] = commits.filter((other) => other !== last)
  if (commit === undefined || (more.length === 0 && last && copyChangedObjects(repository, commit, last))) return
  const known = [last, await readHead(repository)]
  const pinned = new Set(readRefs(resolveGitFolders(repository.root).common, repository.refs)?.values())
  const lacking = [commit, ...more].filter((other) => !known.includes(other) && !pinned.has(other))
  if (lacking.length === 0) return
  const without = known.filter((other) => other !== undefined && other !== 'unborn').map((other) => `^${other}`)
  await copyCommits(repository, [...lacking, ...without]).catch(() => copyCommits(repository, lacking))
}

/** Copies what this child of a commit has changed, if that is little and in files of its own. False: git has to do it. */
function copyChangedObjects(repository: Repository, commit: string, parent: string): boolean {
  const objects = join(repository.store, 'objects')
  const [child, before] = [readLooseObject(objects, commit), readLooseObject(objects, parent)]
  if (!child || !before || readHeader(child, 'parent') !== parent) return false
  const changed = new Map<string, LooseObject>()
  if (!collectChanged(objects, [readHeader(child, 'tree'), readHeader(before, 'tree')], changed)) return false
  try {
    for (const object of [...changed.values(), child]) writeLooseObject(userObjects(repository), object)
    return true
  } catch {
    return false
  }
}

/** Ralph's commits have one parent. */
const readHeader = ({ content }: LooseObject, name: string): string =>
  new RegExp(`^${name} (\\w+)$`, 'm').exec(content.toString('latin1'))?.[1] ?? ''

type TreePair = readonly [tree: string, before: string | undefined]

/** Collects what a tree has and another one does not have at the same place. */
function collectChanged(objects: string, [tree, before]: TreePair, found: Map<string, LooseObject>): boolean {
  if (tree === before || found.has(tree)) return true
  const [object, old] = [tree, before].map((id) => (id === undefined ? undefined : readLooseObject(objects, id)))
  if (!object || (before !== undefined && !old)) return false
  const known = old && parseTree(old)
  for (const [name, { id, isFolder }] of parseTree(object)) {
    const same = known?.get(name)
    if (same?.id === id || found.has(id)) continue
    if (isFolder) {
      if (!collectChanged(objects, [id, same?.isFolder ? same.id : undefined], found)) return false
      continue
    }
    const blob = readLooseObject(objects, id)
    if (!blob || found.size > maxCopied) return false
    found.set(id, blob)
  }
  found.set(tree, object)
  return found.size <= maxCopied
}

/** More objects are copied as one pack. */
const maxCopied = 100

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
  return readRef(resolveGitFolders(root).common, `${refs}/${name}`)
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
