import { join, resolve } from 'node:path'
import { copyFileTo, createFolder, exists, isFile, listFolder } from '../../platform/files/files.ts'
import { defaultSprintId, createSprintFolder, releaseState } from '../../storage/state/sprint-folder.ts'
import type { Io } from '../io/io.ts'
import { excludeFromGit } from './exclude-from-git.ts'
import {
  defaultGoalLimits,
  renderSprintYaml,
  slugFromGoal,
  type LimitInputs,
  type SprintInputs,
} from './sprint-files.ts'

export const newSprintFolder = (name: string, io: Io): string =>
  resolve(io.cwd, '.claude', 'sprints', defaultSprintId(name, io.now()))

/** Creates `.claude/sprints/<date>_<name>` in the current project. */
export async function createSprint(name: string, text: string, io: Io): Promise<string> {
  const folder = newSprintFolder(name, io)
  await createSprintFolder(folder, text)
  if (await excludeFromGit(folder)) io.printError('git status ignores .claude/sprints now (.git/info/exclude)')
  return folder
}

/** Creates a sprint for a goal, with the default limits of a goal unless others are given. */
export const createGoalSprint = (inputs: SprintInputs, io: Io) =>
  createSprint(findFreeName(slugFromGoal(inputs.goal), io), renderGoalSprint(inputs), io)

export const renderGoalSprint = (inputs: SprintInputs): string =>
  renderSprintYaml({ ...inputs, limits: { ...defaultGoalLimits, ...dropAbsent(inputs.limits) } })

const dropAbsent = (limits: LimitInputs = {}): LimitInputs =>
  Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined))

/** The same goal may be used twice a day. */
export function findFreeName(name: string, io: Io): string {
  for (let n = 1; ; n++) {
    const candidate = n === 1 ? name : `${name}-${n}`
    if (!exists(newSprintFolder(candidate, io))) return candidate
  }
}

/** Creates a folder beside the old one with the user's files and none of the history. */
export async function createFreshFolder(sprintDir: string): Promise<string> {
  const folder = findFreeFolder(sprintDir)
  await releaseState(folder)
  await createFolder(folder)
  for (const name of (await listFolder(sprintDir)).filter(
    (file) => /^[A-Z]+\.yaml$/.test(file) && file !== 'PROGRESS.yaml',
  )) {
    if (isFile(join(sprintDir, name))) await copyFileTo(join(sprintDir, name), join(folder, name))
  }
  return folder
}

function findFreeFolder(sprintDir: string): string {
  for (let n = 2; ; n++) {
    const folder = `${sprintDir}-${n}`
    if (!exists(folder)) return folder
  }
}
