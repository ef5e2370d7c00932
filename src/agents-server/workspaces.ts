import { isAbsolute, join, sep } from 'node:path'
import { RalphError, errorMessage } from '../contract/errors.ts'
import type { AgentWorkspace } from '../contract/fleet/agent.ts'
import { exists, isFolder, createFolder, realPath, removeFolder } from '../platform/files/files.ts'
import { git } from '../platform/git.ts'
import { openWorktree, removeWorktree } from '../storage/git/worktree.ts'

export type WorkspacePlaces = {
  /** Allowed roots of user folders and local repositories. */
  readonly roots: readonly string[]
  /** Where clones and worktrees are created. */
  readonly workspaces: string
  /** Ralph's own folders, which are never a workspace. */
  readonly home: string
  /** Other folders with Ralph's state, such as `~/.ralph`, which are never a workspace either. */
  readonly state?: readonly string[]
  /** Folders that the policy of the machine allows. */
  readonly policyRoots?: readonly string[] | undefined
  /** Folders of the user: local folders must be in one of them too. */
  readonly within?: readonly string[] | undefined
}

/** Creates the folder that an agent works in. Idempotent: a second call finds the result of the first. */
export async function openAgentWorkspace(
  agentId: string,
  workspace: AgentWorkspace,
  places: WorkspacePlaces,
): Promise<string> {
  switch (workspace.kind) {
    case 'folder':
      return allowedFolder(workspace.path, places)
    case 'clone':
      return cloneRepository(agentId, workspace, places)
    case 'worktree': {
      const project = allowedFolder(workspace.path, places)
      const worktree = openAgentWorktree(agentId, workspace.branch, places)
      await createFolder(places.workspaces)
      return realPath((await openWorktree({ project, worktree })).folder)
    }
  }
}

/** Removes what was created for the agent, unless work would be lost; then it returns the reason. User folders stay. */
export async function removeAgentWorkspace(agentId: string, workspace: AgentWorkspace, places: WorkspacePlaces) {
  if (workspace.kind !== 'worktree') return undefined
  const project = allowedFolder(workspace.path, places)
  return removeWorktree({ project, worktree: openAgentWorktree(agentId, workspace.branch, places) })
}

const openAgentWorktree = (agentId: string, branch: string, { workspaces }: WorkspacePlaces) => ({
  enabled: true as const,
  branch,
  path: join(workspaces, agentId),
  cleanup: 'on-complete' as const,
})

/** The folder with links resolved, if it is allowed. */
function allowedFolder(path: string, { roots, home, state = [], within, policyRoots }: WorkspacePlaces): string {
  if (!isAbsolute(path)) throw workspaceRefused(`"${path}" is not an absolute path`)
  if (!isFolder(path)) throw new RalphError('WORKSPACE_NOT_FOUND', `folder not found on this machine: "${path}"`)
  const real = realPath(path)
  if (!isInsideAny(real, roots))
    throw workspaceRefused(`"${path}" is outside the folders that this machine allows (${roots.join(', ') || 'none'})`)
  if (isInsideAny(real, [home, ...state])) throw workspaceRefused(`"${path}" belongs to Ralph itself`)
  if (policyRoots && !isInsideAny(real, policyRoots))
    throw workspaceRefused(`"${path}" is outside the folders that the policy of this machine allows`)
  if (within && !isInsideAny(real, within)) throw workspaceRefused(`"${path}" is outside the folders granted to you`)
  return real
}

const isInsideAny = (real: string, folders: readonly string[]): boolean =>
  folders.some((folder) => isFolder(folder) && isInsideFolder(real, realPath(folder)))

/** The push target of this workspace; undefined if none is configured. */
export function resolvePushAddress(workspace: AgentWorkspace, places: WorkspacePlaces): string | undefined {
  if (workspace.kind !== 'clone' || workspace.push === undefined) return undefined
  const address = workspace.push === 'origin' ? workspace.repository : workspace.push
  return remote.test(address) ? address : allowedFolder(address, places)
}

export const isInsideFolder = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`)

const remote = /^(?:https?:\/\/|ssh:\/\/|git:\/\/|[\w.-]+@[\w.-]+:)/

type CloneWorkspace = Extract<AgentWorkspace, { kind: 'clone' }>

async function cloneRepository(
  agentId: string,
  { repository, branch }: CloneWorkspace,
  places: WorkspacePlaces,
): Promise<string> {
  const source = remote.test(repository) ? repository : allowedFolder(repository, places)
  const target = join(places.workspaces, agentId)
  const done = join(places.workspaces, `${agentId}.cloned`)
  if (exists(done)) return realPath(target)
  await createFolder(places.workspaces)
  // A partial clone, left by a daemon that was killed while cloning.
  await removeFolder(target)
  const branchOption = branch === undefined ? [] : ['--branch', branch]
  await git(
    { cwd: places.workspaces },
    // Disables password prompts, and addresses that run a program.
    '-c',
    'core.askPass=true',
    '-c',
    'protocol.ext.allow=never',
    'clone',
    '--quiet',
    ...branchOption,
    '--',
    source,
    target,
  ).catch((cause: unknown) => {
    throw new RalphError('WORKSPACE_NOT_FOUND', 'failed to clone the repository', {
      cause,
      hint: errorMessage(cause),
    })
  })
  await createFolder(done)
  return realPath(target)
}

const workspaceRefused = (message: string): RalphError =>
  new RalphError('WORKSPACE_REFUSED', message, {
    hint: 'allow the folder on the machine with: ralph agents-server join --roots',
  })
