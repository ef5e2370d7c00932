import { RalphError } from '../../contract/errors.ts'
import { git, type GitAuthor } from '../../platform/git.ts'
import { assertCommittable, commitWork, type CommitTarget, type CommittedWork } from './commit-work.ts'
import type { WorkspaceOptions } from './repositories.ts'
import { countChangedLines, listLaterEdits, readSprintWork, type SprintWork } from './sprint-work.ts'

export type ChangedLines = { readonly path: string; readonly added: number; readonly removed: number }

/** The work in one repository, as a user decides about it. `edited`: paths that changed after the last checkpoint. */
export type FinishableWork = {
  readonly work: SprintWork
  readonly files: readonly ChangedLines[]
  readonly edited: readonly string[]
}

/** What a commit of the sprint would contain, in each repository. */
export async function readFinishableWork(options: WorkspaceOptions): Promise<FinishableWork[]> {
  const works = await readSprintWork(options)
  return Promise.all(
    works.map(async (work) => ({
      work,
      files: await countChangedLines(work),
      edited: await listLaterEdits(work),
    })),
  )
}

export type FinishOptions = {
  readonly sprintDir: string
  readonly message: string
  readonly target: CommitTarget
  /** For example GIT_AUTHOR_NAME. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Used where git knows no identity. */
  readonly author?: GitAuthor | undefined
}

/** In all repositories or in none, as far as Ralph can know before it writes. */
export async function commitFinishedWork(
  works: readonly FinishableWork[],
  { sprintDir, message, target, env, author }: FinishOptions,
): Promise<CommittedWork[]> {
  const todo = works.filter(({ work }) => work.changes.length > 0)
  for (const { work } of todo) await assertCommittable(work, target)
  const committed: CommittedWork[] = []
  for (const { work } of todo) {
    const by = (await readGitIdentity(work, env)) ?? author
    if (!by) throw unknownAuthor()
    committed.push(await commitWork(work, { sprintDir, message, author: by, target }))
  }
  return committed
}

/** The commit with this message that the target has already: of a request that is repeated. */
export async function findFinishedWork({ repository: { root } }: SprintWork, target: CommitTarget, message: string) {
  const ref = target.kind === 'branch' ? `refs/heads/${target.name}` : 'HEAD'
  const commit = await git({ cwd: root }, 'rev-parse', '--verify', '--quiet', `${ref}^{commit}`).catch(() => undefined)
  if (commit === undefined) return undefined
  const text = await git({ cwd: root }, 'log', '-1', '--format=%B', commit)
  return text.trim() === message.trim() ? commit : undefined
}

/** The user's identity, as git reads it. */
async function readGitIdentity(
  { repository: { root } }: SprintWork,
  env: FinishOptions['env'],
): Promise<GitAuthor | undefined> {
  const read = (name: string) => git({ cwd: root }, 'config', '--get', name).catch(() => '')
  const name = env['GIT_AUTHOR_NAME'] ?? (await read('user.name'))
  const email = env['GIT_AUTHOR_EMAIL'] ?? env['EMAIL'] ?? (await read('user.email'))
  return name !== '' && email !== '' ? { name, email } : undefined
}

const unknownAuthor = () =>
  new RalphError('GIT_FAILED', 'git does not know who you are', {
    hint: 'git config --global user.name "…"; git config --global user.email "…"',
  })
