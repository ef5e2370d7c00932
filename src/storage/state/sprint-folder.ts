import { basename, dirname, join, resolve } from 'node:path'
import { RalphError } from '../../contract/errors.ts'
import { leftoverPattern } from '../../platform/files/atomic-file.ts'
import {
  exists,
  isFolder,
  isLink,
  listFolder,
  makeFolder,
  moveFile,
  readTextIfThere,
  removeFile,
  writeNewFile,
} from '../../platform/files/files.ts'
import type { AgentRunner } from '../../runtime/ports.ts'

/** Only what a person wrote belongs into the project's repository. */
const gitignore = '*\n!SPRINT.yaml\n'

export const sprintPath = (sprintDir: string): string => join(sprintDir, 'SPRINT.yaml')

export const progressPath = (sprintDir: string): string => join(sprintDir, 'PROGRESS.yaml')

/** The folder of a sprint as given on the command line; absolute, and there. */
export function openSprintFolder(given: string): string {
  const sprintDir = resolve(given)
  if (isFolder(sprintDir)) return sprintDir
  throw new RalphError('SPRINT_NOT_FOUND', 'there is no such sprint folder', {
    place: { file: given },
    hint: 'give the folder that holds SPRINT.yaml, or make one with: ralph init',
  })
}

/** The text of SPRINT.yaml. */
export async function readSprint(sprintDir: string, shown: string): Promise<string> {
  const text = await readTextIfThere(sprintPath(sprintDir))
  if (text !== undefined) return text
  throw new RalphError('SPRINT_LOAD_ERROR', 'SPRINT.yaml not found', {
    place: { file: join(shown, 'SPRINT.yaml') },
    hint: 'write it, or make one with: ralph init',
  })
}

/** Makes a new sprint folder with its SPRINT.yaml. */
export async function makeSprintFolder(sprintDir: string, sprint: string): Promise<void> {
  if (exists(sprintPath(sprintDir))) {
    throw new RalphError('SPRINT_EXISTS', 'there is a sprint already', { place: { file: sprintPath(sprintDir) } })
  }
  await makeFolder(sprintDir)
  await writeNewFile(sprintPath(sprintDir), sprint)
  await hideState(sprintDir)
}

/** Keeps transcripts and state out of the project's repository. */
export async function hideState(sprintDir: string): Promise<void> {
  const file = join(sprintDir, '.gitignore')
  if (!exists(file)) await writeNewFile(file, gitignore)
}

/** Files that a run which was killed was about to put in place. Only for the owner of the sprint: others may be writing. */
export async function findLeftovers(sprintDir: string): Promise<string[]> {
  const folders = [sprintDir, join(sprintDir, 'journal')]
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

/** A sprint that begins anew must not find the results of another one of the same numbers. */
export async function setAttemptsAside(sprintDir: string, now: number): Promise<void> {
  for (const name of ['attempts', 'transcripts']) {
    const folder = join(sprintDir, name)
    if (isFolder(folder)) await moveFile(folder, `${folder}-before-${now}`)
  }
}

/** What is written in a sprint's folder by Ralph alone. */
const ralphsOwn = ['journal', 'attempts', 'transcripts', 'requests', 'index', 'protected', 'tmp', '.lock', '.gitignore']

/** Those of Ralph's own files and folders that are links: a person may keep them on another disk. */
const linksIn = (sprintDir: string): string[] =>
  ralphsOwn.map((name) => join(sprintDir, name)).filter((path) => isLink(path))

/**
 * The same agents, after whose work nothing is written through a link that has come meanwhile: it leads to where an agent wants
 * something written. The link goes, not what it leads to.
 */
export function withoutNewLinks(sprintDir: string): (agent: AgentRunner) => AgentRunner {
  const known = linksIn(sprintDir)
  return (agent) => ({
    ...agent,
    run: async (request, signal) => {
      try {
        return await agent.run(request, signal)
      } finally {
        for (const link of linksIn(sprintDir)) if (!known.includes(link)) await removeFile(link)
      }
    },
  })
}

/** The project that a sprint works on: what holds `.claude/sprints/<id>`, else the current folder. */
export function projectOf(sprintDir: string, cwd: string): string {
  const sprints = dirname(sprintDir)
  const claude = dirname(sprints)
  return basename(sprints) === 'sprints' && basename(claude) === '.claude' ? dirname(claude) : cwd
}

const dated = /^\d{4}-\d{2}-\d{2}_/

/** The folder's name with the date in front, unless it has one. */
export function defaultSprintId(sprintDir: string, now: number): string {
  const name = basename(sprintDir)
  return dated.test(name) ? name : `${new Date(now).toISOString().slice(0, 10)}_${name}`
}
