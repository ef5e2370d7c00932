import { isAbsolute, join, sep } from 'node:path'
import { RalphError } from '../contract/errors.ts'
import type { Workspace } from '../contract/fleet/agent.ts'
import { exists, isFolder, makeFolder, realPath, removeFolder } from '../platform/files/files.ts'
import { git } from '../platform/git.ts'
import { openWorktree, removeWorktree } from '../storage/git/worktree.ts'

export type WorkspacePlaces = {
  /** Workspaces that are folders of the user, and repositories on this disk, must lie in one of these. */
  readonly roots: readonly string[]
  /** Where clones and worktrees are made. */
  readonly workspaces: string
  /** Nothing of ours is ever a workspace. */
  readonly home: string
}

/** Makes the folder that an agent works in, or finds it. The same call again finds what the first one made. */
export async function openAgentWorkspace(
  agentId: string,
  workspace: Workspace,
  places: WorkspacePlaces,
): Promise<string> {
  switch (workspace.kind) {
    case 'folder':
      return allowedFolder(workspace.path, places)
    case 'clone':
      return clone(agentId, workspace, places)
    case 'worktree': {
      const project = allowedFolder(workspace.path, places)
      const worktree = worktreeOf(agentId, workspace.branch, places)
      await makeFolder(places.workspaces)
      return realPath((await openWorktree({ project, worktree })).folder)
    }
  }
}

/** What was made for the agent goes, unless something would be lost; then it says what. Folders of the user stay as they are. */
export async function removeAgentWorkspace(agentId: string, workspace: Workspace, places: WorkspacePlaces) {
  if (workspace.kind !== 'worktree') return undefined
  const project = allowedFolder(workspace.path, places)
  return removeWorktree({ project, worktree: worktreeOf(agentId, workspace.branch, places) })
}

const worktreeOf = (agentId: string, branch: string, { workspaces }: WorkspacePlaces) => ({
  enabled: true as const,
  branch,
  path: join(workspaces, agentId),
  cleanup: 'on-complete' as const,
})

/** The folder without links, if it is one that may be used. */
function allowedFolder(path: string, { roots, home }: WorkspacePlaces): string {
  if (!isAbsolute(path)) throw refused(`"${path}" is not an absolute path`)
  if (!isFolder(path)) throw new RalphError('WORKSPACE_NOT_FOUND', `there is no folder "${path}" on this machine`)
  const real = realPath(path)
  const inside = roots.filter((root) => isFolder(root)).some((root) => isInside(real, realPath(root)))
  if (!inside) throw refused(`"${path}" is not in a folder that this machine allows (${roots.join(', ') || 'none'})`)
  if (exists(home) && isInside(real, realPath(home))) throw refused(`"${path}" belongs to Ralph itself`)
  return real
}

/** Where the files of this workspace are to be pushed; undefined if nobody has said so. */
export function pushAddress(workspace: Workspace, places: WorkspacePlaces): string | undefined {
  if (workspace.kind !== 'clone' || workspace.push === undefined) return undefined
  const address = workspace.push === 'origin' ? workspace.repository : workspace.push
  return remote.test(address) ? address : allowedFolder(address, places)
}

export const isInside = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`)

const remote = /^(?:https?:\/\/|ssh:\/\/|git:\/\/|[\w.-]+@[\w.-]+:)/

type Clone = Extract<Workspace, { kind: 'clone' }>

async function clone(agentId: string, { repository, branch }: Clone, places: WorkspacePlaces): Promise<string> {
  const source = remote.test(repository) ? repository : allowedFolder(repository, places)
  const target = join(places.workspaces, agentId)
  const done = join(places.workspaces, `${agentId}.cloned`)
  if (exists(done)) return realPath(target)
  await makeFolder(places.workspaces)
  // Half a clone, from a daemon that was killed meanwhile.
  await removeFolder(target)
  const wanted = branch === undefined ? [] : ['--branch', branch]
  await git(
    { cwd: places.workspaces },
    // Nobody is there to be asked for a password, and an address is no program to be started.
    '-c',
    'core.askPass=true',
    '-c',
    'protocol.ext.allow=never',
    'clone',
    '--quiet',
    ...wanted,
    '--',
    source,
    target,
  ).catch((cause: unknown) => {
    throw new RalphError('WORKSPACE_NOT_FOUND', 'the repository cannot be cloned', { cause, hint: messageOf(cause) })
  })
  await makeFolder(done)
  return realPath(target)
}

const refused = (message: string): RalphError =>
  new RalphError('WORKSPACE_REFUSED', message, {
    hint: 'the machine says which folders it allows: --root at its start',
  })

const messageOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))
