import { resolve } from 'node:path'
import { RalphError } from '../../contract/errors.ts'
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

/** The branch with the work of a sprint whose worktree Ralph has removed; undefined if the files are still there. */
export const removedWorktreeBranch = ({ worktree, worktreeState }: Progress): string | undefined =>
  worktreeState?.cleanedUp === true ? worktree?.branch : undefined

/** Like `resolveSprintWorkspace`, for what needs the files of the sprint and its checkpoints. */
export function requireSprintWorkspace(sprintDir: string, progress: Progress, io: Io) {
  const branch = removedWorktreeBranch(progress)
  if (branch === undefined) return resolveSprintWorkspace(sprintDir, progress, io)
  throw new RalphError(
    'CHECKPOINT_NOT_FOUND',
    `the worktree of this sprint is removed; its work is on branch ${branch}`,
    {
      hint: `see it with: git diff HEAD...${branch}; bring it here with: git merge ${branch}`,
    },
  )
}
