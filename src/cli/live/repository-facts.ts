import type { Progress } from '../../contract/progress.ts'
import { git } from '../../platform/git.ts'
import { diffIterations } from '../../storage/git/restore.ts'
import type { Io } from '../io/io.ts'
import { resolveSprintWorkspace } from '../sprint/changes.ts'

/** What the live view shows of the repository. `branch` is undefined for a detached HEAD. */
export type RepositoryFacts = {
  readonly branch: string | undefined
  readonly files: number
  readonly added: number
  readonly removed: number
}

export interface RepositoryWatch {
  /** Undefined until it is read, and outside of git. */
  readonly current: () => RepositoryFacts | undefined
  readonly refresh: () => void
}

/** Reads on request, one reading at a time. Compares checkpoints only, so that no filter of the repository runs. */
export function createRepositoryWatch(sprintDir: string, progress: () => Progress, io: Io): RepositoryWatch {
  let current: RepositoryFacts | undefined
  let isReading = false
  const refresh = () => {
    if (isReading) return
    isReading = true
    void readRepositoryFacts(sprintDir, progress(), io)
      .then((read) => (current = read))
      .catch(() => {})
      .finally(() => (isReading = false))
  }
  refresh()
  return { current: () => current, refresh }
}

async function readRepositoryFacts(sprintDir: string, progress: Progress, io: Io): Promise<RepositoryFacts> {
  const workspace = resolveSprintWorkspace(sprintDir, progress, io)
  await git({ cwd: workspace.project }, 'rev-parse', '--git-dir')
  const range = { from: 0, to: progress.stats.currentIteration }
  const [branch, counts] = await Promise.all([
    git({ cwd: workspace.project }, 'symbolic-ref', '--quiet', '--short', 'HEAD').catch(() => undefined),
    diffIterations(workspace, range, ['--numstat', '--no-renames']).catch(() => ''),
  ])
  const rows = counts.split('\n').flatMap((line) => {
    const [added = '', removed = '', path = ''] = line.split('\t')
    return path === '' ? [] : [{ added: Number(added) || 0, removed: Number(removed) || 0 }]
  })
  return {
    branch,
    files: rows.length,
    added: rows.reduce((sum, row) => sum + row.added, 0),
    removed: rows.reduce((sum, row) => sum + row.removed, 0),
  }
}
