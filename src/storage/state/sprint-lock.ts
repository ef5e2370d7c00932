import { hostname } from 'node:os'
import { join } from 'node:path'
import { RalphError } from '../../contract/errors.ts'
import { formatTimestamp } from '../../contract/time.ts'
import { lockFile, readLockOwner, type FileLock } from '../../platform/files/file-lock.ts'
import { stateFolder } from '../../platform/files/state-folder.ts'
import { exists, unwritableFile } from '../../platform/files/files.ts'

const lockPath = (sprintDir: string): string => join(stateFolder(sprintDir), '.lock')

/** Locks the sprint, or throws with the name of the owner. */
export function lockSprintFolder({
  sprintDir,
  now,
}: {
  readonly sprintDir: string
  readonly now: () => number
}): FileLock {
  const taken = tryLockSprint(sprintDir, `pid ${process.pid} on ${hostname()} since ${formatTimestamp(now())}`)
  if ('lock' in taken) return taken.lock
  throw new RalphError('SPRINT_LOCKED', `the sprint is run by ${taken.owner || 'another process'}`, {
    place: { file: sprintDir },
    hint: 'wait for it, or stop it with: ralph stop <sprint>',
  })
}

function tryLockSprint(sprintDir: string, about: string): ReturnType<typeof lockFile> {
  try {
    return lockFile(lockPath(sprintDir), about)
  } catch (error) {
    throw unwritableFile(lockPath(sprintDir), error)
  }
}

/** The owner's description of itself; undefined if no process runs the sprint. */
export function readSprintOwner(sprintDir: string): string | undefined {
  const file = lockPath(sprintDir)
  if (!exists(file)) return undefined
  const owner = readLockOwner(file)
  return owner === '' ? 'another process' : owner
}
