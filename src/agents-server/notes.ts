import { join } from 'node:path'
import { RalphError, errorMessage } from '../contract/errors.ts'
import type { TaskLockState } from '../contract/fleet/machine-messages.ts'
import { formatTimestamp } from '../contract/time.ts'
import { lockName, outcomeName } from '../loop/ways/notes/notes-prompt.ts'
import type { LockState } from '../loop/core/way.ts'
import { writeFileAtomic } from '../platform/files/atomic-file.ts'
import {
  copyFolder,
  exists,
  isFolder,
  listFolder,
  createFolder,
  existsItself,
  readPlainText,
  realPath,
  removeFile,
} from '../platform/files/files.ts'
import { statFile } from '../platform/files/private-file.ts'
import type { NotesLock } from '../runtime/ports.ts'
import { isInsideFolder } from './workspaces.ts'

const readme = 'README.md'
/** The attempt that the lock was last written for. */
const lockedAttemptFile = '.task-lock-for'
const maxNotes = 200
const maxNoteLength = 64 * 1024

/** Where an agent keeps its notes. `{agent}` in the configured path is replaced by the agent's name. */
export const notesFolder = (configured: string, agent: string): string =>
  configured.includes('{agent}') ? configured.replaceAll('{agent}', agent) : configured

/** Where the agents of Ariana kept their notes. */
export const arianaNotes = (userHome: string): string => join(userHome, '.ariana-ralph-notes')

/** A new agent starts with a copy of Ariana's notes, if there are any, without their lock. */
async function copyEarlierNotes(folder: string, earlier: string): Promise<void> {
  if (folder === earlier || exists(folder) || !exists(join(earlier, readme))) return
  await createFolder(join(folder, '..'))
  await copyFolder(earlier, folder)
  await removeFile(join(folder, lockName))
}

/**
 * Prepares the folder for a task. Notes of earlier tasks stay; the same task is not written twice. `earlier`: notes of another
 * program to start with.
 */
export async function prepareNotes(folder: string, task: string, now: number, earlier?: string): Promise<void> {
  if (earlier !== undefined) await copyEarlierNotes(folder, earlier)
  await createFolder(folder)
  const before = readPlainText(join(folder, readme))
  const isWritten = before !== undefined && findLastTask(before) === task.trim()
  if (!isWritten)
    await writeFileAtomic(
      join(folder, readme),
      before === undefined ? firstReadme(task, now) : addTask(before, task, now),
    )
  await removeFile(join(folder, outcomeName))
  await removeFile(join(folder, lockedAttemptFile))
  await writeFileAtomic(join(folder, lockName), '')
}

export const removeLock = (folder: string): Promise<void> => removeFile(join(folder, lockName))

const taskHeading = '## Task'

const firstReadme = (task: string, now: number): string => `# Notes

Where to start reading. Keep it short; put details into other files here and link them.

${taskSection(task, now)}`

const addTask = (before: string, task: string, now: number): string =>
  `${before.trimEnd()}\n\n---\n\n${taskSection(task, now)}`

const taskSection = (task: string, now: number): string => `${taskHeading} (${formatTimestamp(now)})

${task.trim()}

### How to iterate

(to be found out)

### Validation criteria, and which are met

(to be found out)

### Work log

(nothing yet)

### More notes

(links to other files)
`

/** The text between the last task heading and the next heading. */
function findLastTask(text: string): string | undefined {
  const begin = text.lastIndexOf(taskHeading)
  if (begin === -1) return undefined
  const [, ...lines] = text.slice(begin).split('\n')
  const end = lines.findIndex((line) => line.startsWith('### '))
  return lines
    .slice(0, end === -1 ? undefined : end)
    .join('\n')
    .trim()
}

/** The lock of the notes protocol, as a runtime port. */
export const createTaskLock = (folder: string): NotesLock => ({
  folder,
  read: () => readLockState(folder),
  restore: async (attempt) => {
    if (readPlainText(join(folder, lockedAttemptFile))?.trim() === attempt) return
    await createFolder(folder)
    await removeFile(join(folder, outcomeName))
    await writeFileAtomic(join(folder, lockName), '')
    await writeFileAtomic(join(folder, lockedAttemptFile), `${attempt}\n`)
  },
})

/** Rejects if the folder itself is gone, since a missing lock then means nothing. */
async function readLockState(folder: string): Promise<LockState> {
  if (!isFolder(folder))
    throw new RalphError('FILE_UNREADABLE', 'the notes folder is gone', { place: { file: folder } })
  if (existsItself(join(folder, lockName))) return { exists: true }
  const outcome = readPlainText(join(folder, outcomeName))?.trim() ?? ''
  const [, word, text = ''] = /^\W*(done|stuck)\b[\s:.,;–-]*(.*)$/is.exec(outcome) ?? []
  if (word === undefined) return { exists: false, ...(outcome !== '' && { text: outcome }) }
  return { exists: false, outcome: word.toLowerCase() === 'stuck' ? 'stuck' : 'done', text: text.trim() }
}

/** The state of the lock as the machine reports it to the backend, which expects a reply also if the lock cannot be read. */
export async function readReportedLock(folder: string): Promise<TaskLockState> {
  try {
    const lock = await readLockState(folder)
    if (lock.exists) return { state: 'present' }
    return { state: 'gone', outcome: lock.outcome ?? 'unknown', sentence: lock.text ?? '' }
  } catch (error) {
    return { state: 'unreadable', reason: errorMessage(error) }
  }
}

/** All notes, with their text unless it is too long. */
export async function readNotes(folder: string) {
  const names = exists(folder) ? (await listFolder(folder)).filter((name) => name.endsWith('.md')).toSorted() : []
  const notes = await Promise.all(
    names.slice(0, maxNotes).map(async (name) => {
      const stat = await statFile(join(folder, name))
      // A link could point anywhere.
      if (!stat || !isInsideFolder(realPath(join(folder, name)), realPath(folder))) return []
      const text = stat.size <= maxNoteLength ? readPlainText(join(folder, name)) : undefined
      return [{ name, size: stat.size, updatedAt: stat.changedAt, ...(text !== undefined && { text }) }]
    }),
  )
  return notes.flat()
}
