import { basename, dirname, join, resolve } from 'node:path'
import { RalphError } from '../../contract/errors.ts'
import { findNearestWord } from '../../contract/text.ts'
import { exists, isFile, isFolder, listFolder, modifiedAt } from '../../platform/files/files.ts'
import { progressPath, sprintPath } from '../../storage/state/sprint-folder.ts'
import { displayPath } from '../io/display-path.ts'
import type { Io } from '../io/io.ts'

/** A sprint that the user named, or that Ralph chose. */
export type FoundSprint = {
  readonly sprintDir: string
  /** Its short name, which every command accepts. */
  readonly name: string
}

/** Chooses among the sprints of a project when the user names none; the latest one comes first. */
export type SprintFilter = (sprintDir: string) => Promise<boolean> | boolean

/**
 * Finds a sprint by nothing (the only or the latest one of this project), a name, the beginning of a name, a path, or the path of
 * its SPRINT.yaml. Names the chosen sprint on stderr if there are several.
 */
export async function findSprint(name: string | undefined, io: Io, prefer?: SprintFilter): Promise<FoundSprint> {
  if (name === undefined) return chooseLatest(io, prefer)
  return (await lookUpSprint(name, io)) ?? throwNotFound(name, io)
}

/** The sprint that this text names; undefined if there is none. */
export async function lookUpSprint(name: string, io: Io): Promise<FoundSprint | undefined> {
  const path = resolve(io.cwd, name)
  if (isFile(path) && ['SPRINT.yaml', 'PROGRESS.yaml'].includes(basename(path))) return foundAt(dirname(path), io)
  if (isFolder(path) && (isSprintFolder(path) || name.includes('/'))) return foundAt(path, io)
  const named = await findByName(name, io)
  if (named !== undefined) return foundAt(named, io)
  return isFolder(path) ? foundAt(path, io) : undefined
}

/** All sprint folders of the project, by name. */
export async function listSprintFolders(io: Io): Promise<string[]> {
  const folder = findSprintsFolder(io.cwd)
  const names = await listFolder(folder)
  return names
    .toSorted()
    .map((name) => join(folder, name))
    .filter((dir) => isFolder(dir))
}

/** The shortest name that this project's commands accept for the sprint: without its date if that is unique. */
export async function sprintName(sprintDir: string, io: Io): Promise<string> {
  if (dirname(sprintDir) !== findSprintsFolder(io.cwd)) return displayPath(sprintDir, io)
  return shortName(basename(sprintDir), await listFolder(dirname(sprintDir)))
}

/** The name without its date, unless another sprint has the same one. */
export function shortName(name: string, all: readonly string[]): string {
  const short = undatedName(name)
  return all.some((other) => other !== name && undatedName(other) === short) ? name : short
}

const foundAt = async (sprintDir: string, io: Io): Promise<FoundSprint> => ({
  sprintDir,
  name: await sprintName(sprintDir, io),
})

export const isSprintFolder = (dir: string): boolean => exists(sprintPath(dir)) || exists(progressPath(dir))

const undatedName = (name: string): string => name.replace(/^\d{4}-\d{2}-\d{2}_/, '')

/** `.claude/sprints` of this folder, or of the nearest folder above it in the same repository. */
function findSprintsFolder(cwd: string): string {
  const folders = foldersUpToRepository(cwd)
  const found = folders.find((folder) => isFolder(join(folder, '.claude', 'sprints'))) ?? cwd
  return join(found, '.claude', 'sprints')
}

/** This folder and those above it, up to the root of its repository; only this folder if there is none. */
function foldersUpToRepository(cwd: string): string[] {
  const folders = [cwd]
  for (let folder = cwd; !exists(join(folder, '.git')); folder = dirname(folder)) {
    if (folder === dirname(folder)) return [cwd]
    folders.push(dirname(folder))
  }
  return folders
}

async function chooseLatest(io: Io, prefer?: SprintFilter): Promise<FoundSprint> {
  if (isSprintFolder(io.cwd)) return foundAt(io.cwd, io)
  const all = (await listSprintFolders(io)).toSorted((a, b) => lastTouched(b) - lastTouched(a))
  const isPreferred = await Promise.all(all.map(async (dir) => (await prefer?.(dir)) ?? false))
  const chosen = all.find((_, index) => isPreferred[index]) ?? all[0]
  if (chosen === undefined) {
    throw new RalphError('SPRINT_NOT_FOUND', 'this project has no sprint', {
      hint: 'start one with: ralph run "what the agent should achieve"; or give the folder of a sprint',
    })
  }
  const found = await foundAt(chosen, io)
  if (all.length > 1 && io.printsJson !== true)
    io.printError(`sprint ${found.name}, ${chosen === all[0] ? 'the latest' : 'one'} of ${all.length}; see: ralph list`)
  return found
}

const lastTouched = (dir: string): number =>
  Math.max(modifiedAt(progressPath(dir)) ?? 0, modifiedAt(sprintPath(dir)) ?? 0)

/** An exact name wins, with or without its date; then the beginning of one, if only one sprint matches. */
async function findByName(name: string, io: Io): Promise<string | undefined> {
  if (name === '' || name.includes('/')) return undefined
  const all = await listSprintFolders(io)
  const exact = all.filter((dir) => basename(dir) === name || undatedName(basename(dir)) === name)
  if (exact.length > 0) return exact.find((dir) => basename(dir) === name) ?? newest(exact)
  const matching = all.filter((dir) => basename(dir).startsWith(name) || undatedName(basename(dir)).startsWith(name))
  if (matching.length < 2) return matching[0]
  throw new RalphError('USAGE', `"${name}" matches ${matching.length} sprints`, {
    hint: matching
      .slice(0, 5)
      .map((dir) => undatedName(basename(dir)))
      .join(', '),
  })
}

const newest = (dirs: readonly string[]): string | undefined =>
  dirs.toSorted((a, b) => lastTouched(b) - lastTouched(a))[0]

async function throwNotFound(name: string, io: Io): Promise<never> {
  if (isFile(resolve(io.cwd, name))) {
    throw new RalphError('SPRINT_NOT_FOUND', 'this file is not a SPRINT.yaml', {
      place: { file: name },
      hint: 'give the folder that contains SPRINT.yaml, or SPRINT.yaml itself',
    })
  }
  const names = (await listSprintFolders(io)).map((dir) => undatedName(basename(dir)))
  const suggestion = findNearestWord(name, names)
  const known = names.length > 0 ? 'see: ralph list' : 'create one with: ralph init'
  throw new RalphError('SPRINT_NOT_FOUND', 'there is no such sprint', {
    place: { file: name },
    hint:
      suggestion === undefined
        ? `give a name, or the folder that contains SPRINT.yaml; ${known}`
        : `did you mean ${suggestion}?`,
  })
}

/** `[sprint] [value]`: a single argument is the value if `isValue` says so. */
export async function findSprintAndValue(
  [first, second]: readonly string[],
  isValue: (text: string) => Promise<boolean> | boolean,
  io: Io,
  prefer?: SprintFilter,
): Promise<FoundSprint & { readonly value: string | undefined }> {
  const isAlone = first !== undefined && second === undefined && (await isValue(first))
  const found = await findSprint(isAlone ? undefined : first, io, prefer)
  return { ...found, value: isAlone ? first : second }
}

/** A single argument of a command that takes a text: the text, unless it names a sprint. */
export const isNoSprint =
  (io: Io) =>
  async (text: string): Promise<boolean> =>
    /\s|^\d{1,3}$/.test(text) || (await lookUpSprint(text, io)) === undefined
