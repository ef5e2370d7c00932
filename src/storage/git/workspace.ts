import { createHash } from 'node:crypto'
import { dirname, join, relative } from 'node:path'
import { RalphError } from '../../contract/errors.ts'
import { exists, isFolder, listFolder, createFolder, removeFile, statTree } from '../../platform/files/files.ts'
import { stateFolder } from '../../platform/files/state-folder.ts'
import { git } from '../../platform/git.ts'
import type { ProjectWorkspace } from '../../runtime/ports.ts'

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
export async function openWorkspace(options: WorkspaceOptions): Promise<ProjectWorkspace> {
  // Searched each time: an agent may create repositories too.
  const each = async <T>(use: (repository: Repository) => Promise<T>) =>
    Promise.all((await findRepositories(options)).map((repository) => use(repository)))
  return {
    fingerprint: async () => {
      const states = await each((repository) => describeRepository(repository, options))
      return hashParts(states.length > 0 ? states : [await statTree(options.project, [options.sprintDir])])
    },
    start: async () => {
      await each((repository) => resetCheckpoints(repository))
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
  const roots = folders.filter((folder) => exists(join(folder, '.git')))
  const top = roots.includes(project) ? [] : await findEnclosingRepository(project)
  const unborn = await findUnborn(roots.filter((root) => root !== project))
  return [...top, ...roots].map((root) => ({
    root,
    index: join(stateFolder(sprintDir), 'index', hashParts([root]).slice(0, 16)),
    refs: `refs/ralph/${sprintId}`,
    excluded: [findSprintsFolder(sprintDir), sprintDir, ...unborn]
      .map((folder) => relative(root, folder))
      .filter((path) => path !== '' && !path.startsWith('..')),
  }))
}

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
  const names = (await listFolder(folder)).filter((name) => !name.startsWith('.') && name !== 'node_modules')
  const below = names.map((name) => join(folder, name)).filter((path) => isFolder(path))
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
export async function writeWorkTree({ root, index, excluded }: Repository): Promise<string> {
  // The index is private, so a lock is left over from a killed run. Its folder may have been cleaned away.
  await removeFile(`${index}.lock`)
  await createFolder(dirname(index))
  await git(
    { cwd: root, index },
    'add',
    '--all',
    '--ignore-errors',
    '--',
    '.',
    ...excluded.map((path) => `:(exclude,top)${path}`),
  )
  return git({ cwd: root, index }, 'write-tree')
}

/** Commits the work tree under Ralph's refs; undefined if nothing changed since the last commit. HEAD and branch stay. */
async function commitCheckpoint(repository: Repository, name: string, message: string): Promise<string | undefined> {
  const { root, refs } = repository
  const tree = await writeWorkTree(repository)
  const last = await findLastCheckpoint(repository)
  if (last && (await git({ cwd: root }, 'rev-parse', `${last}^{tree}`)) === tree) return undefined
  const parent = last ?? (await git({ cwd: root }, 'rev-parse', '--verify', '--quiet', 'HEAD').catch(() => undefined))
  const id = await git({ cwd: root, input: message }, 'commit-tree', tree, ...(parent ? ['-p', parent] : []))
  await git({ cwd: root }, 'update-ref', `${refs}/${name}`, id)
  await git({ cwd: root }, 'update-ref', `${refs}/last`, id)
  return id
}

/** Deletes the checkpoints of an earlier sprint with the same id. */
async function resetCheckpoints(repository: Repository): Promise<void> {
  const { root, refs } = repository
  const old = await git({ cwd: root }, 'for-each-ref', '--format=delete %(refname)', refs)
  if (old !== '') await git({ cwd: root, input: `${old}\n` }, 'update-ref', '--stdin')
  await commitCheckpoint(repository, '0', 'Before the first iteration')
}

const findLastCheckpoint = ({ root, refs }: Repository): Promise<string | undefined> =>
  git({ cwd: root }, 'rev-parse', '--verify', '--quiet', `${refs}/last`).catch(() => undefined)

const hashParts = (parts: readonly string[]): string => createHash('sha256').update(parts.join('\n')).digest('hex')

/** The checkpoint of an iteration, or the last one before it if the iteration changed nothing. */
async function findCheckpointAt(repository: Repository, iteration: number): Promise<string | undefined> {
  const { root, refs } = repository
  const listed = await git({ cwd: root }, 'for-each-ref', '--format=%(refname:lstrip=3) %(objectname)', refs)
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
      return git({ cwd: repository.root }, 'diff', ...args, before, after)
    }),
  )
  return patches.filter((patch) => patch !== '').join('\n')
}

/** Restores the work tree to the state after an iteration. Saves the current state as a checkpoint first, and returns its name. */
export async function restoreIteration(options: WorkspaceOptions, iteration: number, now: number): Promise<string> {
  const repositories = await findRepositories(options)
  const saved = `before-restore-${now}`
  const targets = await Promise.all(repositories.map((repository) => findCheckpointAt(repository, iteration)))
  if (!targets.some((target) => target !== undefined)) {
    throw new RalphError('CHECKPOINT_NOT_FOUND', `there is no checkpoint at or before iteration ${iteration}`, {
      hint: 'checkpoints need a git repository and "checkpoint: true"',
    })
  }
  for (const [number, repository] of repositories.entries()) {
    const target = targets[number]
    if (target === undefined) continue
    await commitCheckpoint(repository, saved, `Before restoring iteration ${iteration}`)
    const { root, index, excluded } = repository
    await writeWorkTree(repository)
    await git(
      { cwd: root, index },
      'restore',
      `--source=${target}`,
      '--worktree',
      '--staged',
      '--no-overlay',
      '--',
      '.',
      ...excluded.map((path) => `:(exclude,top)${path}`),
    )
    await git({ cwd: root }, 'update-ref', `${repository.refs}/last`, target)
  }
  return saved
}
