import { createHash } from 'node:crypto'
import { dirname, join } from 'node:path'
import { RalphError } from '../../contract/errors.ts'
import { lockFile, type FileLock } from '../../platform/files/file-lock.ts'
import { createFolder, realPath } from '../../platform/files/files.ts'
import { stateRoot } from '../../platform/files/state-folder.ts'
import { findRepository } from '../git/status.ts'

/**
 * Locks the files that a sprint works on: the work tree of git, or the folder. Two sprints in one work tree would mix their
 * changes, checkpoints and checks. The kernel releases the lock when the process ends.
 */
export async function lockWorkTree(folder: string, sprint: string): Promise<FileLock> {
  const root = realPath(findRepository(folder) ?? folder)
  const path = join(stateRoot(), 'work-trees', `${createHash('sha256').update(root).digest('hex')}.lock`)
  await createFolder(dirname(path))
  const taken = lockFile(path, `${sprint} (pid ${process.pid})`)
  if ('lock' in taken) return taken.lock
  const other = taken.owner || 'another process'
  const name = other.replace(/ \(pid \d+\)$/, '')
  throw new RalphError('WORK_TREE_BUSY', `the sprint ${other} works on these files`, {
    place: { file: root },
    hint: `wait for it, stop it with: ralph stop ${name}; or start a new goal with --worktree, which gives it files of its own`,
  })
}

/** Does something to the files of a sprint while no other sprint works on them. */
export async function withWorkTree<T>(folder: string, sprint: string, work: () => Promise<T>): Promise<T> {
  const lock = await lockWorkTree(folder, sprint)
  try {
    return await work()
  } finally {
    lock.release()
  }
}
