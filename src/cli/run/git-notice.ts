import { readGitStatus, type GitStatus } from '../../storage/git/status.ts'
import { pluralize } from '../../words/counts.ts'

/** `branch main, 2 uncommitted files: checkpoints include them` */
export const describeGitStatus = ({ branch, changed }: GitStatus): string =>
  `${branch === undefined ? 'detached HEAD' : `branch ${branch}`}${changed === 0 ? '' : `, ${pluralize(changed, 'uncommitted file')}: checkpoints include ${changed === 1 ? 'it' : 'them'}`}`

/** What a user should know about the repository before the agent starts; undefined if there is nothing. Never rejects. */
export async function readGitNotice(folder: string): Promise<string | undefined> {
  const status = await readGitStatus(folder)
  if (status === undefined) return 'no git repository: no checkpoints, so no diff and no restore'
  const isPlain = status.branch !== undefined && status.changed === 0
  return isPlain ? undefined : `git: ${describeGitStatus(status)}`
}
