import { join } from 'node:path'
import { RalphError, errorMessage } from '../contract/errors.ts'
import type { SprintEvent } from '../contract/events.ts'
import { writeFileAtomic } from '../platform/files/atomic-file.ts'
import { exists } from '../platform/files/files.ts'
import { stateFolder } from '../platform/files/state-folder.ts'
import { restorePushedSnapshot, pushSnapshot, type SnapshotOptions } from '../storage/git/pushed-snapshot.ts'
import { checkpointMarkerFile, agentProofFolder, agentSprintFolder } from './agent-ports.ts'
import type { LocalAgent, TakeoverSource } from './local-agents.ts'

/**
 * Pushes the agent's work, with the files of the start (`tree`), if its workspace has a push target. A failed push is a warning and does not stop the sprint,
 * but no other machine can then take over if this one is lost.
 */
export async function pushWork(
  agent: LocalAgent,
  { sprintId, tree }: { readonly sprintId: string; readonly tree: string | undefined },
  observe: (event: SprintEvent) => void,
): Promise<{ readonly pushed?: string }> {
  try {
    const remote = agent.pushAddress()
    if (remote === undefined) return {}
    const objects = join(agentProofFolder(agent, sprintId), 'git', 'objects')
    const baseline = tree !== undefined && exists(objects) ? { tree, objects } : undefined
    return { pushed: await pushSnapshot({ ...describeSnapshot(agent, sprintId, remote), baseline }) }
  } catch (error) {
    const why = errorMessage(error)
    observe({ type: 'note', level: 'warning', text: `the files were not pushed: ${why}` })
    return {}
  }
}

/** Fetches the files, notes and checkpoints that another machine has pushed. */
export async function restoreFromSnapshot(agent: LocalAgent, { sprintId, commit }: TakeoverSource): Promise<void> {
  const remote = agent.pushAddress()
  if (remote === undefined) throw new RalphError('WORKSPACE_REFUSED', 'this workspace has no push target')
  const options = describeSnapshot(agent, sprintId, remote)
  await restorePushedSnapshot(options, commit)
  await writeFileAtomic(checkpointMarkerFile(options.sprintDir), '')
}

function describeSnapshot(agent: LocalAgent, sprintId: string, remote: string): SnapshotOptions {
  const sprintDir = agentSprintFolder(agent, sprintId)
  const extraFolders = [
    { name: 'notes', folder: agent.notes },
    { name: 'learned', folder: sprintDir, only: 'LEARNINGS.md' },
    { name: 'protected', folder: join(stateFolder(sprintDir), 'protected') },
  ]
  const snapshotFolder = join(agent.home, 'pushed', sprintId)
  return { project: agent.folder, sprintDir, sprintId, remote, extraFolders, snapshotFolder }
}
