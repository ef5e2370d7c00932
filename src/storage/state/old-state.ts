import { join } from 'node:path'
import { RalphError } from '../../contract/errors.ts'
import type { Progress } from '../../contract/progress.ts'
import { lockFile } from '../../platform/files/file-lock.ts'
import {
  createPrivateFolder,
  exists,
  isFolder,
  listFolder,
  removeFile,
  removeFolder,
} from '../../platform/files/files.ts'
import { readLink } from '../../platform/files/links.ts'
import { moveFolder } from '../../platform/files/move-folder.ts'
import { deriveRecordKey } from '../../platform/files/state-folder.ts'
import { attemptState, linkTranscript } from '../../platform/processes/attempt-folder.ts'
import { reopenCompleted } from './import-progress.ts'
import { copyJournal, readJournal, type Fold } from './journal.ts'

/** Version 0.1.0 kept the state of a sprint in its folder. */
export const isOldSprint = (sprintDir: string): boolean => isFolder(join(sprintDir, 'journal'))

type OldSprint = { readonly sprintDir: string; readonly fold: Fold; readonly now: () => number }

/**
 * Copies the journal of an earlier version to a new state, which counts from `commit` on. The rest follows by `finishMove`. A
 * process that is killed before the commit changes nothing that counts.
 */
export async function moveOldJournal(
  { sprintDir, fold, now }: OldSprint,
  { id, folder }: { readonly id: string; readonly folder: string },
  commit: () => Promise<string>,
): Promise<string> {
  const taken = lockFile(join(sprintDir, '.lock'), `pid ${process.pid} moves the state`)
  if (!('lock' in taken)) throw stillRunning(sprintDir, taken.owner || 'another process')
  try {
    const running = await findRunning(join(sprintDir, 'attempts'))
    if (running !== undefined) throw stillRunning(sprintDir, `an agent that an earlier version started (${running})`)
    const from = join(sprintDir, 'journal')
    await createPrivateFolder(folder)
    const last = await readJournal(sprintDir, fold)
    if (last) {
      const key = deriveRecordKey(id)
      await copyJournal({ from, to: join(folder, 'journal'), key, now: now(), end: reopenAsNext }, last)
    }
    const winner = await commit()
    if (winner !== id) await removeFolder(folder)
    return winner
  } catch (error) {
    await removeFolder(folder)
    throw error
  } finally {
    taken.lock.release()
  }
}

/** A new rev: PROGRESS.yaml shows the one before it. */
function reopenAsNext(progress: Progress): Progress {
  const reopened = reopenCompleted(progress)
  return reopened === progress ? progress : { ...reopened, rev: progress.rev + 1 }
}

async function findRunning(attempts: string): Promise<string | undefined> {
  return (await listFolder(attempts)).find((name) => attemptState(join(attempts, name)) === 'running')
}

/** What follows the journal. The private git index does not: Ralph builds it again from the files. */
const movedPattern = /^(?:attempts(?:-before-\d+)?|requests|protected)$/
const droppedNames = ['journal', 'index', 'tmp']

/** Moves the rest of the state of an earlier version; continues where a killed process stopped. */
export async function finishMove(sprintDir: string, folder: string): Promise<void> {
  for (const name of (await listFolder(sprintDir)).filter((entry) => movedPattern.test(entry))) {
    const [from, to] = [join(sprintDir, name), join(folder, name)]
    // The copy is complete; only the original was not removed yet.
    if (exists(to)) await removeFolder(from)
    else await moveFolder(from, to)
  }
  await relinkTranscripts(sprintDir, folder)
  for (const name of droppedNames) await removeFolder(join(sprintDir, name))
  await removeFile(join(sprintDir, '.lock'))
}

/** The links led to `../attempts/<name>/transcript.jsonl`. */
async function relinkTranscripts(sprintDir: string, folder: string): Promise<void> {
  const transcripts = join(sprintDir, 'transcripts')
  for (const name of await listFolder(transcripts)) {
    const [, attempt] = /^\.\.\/attempts\/([^/]+)\/[^/]+$/.exec(readLink(join(transcripts, name)) ?? '') ?? []
    if (attempt !== undefined) linkTranscript(join(transcripts, name), join(folder, 'attempts', attempt))
  }
}

const stillRunning = (sprintDir: string, owner: string): RalphError =>
  new RalphError('SPRINT_LOCKED', `the sprint is run by ${owner}`, {
    place: { file: sprintDir },
    hint: 'wait for it, or stop it; then run the same command again',
  })
