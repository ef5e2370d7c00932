import { dirname, join, relative } from 'node:path'
import { RalphError } from '../../contract/errors.ts'
import {
  createFolder,
  existsItself,
  isFileItself,
  isFolderItself,
  listEverything,
  removeFolder,
} from '../../platform/files/files.ts'
import { readRef } from '../../platform/files/git-files.ts'
import { git } from '../../platform/git.ts'
import { decodePath, resolvePath } from './byte-paths.ts'
import { assertCheckpoint, openCheckpointLog } from './checkpoint-log.ts'
import {
  chooseCheckpoint,
  commitCheckpoint,
  findCheckpointAt,
  listCheckpoints,
  moveLastCheckpoint,
  openReader,
  readTreeId,
  sortCheckpoints,
  updateRefs,
} from './checkpoints.ts'
import { storeGit } from './checkpoint-store.ts'
import { chooseRevivable, findDeleted, inStore, type Target } from './deleted-repositories.ts'
import { readPermissions, setPermissions } from './file-permissions.ts'
import { findRepositories, isBehindLink, isBelow, type Repository, type WorkspaceOptions } from './repositories.ts'
import { excludedPaths, forgetForced, updateIndex, writeWorkTree, type UnstoredPath } from './work-tree.ts'

/** What a user can return to: the files after an iteration, or those that the last restore replaced. */
export type RestorePoint = { readonly iteration: number } | 'undo'

/**
 * `saved`: the ref that holds the replaced files, for each repository; none if the files are already those of the point.
 * `unpinned`: the store that has it, where the user's repository does not. `revived`: folders of deleted repositories whose files
 * are back, without their history. `missing`: those whose files are not back.
 */
export type RestoredFiles = {
  readonly saved: readonly string[]
  readonly unpinned: readonly string[]
  readonly revived: readonly string[]
  readonly missing: readonly string[]
}

/**
 * Restores the files in all repositories or in none. Before it changes anything, it stores the current files, also the ignored
 * ones that are in the way, and proves that they can be read back. If nothing changes, it stores nothing: an undo then still
 * brings back what the last restore replaced.
 */
export async function restoreFiles(
  options: WorkspaceOptions,
  point: RestorePoint,
  now: number,
): Promise<RestoredFiles> {
  const repositories = await findRepositories(options)
  const targets = await findTargets(options, repositories, point)
  const deleted = point === 'undo' ? [] : await findDeleted(options, point.iteration, repositories)
  if (!(await hasChanges(targets)) && (await chooseRevivable(deleted, options.project)).length === 0) {
    for (const { repository, commit } of targets) await moveLastCheckpoint(repository, commit)
    return { saved: [], unpinned: [], revived: [], missing: deleted.map(({ repository }) => repository.root) }
  }
  const { name, kept, unpinned } = await saveAll(repositories, targets, now)
  const revived: Target[] = []
  try {
    const paths: (readonly string[])[] = []
    for (const target of targets) paths.push(await checkOutFiles(target, options))
    for (const [number, target] of targets.entries()) {
      const replaced = kept.find(({ repository }) => repository === target.repository)?.paths ?? []
      await assertRestored(target.repository, { paths: paths[number] ?? [], replaced })
    }
    for (const target of await chooseRevivable(deleted, options.project)) {
      revived.push(target)
      await reviveFiles(target, options)
    }
  } catch (error) {
    for (const { repository } of revived) await removeFolder(repository.root)
    const reachable = kept.filter(({ repository }) => !isBehindLink(options.project, repository.root))
    for (const files of reachable) await checkOutFiles(files, options)
    if (reachable.length === kept.length && !(await hasChanges(kept))) await forgetSaved(repositories, name)
    throw error
  }
  for (const { repository, commit } of targets) await moveLastCheckpoint(repository, commit)
  return {
    saved: kept.map(({ repository }) => `${repository.refs}/${name}`),
    unpinned,
    revived: revived.map(({ repository }) => repository.root),
    missing: deleted.filter((target) => !revived.includes(target)).map(({ repository }) => repository.root),
  }
}

async function hasChanges(targets: readonly Target[]): Promise<boolean> {
  for (const { repository, commit } of targets) {
    const { tree, skipped } = await writeWorkTree(repository, { scan: 'full' })
    if (tree !== (await readTreeId(repository, commit))) return true
    if (skipped.length > 0 && findUnstored(repository, skipped, await listPaths(repository, tree)).length > 0)
      return true
  }
  return false
}

/** Files with an older version in the tree than on the disk: git could not read them, or they are too large to be stored. */
function findUnstored({ root }: Repository, skipped: readonly UnstoredPath[], paths: readonly string[]): string[] {
  const known = new Set(paths)
  return skipped.map(({ path }) => path).filter((path) => known.has(path) && isFileItself(resolvePath(root, path)))
}

type KeptFiles = Target & { readonly paths: readonly string[] }

/** Stores the current files of all repositories under one name. */
async function saveAll(repositories: readonly Repository[], targets: readonly Target[], now: number) {
  const newest = Math.max(0, ...(await Promise.all(repositories.map(findSaved))).flat().map(({ at }) => at))
  // The clock may have been set back since.
  const name = `before-restore-${Math.max(now, newest + 1)}`
  const kept: KeptFiles[] = []
  const unpinned: string[] = []
  try {
    for (const repository of repositories) {
      const target = targets.find((other) => other.repository === repository)
      const saved = await saveFiles(repository, name, target?.commit)
      kept.push({ repository, ...saved })
      if (saved.unpinned !== undefined) unpinned.push(repository.store)
    }
  } catch (error) {
    await forgetSaved(repositories, name)
    throw error
  }
  return { name, kept, unpinned }
}

/** After a restore that replaced nothing, an undo still brings back what an earlier one replaced. */
async function forgetSaved(repositories: readonly Repository[], name: string): Promise<void> {
  for (const repository of repositories) await updateRefs(repository, { [name]: undefined })
}

async function reviveFiles(target: Target, options: WorkspaceOptions): Promise<void> {
  await createFolder(target.repository.root)
  const paths = await checkOutFiles(target, options)
  await assertRestored(target.repository, { paths, replaced: [] })
}

/** The changes that a restore would make, as `git diff` prints them. */
export async function previewRestore(options: WorkspaceOptions, point: RestorePoint): Promise<string> {
  const patches = await compareWithTargets(options, point, ({ root }) => patchArgs(options, root))
  return patches
    .map(({ text }) => text)
    .filter((patch) => patch !== '')
    .join('\n')
}

export type RestoreChange = { readonly how: string; readonly path: string }

/** The files that a restore would add (A), change (M) or remove (D), relative to the project. */
export async function listRestoreChanges(options: WorkspaceOptions, point: RestorePoint): Promise<RestoreChange[]> {
  const listed = await compareWithTargets(options, point, () => ['--name-status', '--no-renames', '-z'])
  return listed.flatMap(({ root, text }) => {
    const parts = text.split('\0')
    return parts.flatMap((how, number) =>
      number % 2 === 1 || how === ''
        ? []
        : [{ how, path: join(relative(options.project, root), parts[number + 1] ?? '') }],
    )
  })
}

async function compareWithTargets(
  options: WorkspaceOptions,
  point: RestorePoint,
  args: (repository: Repository) => readonly string[],
) {
  const repositories = await findRepositories(options)
  const targets = await findTargets(options, repositories, point)
  const deleted = point === 'undo' ? [] : await findDeleted(options, point.iteration, repositories)
  const compare = async ({ repository, commit }: Target, current: string) => {
    const command = ['diff', '--no-ext-diff', '--no-textconv', ...args(repository), current, commit]
    return { root: repository.root, text: await git(inStore(repository), ...command) }
  }
  return Promise.all([
    ...targets.map(async (target) => compare(target, (await writeWorkTree(target.repository)).tree)),
    ...(await chooseRevivable(deleted, options.project)).map(async (target) =>
      compare(target, await writeEmptyTree(target.repository)),
    ),
  ])
}

const writeEmptyTree = (repository: Repository): Promise<string> =>
  git({ ...inStore(repository), input: '' }, 'hash-object', '-t', 'tree', '--stdin')

/** Paths of a nested repository begin with its folder. */
const patchArgs = ({ project }: WorkspaceOptions, root: string): string[] => {
  const folder = relative(project, root)
  return isBelow(folder) ? [`--src-prefix=a/${folder}/`, `--dst-prefix=b/${folder}/`] : []
}

async function findTargets(
  { sprintDir }: WorkspaceOptions,
  repositories: readonly Repository[],
  point: RestorePoint,
): Promise<Target[]> {
  if (point !== 'undo') await assertCheckpoint(sprintDir, point.iteration)
  const commits = await (point === 'undo'
    ? findReplacedFiles(repositories)
    : Promise.all(repositories.map((repository) => findCheckpointAt(repository, point.iteration))))
  const targets = repositories.flatMap((repository, number) => {
    const commit = commits[number]
    return commit === undefined ? [] : [{ repository, commit }]
  })
  if (targets.length > 0) return targets
  if (point === 'undo') throw new RalphError('CHECKPOINT_NOT_FOUND', 'nothing was restored yet, so there is no undo')
  throw new RalphError('CHECKPOINT_NOT_FOUND', `there is no checkpoint at or before iteration ${point.iteration}`, {
    hint: 'checkpoints need a git repository and "checkpoint: true"',
  })
}

/** The files that the latest restore replaced, in each repository. */
async function findReplacedFiles(repositories: readonly Repository[]): Promise<(string | undefined)[]> {
  const saved = await Promise.all(repositories.map(findSaved))
  const latest = Math.max(...saved.flat().map(({ at }) => at))
  return saved.map((ofOne) => ofOne.find(({ at }) => at === latest)?.commit)
}

async function findSaved(repository: Repository) {
  const all = await listCheckpoints(repository)
  return all
    .map(({ name, commit }) => ({ at: Number(/^before-restore-(\d+)$/.exec(name)?.[1]), commit }))
    .filter(({ at }) => !Number.isNaN(at))
}

/** Paths of a tree. Throws if one of its objects cannot be read: git finds the sizes in the objects. */
async function listPaths(repository: Repository, tree: string): Promise<string[]> {
  const args = ['ls-tree', '-r', '-l', '-z', '--full-tree', tree]
  const listed = await storeGit(repository, { args, isBinary: true })
  return listed.split('\0').flatMap((line) => {
    const [, size, path = ''] = /^\d+ \w+ \w+ +(\S+)\t([^]*)$/.exec(line) ?? []
    if (size === 'BAD') throw damagedCheckpoint(repository, path)
    return path === '' ? [] : [path]
  })
}

const damagedCheckpoint = ({ store }: Repository, path: string): RalphError =>
  new RalphError('CHECKPOINT_FAILED', `the stored content of ${decodePath(path)} is gone, so nothing was restored`, {
    place: { file: store },
    hint: `the store has lost objects; look at: git --git-dir ${store} fsck`,
  })

/** Stores the files under this name, also where they equal the last checkpoint, and proves that the ref holds them. */
async function saveFiles(
  repository: Repository,
  name: string,
  replacedBy: string | undefined,
): Promise<{ readonly commit: string; readonly paths: readonly string[]; readonly unpinned: string | undefined }> {
  const { root, store, refs } = repository
  const stored = await commitCheckpoint(
    repository,
    { name, message },
    await writeWorkTree(repository, { scan: 'full' }),
  )
  const current = await listPaths(repository, stored.commit)
  const inTheWay =
    replacedBy === undefined
      ? []
      : [
          ...findUnstored(repository, stored.skipped, current),
          ...(await findIgnoredInTheWay(repository, current, replacedBy)),
        ]
  const commit = inTheWay.length === 0 ? stored.commit : await commitInTheWay(repository, inTheWay, stored.commit)
  const isStored = stored.isNew && commit === stored.commit
  const unpinned = isStored ? stored.unpinned : await updateRefs(repository, { [name]: commit })
  if (readRef(store, `${refs}/${name}`) !== commit) throw unsaved(`the current files of ${root}`)
  const paths = commit === stored.commit ? current : await listPaths(repository, commit)
  return { commit, paths, unpinned }
}

const message = 'Before a restore'

const unsaved = (what: string): RalphError =>
  new RalphError('CHECKPOINT_FAILED', `${what} could not be saved, so nothing was restored`)

/** Ignored files that a restore would replace: checkpoints do not contain them. */
async function findIgnoredInTheWay(
  repository: Repository,
  current: readonly string[],
  target: string,
): Promise<string[]> {
  const { root } = repository
  const known = new Set(current)
  const paths = await listPaths(repository, target)
  const replaced = paths.filter((path) => !known.has(path)).flatMap((path) => findInTheWay(root, path))
  // A path with git's flag skip-worktree stays known where an ignored link or file has replaced its folder.
  const samples = new Map(paths.filter((path) => known.has(path)).map((path) => [dirname(path), path]))
  const above = [...samples.values()].flatMap((path) => findInTheWay(root, path).filter((found) => found !== path))
  const inTheWay = new Set([...replaced, ...above])
  const files = await Promise.all([...inTheWay].map((path) => listFilesAt(repository, path)))
  return files.flat().filter((path) => !known.has(path))
}

/** The first part of the path that exists and is not a folder, or the path itself. */
function findInTheWay(root: string, path: string): string[] {
  const parts = path.split('/')
  for (const [number] of parts.entries()) {
    const prefix = parts.slice(0, number + 1).join('/')
    const isLast = number === parts.length - 1
    if (!isLast && isFolderItself(resolvePath(root, prefix))) continue
    return existsItself(resolvePath(root, prefix)) ? [prefix] : []
  }
  return []
}

/** All files of a folder that a file would replace; git would delete it with everything in it. */
async function listFilesAt({ root, excluded }: Repository, path: string): Promise<string[]> {
  if (!isFolderItself(resolvePath(root, path))) return [path]
  const files = await listEverything(resolvePath(root, path))
  const closed = files.find((file) => /(^|\/)\.git(\/|$)/.test(file))
  if (closed === undefined && !excluded.some((other) => other.startsWith(`${path}/`))) {
    return files.map((file) => `${path}/${file}`)
  }
  throw new RalphError(
    'CHECKPOINT_FAILED',
    `${decodePath(path)} was a file and is a repository now, so nothing was restored`,
    {
      place: { file: join(root, decodePath(path)) },
      hint: 'move the folder away first',
    },
  )
}

async function commitInTheWay(repository: Repository, paths: readonly string[], parent: string): Promise<string> {
  const [unreadable] = await updateIndex(repository, paths)
  if (unreadable) throw unsaved(`${decodePath(unreadable.path)} (${unreadable.reason})`)
  const tree = await storeGit(repository, { args: ['write-tree'] })
  return storeGit(repository, { args: ['commit-tree', tree, '-p', parent], input: message })
}

/** Resolves with the paths of the commit. */
async function checkOutFiles(
  { repository, commit }: Target,
  { project }: WorkspaceOptions,
): Promise<readonly string[]> {
  const { root } = repository
  if (isBehindLink(project, root)) throw new RalphError('FILE_UNWRITABLE', linkMessage, { place: { file: root } })
  const options = [`--source=${commit}`, '--worktree', '--staged', '--no-overlay']
  forgetForced(repository)
  const paths = await listPaths(repository, commit)
  const permissions = await readPermissions(repository, paths)
  try {
    await storeGit(repository, { args: ['restore', ...options, '--', '.', ...excludedPaths(repository)] })
    await setPermissions(repository, permissions)
  } catch (error) {
    // Neither the work tree nor the commit contains a file.
    if (!(error instanceof Error && error.message.includes(`pathspec '.' did not match`))) throw error
  }
  return paths
}

const linkMessage = 'a symbolic link replaced a folder on the way to this one, so nothing is written there'

/** Git only warns about what it cannot write or remove. Files that were ignored may appear now; they stay. */
async function assertRestored(
  repository: Repository,
  { paths, replaced }: { readonly paths: readonly string[]; readonly replaced: readonly string[] },
): Promise<void> {
  const { root } = repository
  const listed = await storeGit(repository, { args: ['ls-files', '--modified', '--deleted', '-z'], isBinary: true })
  const restored = new Set(paths)
  const old = replaced.filter((path) => !restored.has(path))
  const left = old.filter((path) => findInTheWay(root, path)[0] === path && !isFolderItself(resolvePath(root, path)))
  const differs = [...listed.split('\0').filter((path) => path !== ''), ...left]
  if (differs.length === 0) return
  const names = `${differs.slice(0, 3).map(decodePath).join(', ')}${differs.length > 3 ? ' …' : ''}`
  throw new RalphError('CHECKPOINT_FAILED', `these files cannot be restored, so nothing was: ${names}`, {
    place: { file: root },
    hint: 'a program may be writing them, or their folder is not writable',
  })
}

/** Throws if the sprint has no checkpoint to compare: no changes and unknown changes must not look the same. */
export async function assertComparable(options: WorkspaceOptions): Promise<void> {
  const repositories = await findRepositories(options)
  const found = await Promise.all(repositories.map(listCheckpoints))
  if (found.some((checkpoints) => checkpoints.length > 0)) return
  const why = repositories.length === 0 ? 'the project is not a git repository' : 'the sprint has no checkpoints'
  throw new RalphError('CHECKPOINT_NOT_FOUND', `${why}, so Ralph cannot say what changed`, {
    hint:
      repositories.length === 0
        ? 'run "git init" before the next sprint; "ralph logs" shows what the agent did'
        : 'set "checkpoint: true" in SPRINT.yaml; "git diff" shows your uncommitted changes',
  })
}

type IterationRange = { readonly from: number; readonly to: number }

/** The changes of a range of iterations as a patch. */
export const diffIterations = async (
  options: WorkspaceOptions,
  range: IterationRange,
  args: readonly string[] = [],
): Promise<string> => (await openIterationDiffs(options))(range, args)

/** For many patches: reads once which checkpoints there are. */
export async function openIterationDiffs(
  options: WorkspaceOptions,
): Promise<(range: IterationRange, args?: readonly string[]) => Promise<string>> {
  const assertStored = await openCheckpointLog(options.sprintDir)
  const repositories = await Promise.all(
    (await findRepositories(options)).map(async (repository) => ({
      prefixes: patchArgs(options, repository.root),
      reader: await openReader(repository),
      checkpoints: sortCheckpoints(await listCheckpoints(repository)),
    })),
  )
  return async ({ from, to }, args = []) => {
    assertStored(to)
    const patches = repositories.map(async ({ prefixes, reader, checkpoints }) => {
      const [before, after] = [from, to].map((iteration) => chooseCheckpoint(checkpoints, iteration))
      if (!before || !after || before === after) return ''
      return git(reader, 'diff', '--no-ext-diff', '--no-textconv', ...prefixes, ...args, before, after)
    })
    return (await Promise.all(patches)).filter((patch) => patch !== '').join('\n')
  }
}
