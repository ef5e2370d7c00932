import { createHash } from 'node:crypto'
import { join, relative, resolve } from 'node:path'
import {
  exists,
  existsItself,
  isFile,
  isFolder,
  isFolderItself,
  listFolder,
  readTextSyncIfExists,
  realPath,
} from '../../platform/files/files.ts'
import { stateFolder, stateId } from '../../platform/files/state-folder.ts'
import { readRef } from '../../platform/files/git-files.ts'
import { git } from '../../platform/git.ts'

export type WorkspaceOptions = { readonly project: string; readonly sprintDir: string; readonly sprintId: string }

export type Repository = {
  readonly root: string
  /** Ralph's own git folder of this work tree and sprint, with all objects of its checkpoints and a private index. */
  readonly store: string
  /** Where the checkpoints of this sprint in this work tree are, in the store and in the user's repository. */
  readonly refs: string
  /** Where version 0.1.0 kept them, in the user's repository only. */
  readonly oldRefs: string
  /** The project of a repository nested in it. */
  readonly project?: string
  /** Paths relative to the root that are not part of checkpoints. */
  readonly excluded: readonly string[]
}

/** How deep to search the workspace for nested repositories. */
const searchDepth = 2

/** The repository of the project, if the whole project is exactly one. */
export async function requireSingleRepository(options: WorkspaceOptions): Promise<Repository> {
  const [repository, ...more] = await findRepositories(options)
  if (repository?.root !== options.project) throw new Error('it is not a repository')
  if (more.length > 0) throw new Error(`it holds other repositories (${more.map(({ root }) => root).join(', ')})`)
  return repository
}

/**
 * The repositories of a project, outer ones first. Searched each time: an agent may create repositories too. A project whose
 * `.git` was deleted is still one as long as Ralph has its checkpoints.
 */
export async function findRepositories(options: WorkspaceOptions): Promise<Repository[]> {
  const { project } = options
  const folders = [project, ...(await listFoldersBelow(project, searchDepth))]
  const isKnown = (folder: string) => folder === project && exists(storeFolder(project, options))
  const roots = folders
    .filter((folder) => folder === project || !isLinkedWorktree(folder))
    .filter((folder) => isRepository(folder) || isKnown(folder))
  const top = roots.includes(project) ? [] : await findEnclosingRepository(project)
  return [...top, ...roots].map((root) => describeRepository(root, options))
}

export const describeRepository = (root: string, options: WorkspaceOptions): Repository => ({
  root,
  store: storeFolder(root, options),
  refs: checkpointRefs(root, options),
  oldRefs: `refs/ralph/${options.sprintId}`,
  ...(isBelow(relative(options.project, root)) && { project: options.project }),
  excluded: [findSprintsFolder(options.sprintDir), options.sprintDir]
    .map((folder) => relative(root, folder))
    .filter(isBelow),
})

/** Whether a relative path leads to a folder below. */
export const isBelow = (path: string): boolean => path !== '' && path !== '..' && !path.startsWith('../')

/** An agent can replace a folder of the project by a link to any other folder, or to `.git`. */
export function isBehindLink(project: string, root: string): boolean {
  const path = relative(project, root)
  const parts = isBelow(path) ? path.split('/') : []
  return parts.some((_, number) => {
    const folder = join(project, ...parts.slice(0, number + 1))
    return existsItself(folder) && !isFolderItself(folder)
  })
}

/** Found by the place of the work tree in the project, so that a moved project keeps its checkpoints. */
export function storeFolder(root: string, { project, sprintDir }: WorkspaceOptions): string {
  const name = hashParts([relative(project, root), isLinkedWorktree(root) ? root : '']).slice(0, 16)
  return join(stateFolder(sprintDir), 'checkpoints', `${name}.git`)
}

const isRepository = (folder: string): boolean => exists(join(folder, '.git'))

/**
 * A linked worktree shares its refs with the repository, and is a work tree of its own: never a part of another one. The git folder
 * of a submodule in it is `worktrees/<name>/modules/<path>`.
 */
export function isLinkedWorktree(folder: string): boolean {
  const link = join(folder, '.git')
  return isFile(link) && /^gitdir: .*[\\/]worktrees[\\/][^\\/\n]+$/m.test(readTextSyncIfExists(link) ?? '')
}

/**
 * Checkpoints belong to one sprint, not to every sprint of that name: the id of its state, which a copy or a folder that is
 * created again does not share. Linked worktrees of one repository share its refs, so each has its own.
 */
export const checkpointRefs = (root: string, { sprintDir, sprintId }: WorkspaceOptions): string =>
  `refs/ralph/${stateId(sprintDir) ?? sprintId}${isLinkedWorktree(root) ? `@${hashParts([root]).slice(0, 8)}` : ''}`

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

const isSearchedName = (name: string): boolean => !name.startsWith('.') && name !== 'node_modules'

/** Whether Ralph looks for a repository in this folder of the project. */
export function isSearched(path: string): boolean {
  const parts = path.split('/')
  return parts.length <= searchDepth && parts.every(isSearchedName)
}

async function listFoldersBelow(folder: string, depth: number): Promise<string[]> {
  if (depth === 0) return []
  // Git ignores a folder that the user may not read, such as the volume of a database.
  const names = (await listFolder(folder).catch(() => [])).filter(isSearchedName)
  const below = names.map((name) => join(folder, name)).filter((path) => isFolderItself(path))
  const deeper = await Promise.all(below.map((path) => listFoldersBelow(path, depth - 1)))
  return [...below, ...deeper.flat()]
}

/** The git folder of a work tree, and the one that it shares with its linked worktrees. Read without starting git. */
export function resolveGitFolders(root: string): { readonly own: string; readonly common: string } {
  const path = join(root, '.git')
  const link = isFolder(path) ? undefined : /^gitdir: (.+)$/m.exec(readTextSyncIfExists(path) ?? '')?.[1]
  const own = link === undefined ? path : resolve(root, link.trim())
  const common = readTextSyncIfExists(join(own, 'commondir'))?.trim()
  return { own, common: common === undefined ? own : resolve(own, common) }
}

/**
 * Whether a nested repository uses the git folder of another one: the agent can make `.git` a link to any repository of the user.
 * The git folder of a submodule is in that of the project.
 */
export function hasForeignGitFolder({ root, project }: Repository): boolean {
  if (project === undefined) return false
  const own = realPath(resolveGitFolders(root).common)
  const [home, ...more] = [resolveGitFolders(project).common, project].filter(exists).map(realPath)
  return own === home || ![home, ...more].some((folder) => folder !== undefined && isBelow(relative(folder, own)))
}

/** The commit of HEAD, or `unborn`. Starts git only where the files do not say it. */
export async function readHead({ root }: Pick<Repository, 'root'>): Promise<string> {
  const { own, common } = resolveGitFolders(root)
  const branch = /^ref: (refs\/heads\/.+)\n?$/.exec(readTextSyncIfExists(join(own, 'HEAD')) ?? '')?.[1]
  const commit = branch === undefined ? readRef(own, 'HEAD') : readRef(common, branch)
  return commit ?? git({ cwd: root }, 'rev-parse', '--verify', '--quiet', 'HEAD').catch(() => 'unborn')
}

export const hashParts = (parts: readonly string[]): string =>
  createHash('sha256').update(parts.join('\n')).digest('hex')
