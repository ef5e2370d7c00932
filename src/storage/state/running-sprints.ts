import { join, resolve } from 'node:path'
import { RalphError } from '../../contract/errors.ts'
import { exists, listFolder, realPath } from '../../platform/files/files.ts'
import { readLockOwner } from '../../platform/files/file-lock.ts'
import { stateId, stateRoot } from '../../platform/files/state-folder.ts'
import { git } from '../../platform/git.ts'
import { readProgressFile } from './progress-file.ts'
import { readState } from './state-folder.ts'

export type RunningSprint = { readonly sprintDir: string; readonly owner: string }

/** Other sprints of this user that a process runs in the same work tree at this moment. */
export async function findOtherSprintsAtWork(sprintDir: string, folder: string): Promise<RunningSprint[]> {
  const own = stateId(sprintDir)
  const ids = (await listFolder(stateRoot())).filter((id) => id !== own)
  const running: RunningSprint[] = []
  for (const id of ids) {
    const owner = findOwner(id)
    const state = owner === undefined ? undefined : await readState(id)
    if (owner === undefined || !state) continue
    const { worktree } = (await readProgressFile(state.sprintDir).catch(() => undefined)) ?? {}
    const tree = resolve(state.workTree, worktree?.path ?? '.')
    if ((await findTop(tree)) === (await findTop(folder))) running.push({ sprintDir: state.sprintDir, owner })
  }
  return running
}

/** Throws while another sprint works in the same work tree: its agent would lose what it just wrote. */
export async function assertAlone(sprintDir: string, folder: string): Promise<void> {
  const [other] = await findOtherSprintsAtWork(sprintDir, folder)
  if (!other) return
  throw new RalphError('SPRINT_LOCKED', `another sprint works in this folder: ${other.sprintDir} (${other.owner})`, {
    place: { file: folder },
    hint: 'pause it first',
  })
}

function findOwner(id: string): string | undefined {
  const lock = join(stateRoot(), id, '.lock')
  const owner = exists(lock) ? readLockOwner(lock) : undefined
  return owner === '' ? 'another process' : owner
}

/** The root of a folder's work tree; the folder itself outside of git. */
async function findTop(folder: string): Promise<string> {
  const real = exists(folder) ? realPath(folder) : folder
  return git({ cwd: real }, 'rev-parse', '--show-toplevel').catch(() => real)
}
