import type { AgentWorkspace, FleetRow } from '../../../contract/fleet/agent.ts'
import type { Machine } from '../../../contract/fleet/machine.ts'
import { type Draft, draftWorkspace, newAgent } from './draft.ts'

/** `on build-1 in /srv/app, branch main`: where an agent would work; undefined until the user has chosen one. */
export function describePlace(
  draft: Draft,
  row: FleetRow | undefined,
  machines: readonly Machine[],
): string | undefined {
  if (draft.agentId === newAgent) {
    const machine = machines.find(({ id }) => id === draft.machineId)
    return `on ${machine?.name ?? 'any machine'} ${describeFolder(draftWorkspace(draft), undefined)}`
  }
  if (!row) return undefined
  return `on ${row.machine.name} ${describeFolder(row.agent.workspace, row.sprint?.branch)}`
}

function describeFolder(workspace: AgentWorkspace, branch: string | undefined): string {
  switch (workspace.kind) {
    case 'folder':
      return `in ${workspace.path || '…'}, ${branch === undefined ? 'its current branch' : `branch ${branch}`}`
    case 'clone':
      return `in a clone of ${workspace.repository || '…'}, ${nameBranch(branch ?? workspace.branch)}`
    case 'worktree':
      return `in a worktree of ${workspace.path || '…'}, ${nameBranch(branch ?? workspace.branch)}`
  }
}

const nameBranch = (branch: string | undefined): string =>
  branch === undefined || branch === '' ? 'its default branch' : `branch ${branch}`
