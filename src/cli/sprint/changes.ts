import { resolve } from 'node:path'
import type { Progress } from '../../contract/progress.ts'
import { exists } from '../../platform/files/files.ts'
import { findProject } from '../../storage/state/sprint-folder.ts'
import type { Io } from '../io/io.ts'

/** The folder the sprint works in: its worktree while there is one, otherwise the project. */
export function resolveSprintWorkspace(sprintDir: string, { sprintId, worktree }: Progress, io: Io) {
  const project = findProject(sprintDir, io.cwd)
  const tree = resolve(project, worktree?.path ?? '.')
  return { project: exists(tree) ? tree : project, sprintDir, sprintId }
}
