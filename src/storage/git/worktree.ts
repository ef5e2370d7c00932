import { join, relative, resolve } from 'node:path'
import { RalphError, errorMessage } from '../../contract/errors.ts'
import type { CompiledWorktree } from '../../contract/phases.ts'
import { exists, listFolder, readPlainText, realPath } from '../../platform/files/files.ts'
import { git, parseSubmodules } from '../../platform/git.ts'
import type { ProjectWorkspace } from '../../runtime/ports.ts'

export type WorktreeOptions = { readonly project: string; readonly worktree: CompiledWorktree }

/** `folder`: the project inside the worktree, maybe below its top. */
export type OpenWorktree = { readonly folder: string; readonly isNew: boolean; readonly warnings: readonly string[] }

/** Opens the worktree of a sprint; creates it and its branch if needed. No name ever reaches a shell. */
export async function openWorktree({ project, worktree }: WorktreeOptions): Promise<OpenWorktree> {
  const { branch } = worktree
  const top = await findRepositoryRoot(project)
  const path = resolve(project, worktree.path)
  const folder = join(path, relative(top, realPath(project)))
  const known = (await listWorktrees(top)).find((other) => other.path === canonicalPath(path))
  if (known && exists(path)) {
    if (known.branch !== branch) throw worktreeTaken(path, `it is on ${known.branch ?? 'no branch'}, not on ${branch}`)
    return { folder, isNew: false, warnings: [] }
  }
  if ((await listFolder(path)).length > 0) throw worktreeTaken(path, 'it is not empty')
  const branchExists = await hasBranch(top, branch)
  // Git still lists a worktree that was deleted by hand, and then insists on --force.
  const force = known ? ['--force'] : []
  const target = branchExists ? [path, branch] : ['-b', branch, path, 'HEAD']
  await git({ cwd: top }, 'worktree', 'add', '--quiet', ...force, ...target).catch((cause: unknown) => {
    throw worktreeUnavailable(`cannot create the worktree: ${errorMessage(cause)}`, cause)
  })
  const changes = await git({ cwd: top }, 'status', '--porcelain', '--untracked-files=no', '--ignore-submodules=dirty')
  return {
    folder,
    isNew: true,
    warnings: [
      ...(branchExists ? [`branch ${branch} exists already, and the sprint continues on it`] : []),
      ...(changes === '' ? [] : ['the worktree does not contain your uncommitted changes']),
    ],
  }
}

async function findRepositoryRoot(project: string): Promise<string> {
  const top = await git({ cwd: project }, 'rev-parse', '--show-toplevel').catch((cause: unknown) => {
    throw worktreeUnavailable('the project is not a git repository, so it cannot have a worktree', cause)
  })
  await git({ cwd: top }, 'rev-parse', '--verify', '--quiet', 'HEAD').catch((cause: unknown) => {
    throw worktreeUnavailable('the repository has no commit yet, so it cannot have a worktree', cause)
  })
  return top
}

type ListedWorktree = { readonly path: string; readonly branch: string | undefined }

async function listWorktrees(top: string): Promise<ListedWorktree[]> {
  const listed = await git({ cwd: top }, 'worktree', 'list', '--porcelain')
  return listed.split('\n\n').map((entry) => ({
    path: /^worktree (.*)$/m.exec(entry)?.[1] ?? '',
    branch: /^branch refs\/heads\/(.*)$/m.exec(entry)?.[1],
  }))
}

/** As git prints it: with links resolved, as far as the path exists. */
const canonicalPath = (path: string): string =>
  exists(path) ? realPath(path) : join(canonicalParent(path), path.split('/').at(-1) ?? '')

function canonicalParent(path: string): string {
  const parent = resolve(path, '..')
  return exists(parent) ? realPath(parent) : parent
}

const hasBranch = (top: string, branch: string): Promise<boolean> =>
  git({ cwd: top }, 'show-ref', '--verify', '--quiet', `refs/heads/${branch}`).then(
    () => true,
    () => false,
  )

/** Commits each checkpoint to the branch of the worktree. If the agent switched to another branch, only makes the checkpoint. */
export const commitToBranch = (workspace: ProjectWorkspace, folder: string, branch: string): ProjectWorkspace => ({
  ...workspace,
  checkpoint: async (iteration, message) => {
    const commit = await workspace.checkpoint(iteration, message)
    if ((await readBranch(folder)) !== branch) return commit
    await addAll(folder)
    const isClean = await git({ cwd: folder }, 'diff', '--cached', '--quiet').then(
      () => true,
      () => false,
    )
    if (!isClean) await git({ cwd: folder, input: message }, 'commit', '--quiet', '--no-verify', '--file=-')
    return commit
  },
})

/** Stages all but repositories in the work tree: git would run `git status` in them, and with it what an agent configured there. */
async function addAll(folder: string): Promise<void> {
  const cwd = await git({ cwd: folder }, 'rev-parse', '--show-toplevel')
  const shared = await git({ cwd }, 'rev-parse', '--path-format=absolute', '--git-common-dir')
  const others = await git({ cwd }, 'ls-files', '--others', '--exclude-standard', '-z')
  const tracked = await git({ cwd }, 'ls-files', '--stage', '-z')
  const nested = [
    ...[...others.matchAll(/([^\0]+)\/(?:\0|$)/g)].map(([, name = '']) => name),
    ...parseSubmodules(tracked),
  ].filter((name) => !isFetchedSubmodule(join(cwd, name, '.git'), shared))
  const input = ['.', ...nested.map((name) => `:(exclude,literal)${name}`)].join('\0')
  await git({ cwd, input }, 'add', '--all', '--pathspec-from-file=-', '--pathspec-file-nul')
}

/** A submodule whose settings lie in the user's repository, which no cell lets an agent write. */
function isFetchedSubmodule(link: string, shared: string): boolean {
  const target = /^gitdir: (.*)$/m.exec(readPlainText(link) ?? '')?.[1]
  const folder = target && resolve(link, '..', target)
  return (
    folder !== undefined &&
    folder !== '' &&
    exists(folder) &&
    realPath(folder).startsWith(`${join(shared, 'modules')}/`)
  )
}

const readBranch = (folder: string): Promise<string | undefined> =>
  git({ cwd: folder }, 'symbolic-ref', '--quiet', '--short', 'HEAD').catch(() => undefined)

/** Removes the worktree; its branch stays. If changes would be lost, keeps it and resolves with the reason. */
export async function removeWorktree({ project, worktree }: WorktreeOptions): Promise<string | undefined> {
  const { branch, cleanup } = worktree
  const path = resolve(project, worktree.path)
  if (!exists(path)) return undefined
  const changes = await git({ cwd: path }, 'status', '--porcelain', '--ignore-submodules=dirty')
  if (changes !== '') return `it has uncommitted changes:\n${changes.split('\n').slice(0, 5).join('\n')}`
  if ((await readBranch(path)) !== branch) return `it is no longer on branch ${branch}`
  const top = await findRepositoryRoot(project)
  if (cleanup === 'on-merge' && !(await isMerged(top, branch))) {
    return `branch ${branch} is not merged yet; "ralph run" of this sprint checks again`
  }
  // git refuses to remove a worktree that contains a submodule.
  return git({ cwd: top }, 'worktree', 'remove', path).then(() => undefined, errorMessage)
}

const isMerged = (top: string, branch: string): Promise<boolean> =>
  git({ cwd: top }, 'merge-base', '--is-ancestor', `refs/heads/${branch}`, 'HEAD').then(
    () => true,
    () => false,
  )

const worktreeUnavailable = (message: string, cause: unknown): RalphError =>
  new RalphError('WORKTREE_UNAVAILABLE', message, { cause, hint: 'or set "worktree: {enabled: false}" in SPRINT.yaml' })

const worktreeTaken = (path: string, why: string): RalphError =>
  new RalphError('WORKTREE_UNAVAILABLE', `the folder of the worktree cannot be used: ${why}`, {
    place: { file: path },
    hint: 'move it away, or give another "path" under "worktree" in SPRINT.yaml',
  })
