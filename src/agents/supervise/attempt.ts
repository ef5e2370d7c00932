import { dirname, join } from 'node:path'
import { nameTranscript, settledState, type AttemptState } from '../../platform/processes/attempt-folder.ts'
import { exists, removeLink } from '../../platform/files/files.ts'
import { sweep } from '../../platform/processes/process-table.ts'

export type Place = { readonly sprintDir: string; readonly cwd: string }

type Wanted = { readonly attempt: string; readonly transcript?: string }

export type Attempt = {
  /** Joined if it is there. */
  readonly folder: string
  readonly mark: string
  /** Points the name under transcripts/ that the seeds know it by at this attempt again, if somebody has deleted it meanwhile. */
  readonly showAgain: () => void
}

/** Where something runs again instead of being joined: what never began, and what was ended on request. */
const remains: readonly AttemptState[] = ['never-started', 'aborted']

/** The folder of an attempt: the one to be joined, or a new one. No folder is ever used twice, and nothing is left in an old one. */
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

/** Unique on this machine: everything that an attempt starts carries it. */
const markOf = (sprintDir: string, attempt: string): string => `${sprintDir}#${attempt}`
