import { basename, dirname, join } from 'node:path'
import { RalphError } from '../../contract/errors.ts'
import { leftoverPattern } from '../../platform/files/atomic-file.ts'
import {
  exists,
  isFolder,
  isLink,
  listFolder,
  createFolder,
  moveFile,
  readTextIfExists,
  removeFile,
  writeNewFile,
} from '../../platform/files/files.ts'
import { forgetState, stateFolder, statePathFile } from '../../platform/files/state-folder.ts'

/** Only files that the user wrote belong in the project's repository. */
const gitignore = '*\n!SPRINT.yaml\n'

export const sprintPath = (sprintDir: string): string => join(sprintDir, 'SPRINT.yaml')

export const progressPath = (sprintDir: string): string => join(sprintDir, 'PROGRESS.yaml')

/** A file that a user puts here to pause the sprint, and removes to let it run. */
export const hasPauseFile = (sprintDir: string): boolean => exists(join(sprintDir, 'PAUSE'))

/** What the user wants every agent of the sprint to know. */
export const sharedContextPath = (sprintDir: string): string => join(sprintDir, 'context', '_shared.md')

export async function readSprintFile(sprintDir: string, shown: string): Promise<string> {
  const text = await readTextIfExists(sprintPath(sprintDir))
  if (text !== undefined) return text
  throw new RalphError('SPRINT_LOAD_ERROR', 'SPRINT.yaml not found', {
    place: { file: join(shown, 'SPRINT.yaml') },
    hint: 'write it, or create one with: ralph init',
  })
}

/** Creates a new sprint folder with its SPRINT.yaml. */
export async function createSprintFolder(sprintDir: string, sprint: string): Promise<void> {
  if (exists(sprintPath(sprintDir))) {
    throw new RalphError('SPRINT_EXISTS', 'there is a sprint already', { place: { file: sprintPath(sprintDir) } })
  }
  await createFolder(sprintDir)
  await releaseState(sprintDir)
  await writeNewFile(sprintPath(sprintDir), sprint)
  await writeGitignore(sprintDir)
}

/** A new sprint in the place of a deleted one must not find its state. */
export async function releaseState(sprintDir: string): Promise<void> {
  forgetState(sprintDir)
  if (exists(statePathFile(sprintDir))) await removeFile(statePathFile(sprintDir))
}

/** Keeps transcripts and state out of the project's repository. */
export async function writeGitignore(sprintDir: string): Promise<void> {
  const file = join(sprintDir, '.gitignore')
  if (!exists(file)) await writeNewFile(file, gitignore)
}

/** Drafts of files that a killed run was about to put in place. Only for the owner of the sprint: other processes may be writing. */
export async function findLeftovers(sprintDir: string): Promise<string[]> {
  const folders = [sprintDir, join(stateFolder(sprintDir), 'journal')]
  const found = await Promise.all(
    folders.map(async (folder) => (await listFolder(folder)).map((name) => join(folder, name))),
  )
  return found.flat().filter((path) => leftoverPattern.test(path))
}

export async function removeLeftovers(sprintDir: string): Promise<string[]> {
  const found = await findLeftovers(sprintDir)
  for (const path of found) await removeFile(path)
  return found
}

/** The events that observers of a sprint saw. */
export const sprintEventsFolder = (sprintDir: string): string => join(stateFolder(sprintDir), 'events')

/** A sprint that starts over must not find the attempts of an earlier one with the same numbers. */
export async function archiveAttempts(sprintDir: string, now: number): Promise<void> {
  const names = ['attempts', 'packed', 'transcripts'].map((name) => join(stateFolder(sprintDir), name))
  for (const folder of new Set([...names, sprintEventsFolder(sprintDir), join(sprintDir, 'transcripts')])) {
    if (isFolder(folder)) await moveFile(folder, `${folder}-before-${now}`)
  }
}

/** Names in a sprint's folder that only Ralph writes. */
const ralphFiles = [
  'journal',
  'attempts',
  'transcripts',
  'requests',
  'index',
  'protected',
  'tmp',
  '.lock',
  '.gitignore',
  '.ralph-id',
]

/**
 * Returns a function that removes the links that are new since this call: Ralph must not write through them to where an agent wants something
 * written. Removes the link, not its target. Ralph's files may be links from the start: the user may keep them on another disk.
 */
export function createLinkRemover(sprintDir: string): () => Promise<void> {
  const paths = ralphFiles.map((name) => join(sprintDir, name)).filter((path) => !isLink(path))
  return async () => {
    for (const path of paths) if (isLink(path)) await removeFile(path)
  }
}

/** The project of a sprint: the folder that contains `.claude/sprints/<id>`, else the current folder. */
export function findProject(sprintDir: string, cwd: string): string {
  const sprints = dirname(sprintDir)
  const claude = dirname(sprints)
  return basename(sprints) === 'sprints' && basename(claude) === '.claude' ? dirname(claude) : cwd
}

const datePrefix = /^\d{4}-\d{2}-\d{2}_/

/** The folder's name, prefixed with the date unless it has one. */
export function defaultSprintId(sprintDir: string, now: number): string {
  const name = basename(sprintDir)
  return datePrefix.test(name) ? name : `${new Date(now).toISOString().slice(0, 10)}_${name}`
}
