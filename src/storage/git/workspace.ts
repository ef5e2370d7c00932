import { createHash } from 'node:crypto'
import { join, relative, resolve } from 'node:path'
import { RalphError } from '../../contract/errors.ts'
import {
  exists,
  isFile,
  isFolderItself,
  listFolder,
  readTextSyncIfExists,
  removeFile,
  statTree,
} from '../../platform/files/files.ts'
import { stateFolder } from '../../platform/files/state-folder.ts'
import { git } from '../../platform/git.ts'
import type { ProjectWorkspace } from '../../runtime/ports.ts'
import { privateGit } from './private-git.ts'

export type WorkspaceOptions = { readonly project: string; readonly sprintDir: string; readonly sprintId: string }

type Repository = {
  readonly root: string
  readonly index: string
  readonly refs: string
  readonly excluded: readonly string[]
}

/** How deep to search the workspace for nested repositories. */
const searchDepth = 2

/** The project's files, as git or the file system sees them. A project may be one repository, contain several, or be none. */
export async function openWorkspace(options: WorkspaceOptions, now = Date.now): Promise<ProjectWorkspace> {
  // Searched each time: an agent may create repositories too.
  const each = async <T>(use: (repository: Repository) => Promise<T>) =>
    Promise.all((await findRepositories(options)).map((repository) => use(repository)))
  return {
    fingerprint: async () => {
      const states = await each((repository) => describeRepository(repository, options))
      return hashParts(states.length > 0 ? states : [await statTree(options.project, [options.sprintDir])])
    },
    start: async () => {
      await each((repository) => resetCheckpoints(repository, now()))
    },
    checkpoint: async (iteration, message) => {
      const commits = await each((repository) => commitCheckpoint(repository, String(iteration), message))
      return commits.find((id) => id !== undefined)
    },
  }
}

/** The repository of the project, if the whole project is exactly one. */
export async function requireSingleRepository(options: WorkspaceOptions): Promise<Repository> {
  const [repository, ...more] = await findRepositories(options)
  if (repository?.root !== options.project) throw new Error('it is not a repository')
  if (more.length > 0) throw new Error(`it holds other repositories (${more.map(({ root }) => root).join(', ')})`)
  return repository
}

async function findRepositories({ project, sprintDir, sprintId }: WorkspaceOptions): Promise<Repository[]> {
  const folders = [project, ...(await listFoldersBelow(project, searchDepth))]
  const roots = folders.filter((folder) => folder === project || !isLinkedWorktree(folder)).filter(isRepository)
  const top = roots.includes(project) ? [] : await findEnclosingRepository(project)
  const unborn = await findUnborn(roots.filter((root) => root !== project))
  return [...top, ...roots].map((root) => ({
    root,
    index: join(stateFolder(sprintDir), 'index', `${hashParts([root]).slice(0, 16)}-exact`),
    refs: checkpointRefs(root, sprintId),
    excluded: [findSprintsFolder(sprintDir), sprintDir, ...unborn]
      .map((folder) => relative(root, folder))
      .filter((path) => path !== '' && !path.startsWith('..')),
  }))
}

const isRepository = (folder: string): boolean => exists(join(folder, '.git'))

/** A linked worktree shares its refs with the repository, and is a work tree of its own: never a part of another one. */
function isLinkedWorktree(folder: string): boolean {
  const link = join(folder, '.git')
  return isFile(link) && /^gitdir: .*[\\/]worktrees[\\/]/.test(readTextSyncIfExists(link) ?? '')
}

/** Linked worktrees of one repository share its refs, so each has checkpoints of its own. */
const checkpointRefs = (root: string, sprintId: string): string =>
  `refs/ralph/${sprintId}${isLinkedWorktree(root) ? `@${hashParts([root]).slice(0, 8)}` : ''}`

/** Git refuses to add a nested repository without a commit. */
async function findUnborn(roots: readonly string[]): Promise<string[]> {
  const heads = await Promise.all(roots.map((root) => readHead({ root })))
  return roots.filter((_, number) => heads[number] === 'unborn')
}

/** All of `.claude/sprints` if the sprint is in it: other sprints of the project may be running. */
const findSprintsFolder = (sprintDir: string): string => {
  const parent = join(sprintDir, '..')
  return parent.endsWith(join('.claude', 'sprints')) ? parent : sprintDir
}

/** A project may be a folder inside a repository. */
async function findEnclosingRepository(project: string): Promise<string[]> {
  const root = await git({ cwd: project }, 'rev-parse', '--show-toplevel').catch(() => undefined)
  return root === undefined ? [] : [root]
}

async function listFoldersBelow(folder: string, depth: number): Promise<string[]> {
  if (depth === 0) return []
  // Git ignores a folder that the user may not read, such as the volume of a database.
  const names = (await listFolder(folder).catch(() => [])).filter(
    (name) => !name.startsWith('.') && name !== 'node_modules',
  )
  const below = names.map((name) => join(folder, name)).filter((path) => isFolderItself(path))
  const deeper = await Promise.all(below.map((path) => listFoldersBelow(path, depth - 1)))
  return [...below, ...deeper.flat()]
}

/** A repository that the agent broke, so that git cannot read it, is treated like any other folder. */
async function describeRepository(repository: Repository, { sprintDir }: WorkspaceOptions): Promise<string> {
  try {
    return `${await readHead(repository)} ${await writeWorkTree(repository)}`
  } catch {
    return statTree(repository.root, [sprintDir, join(repository.root, '.git')])
  }
}

const readHead = ({ root }: Pick<Repository, 'root'>): Promise<string> =>
  git({ cwd: root }, 'rev-parse', '--verify', '--quiet', 'HEAD').catch(() => 'unborn')

/** Writes the whole work tree as a tree object, through a private index. */
export async function writeWorkTree(repository: Repository): Promise<string> {
  await privateGit(repository, 'add', '--all', '--ignore-errors', '--', '.', ...excludedPaths(repository))
  return privateGit(repository, 'write-tree')
}

const excludedPaths = ({ excluded }: Repository): string[] => excluded.map((path) => `:(exclude,top)${path}`)

/** Commits the work tree under Ralph's refs; undefined if nothing changed since the last commit. HEAD and branch stay. */
async function commitCheckpoint(repository: Repository, name: string, message: string): Promise<string | undefined> {
  const { root, refs } = repository
  const tree = await writeWorkTree(repository)
  const last = await findLastCheckpoint(repository)
  if (last && (await git({ cwd: root }, 'rev-parse', `${last}^{tree}`)) === tree) return undefined
  const parent = last ?? (await git({ cwd: root }, 'rev-parse', '--verify', '--quiet', 'HEAD').catch(() => undefined))
  const id = await git({ cwd: root, input: message }, 'commit-tree', tree, ...(parent ? ['-p', parent] : []))
  await updateRef(repository, `${refs}/${name}`, id)
  await updateRef(repository, `${refs}/last`, id)
  return id
}

/** A ref of Ralph's has one writer, so a lock on it is left over from a killed run. */
async function updateRef({ root }: Repository, ref: string, id: string): Promise<void> {
  const path = await git({ cwd: root }, 'rev-parse', '--git-path', `${ref}.lock`)
  await removeFile(resolve(root, path))
  await git({ cwd: root }, 'update-ref', ref, id)
}

/** Sets the checkpoints of an earlier sprint with the same id aside: they may be the only copy of a file. */
async function resetCheckpoints(repository: Repository, now: number): Promise<void> {
  const { root, refs } = repository
  const old = await git({ cwd: root }, 'for-each-ref', '--format=%(refname) %(objectname)', `${refs}/`)
  const moves = old.split('\n').flatMap((line) => {
    const [name = '', id = ''] = line.split(' ')
    return id === '' ? [] : [`create ${name.replace(refs, `${refs}-before-${now}`)} ${id}`, `delete ${name}`]
  })
  if (moves.length > 0) await git({ cwd: root, input: `${moves.join('\n')}\n` }, 'update-ref', '--stdin')
  await commitCheckpoint(repository, '0', 'Before the first iteration')
}

const findLastCheckpoint = ({ root, refs }: Repository): Promise<string | undefined> =>
  git({ cwd: root }, 'rev-parse', '--verify', '--quiet', `${refs}/last`).catch(() => undefined)

const hashParts = (parts: readonly string[]): string => createHash('sha256').update(parts.join('\n')).digest('hex')

/** The checkpoint of an iteration, or the last one before it if the iteration changed nothing. */
async function findCheckpointAt(repository: Repository, iteration: number): Promise<string | undefined> {
  const { root, refs } = repository
  const listed = await git({ cwd: root }, 'for-each-ref', '--format=%(refname:lstrip=3) %(objectname)', `${refs}/`)
  const known = listed
    .split('\n')
    .map((line) => line.split(' '))
    .map(([name = '', id = '']) => ({ number: Number(name), id }))
    .filter(({ number, id }) => id !== '' && Number.isInteger(number) && number <= iteration)
    .toSorted((a, b) => a.number - b.number)
  return known.at(-1)?.id
}

/** The changes of a range of iterations as a patch. */
export async function diffIterations(
  options: WorkspaceOptions,
  range: { readonly from: number; readonly to: number },
  args: readonly string[] = [],
): Promise<string> {
  const repositories = await findRepositories(options)
  const patches = await Promise.all(
    repositories.map(async (repository) => {
      const [before, after] = await Promise.all([
        findCheckpointAt(repository, range.from),
        findCheckpointAt(repository, range.to),
      ])
      if (!before || !after || before === after) return ''
      return git({ cwd: repository.root }, 'diff', '--no-ext-diff', '--no-textconv', ...args, before, after)
    }),
  )
  return patches.filter((patch) => patch !== '').join('\n')
}

/**
 * Restores the work tree to the state after an iteration, in all repositories or in none. Saves the current files first, reads
 * them back, and returns the name of the ref that holds them.
 */
export async function restoreIteration(options: WorkspaceOptions, iteration: number, now: number): Promise<string> {
  const repositories = await findRepositories(options)
  const saved = `before-restore-${now}`
  const found = await Promise.all(repositories.map((repository) => findCheckpointAt(repository, iteration)))
  const targets = repositories.flatMap((repository, n) => {
    const commit = found[n]
    return commit === undefined ? [] : [{ repository, commit }]
  })
  if (targets.length === 0) {
    throw new RalphError('CHECKPOINT_NOT_FOUND', `there is no checkpoint at or before iteration ${iteration}`, {
      hint: 'checkpoints need a git repository and "checkpoint: true"',
    })
  }
  const kept: { readonly repository: Repository; readonly commit: string }[] = []
  for (const { repository } of targets) {
    const commit = await saveFiles(repository, saved, `Before restoring iteration ${iteration}`)
    kept.push({ repository, commit })
  }
  try {
    for (const { repository, commit } of targets) await checkOutFiles(repository, commit)
  } catch (error) {
    for (const { repository, commit } of kept) await checkOutFiles(repository, commit)
    throw error
  }
  for (const { repository, commit } of targets) await updateRef(repository, `${repository.refs}/last`, commit)
  return saved
}

/** Commits the files under this name, also where they equal the last checkpoint, and proves that the ref holds them. */
async function saveFiles(repository: Repository, name: string, message: string): Promise<string> {
  const { root, refs } = repository
  const commit = (await commitCheckpoint(repository, name, message)) ?? (await findLastCheckpoint(repository))
  if (commit !== undefined) await updateRef(repository, `${refs}/${name}`, commit)
  const kept = await git({ cwd: root }, 'rev-parse', '--verify', '--quiet', `${refs}/${name}^{tree}`).catch(() => '')
  if (commit !== undefined && kept === (await writeWorkTree(repository))) return commit
  throw new RalphError('CHECKPOINT_FAILED', `the current files of ${root} could not be saved, so nothing was restored`)
}

const checkOutFiles = (repository: Repository, commit: string): Promise<string> =>
  privateGit(
    repository,
    'restore',
    `--source=${commit}`,
    '--worktree',
    '--staged',
    '--no-overlay',
    '--',
    '.',
    ...excludedPaths(repository),
  )
