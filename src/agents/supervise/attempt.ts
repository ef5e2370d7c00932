import { dirname, join } from 'node:path'
import { nameTranscript, settledState, type AttemptState } from '../../platform/processes/attempt-folder.ts'
import { exists, removeLink } from '../../platform/files/files.ts'
import { sweep } from '../../platform/processes/process-table.ts'

export type Place = { readonly sprintDir: string; readonly cwd: string }

type Wanted = { readonly attempt: string; readonly transcript?: string }

export type Attempt = {
  /** If it exists, the supervisor joins the attempt in it. */
  readonly folder: string
  readonly mark: string
  /** Recreates the `transcripts/` symlink if it was deleted during the attempt. */
  readonly showAgain: () => void
}

/** States after which an attempt runs again instead of being joined: never started, and ended on request. */
const remains: readonly AttemptState[] = ['never-started', 'aborted']

/** Returns the folder of an attempt to join, or a new one. A folder is never reused, and no process of an old attempt survives. */
export async function takeAttempt(
  sprintDir: string,
  { attempt, transcript }: Wanted,
  startAgain: readonly AttemptState[] = remains,
): Promise<Attempt> {
  const folderOf = (name: string) => join(sprintDir, 'attempts', name)
  let name = attempt
  for (let n = 2; exists(folderOf(name)); n++) {
    const state = await settledState(folderOf(name))
    if (!startAgain.includes(state)) break
    if (state === 'never-started' || state === 'aborted') sweep(markOf(sprintDir, name))
    name = `${attempt}.${n}`
  }
  const link = transcript === undefined ? undefined : join(sprintDir, 'transcripts', transcript)
  if (link !== undefined) nameTranscript(link, name)
  const showAgain = () => {
    if (link === undefined || exists(link)) return
    removeLink(dirname(link))
    nameTranscript(link, name)
  }
  return { folder: folderOf(name), mark: markOf(sprintDir, name), showAgain }
}

/** Unique on this machine: every process of the attempt carries it. */
const markOf = (sprintDir: string, attempt: string): string => `${sprintDir}#${attempt}`
