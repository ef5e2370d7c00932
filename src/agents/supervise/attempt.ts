import { dirname, join } from 'node:path'
import { linkTranscript, settledState, type AttemptState } from '../../platform/processes/attempt-folder.ts'
import { attemptsFolder, restorePackedAttempts } from '../../platform/processes/attempt-pack.ts'
import { exists, removeLink } from '../../platform/files/files.ts'
import { stateFolder } from '../../platform/files/state-folder.ts'
import { killMarked } from '../../platform/processes/process-table.ts'

export type AttemptLocation = { readonly sprintDir: string; readonly cwd: string }

type AttemptRequest = { readonly attempt: string; readonly transcript?: string }

export type ClaimedAttempt = {
  /** If it exists, the supervisor joins the attempt in it. */
  readonly folder: string
  readonly mark: string
  /** Recreates the `transcripts/` symlink if it was deleted during the attempt. */
  readonly showAgain: () => void
}

/** States after which an attempt runs again instead of being joined: never started, and ended on request. */
const restartableStates: readonly AttemptState[] = ['never-started', 'aborted']

/** Returns the folder of an attempt to join, or a new one. A folder is never reused, and no process of an old attempt survives. */
export async function claimAttemptFolder(
  sprintDir: string,
  { attempt, transcript }: AttemptRequest,
  startAgain: readonly AttemptState[] = restartableStates,
): Promise<ClaimedAttempt> {
  const state = stateFolder(sprintDir)
  await restorePackedAttempts(state, attempt)
  const attempts = attemptsFolder(state)
  let name = attempt
  let folder = join(attempts, name)
  for (let n = 2; exists(folder); n++) {
    if (!startAgain.includes(await settledState(folder))) break
    killMarked(attemptMark(sprintDir, name))
    name = `${attempt}.${n}`
    folder = join(attempts, name)
  }
  const link = transcript === undefined ? undefined : join(sprintDir, 'transcripts', transcript)
  if (link !== undefined) linkTranscript(link, folder)
  const showAgain = () => {
    if (link === undefined || exists(link)) return
    removeLink(dirname(link))
    linkTranscript(link, folder)
  }
  return { folder, mark: attemptMark(sprintDir, name), showAgain }
}

/** Unique on this machine: every process of the attempt carries it. */
const attemptMark = (sprintDir: string, attempt: string): string => `${sprintDir}#${attempt}`
