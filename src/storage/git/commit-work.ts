import { join } from 'node:path'
import { RalphError } from '../../contract/errors.ts'
import { createFolder, removeFile } from '../../platform/files/files.ts'
import { stateFolder } from '../../platform/files/state-folder.ts'
import { git, type GitAuthor } from '../../platform/git.ts'
import { compareTrees, findUnfinishedOperation, parseRawDiff, resolveTree, type SprintWork } from './sprint-work.ts'
import { decodePath } from './byte-paths.ts'

export type CommitTarget = { readonly kind: 'head' } | { readonly kind: 'branch'; readonly name: string }

export type CommitOptions = {
  readonly sprintDir: string
  readonly message: string
  readonly author: GitAuthor
  readonly target: CommitTarget
}

/** `staged`: paths that the user had staged in another version, which stay in the index. */
export type CommittedWork = { readonly commit: string; readonly staged: readonly string[] }

/**
 * Commits the work of a sprint without a hook, filter, monitor or signature program: an agent may have configured them. A commit
 * on HEAD also updates the index at the committed paths, so that `git status` shows them as clean; files never change.
 */
export async function commitWork(work: SprintWork, options: CommitOptions): Promise<CommittedWork> {
  const { target } = options
  await assertCommittable(work, target)
  const commit = await createCommit(work, options)
  if (target.kind === 'branch') {
    await updateRef(work, `refs/heads/${target.name}`, commit, '')
    return { commit, staged: [] }
  }
  // The index first: if Ralph is killed in between, the work is staged and not lost.
  const staged = await updateUserIndex(work)
  await updateRef(work, 'HEAD', commit, work.head === 'unborn' ? '' : work.head)
  return { commit, staged }
}

/** Throws before anything is written if one of the works cannot be committed. */
export async function assertCommittable(work: SprintWork, target: CommitTarget): Promise<void> {
  const { repository, conflicts, filtered } = work
  const place = { file: repository.root }
  if (filtered.length > 0) {
    throw new RalphError('GIT_FAILED', `git converts ${listNames(filtered)}, and Ralph runs no filter`, {
      place,
      hint: 'commit the work yourself: git add --all && git commit',
    })
  }
  if (target.kind === 'branch') return assertNewBranch(work, target.name)
  const operation = findUnfinishedOperation(repository)
  if (operation !== undefined) {
    throw new RalphError('GIT_FAILED', `${operation} is in progress`, { place, hint: 'end it first, or use --branch' })
  }
  if (conflicts.length > 0) {
    throw new RalphError('GIT_FAILED', `a later commit also changed ${listNames(conflicts)}`, {
      place,
      hint: 'use --branch NAME: the branch starts where the sprint started, and you can merge it',
    })
  }
}

const listNames = (names: readonly string[]): string =>
  `${names.slice(0, 3).join(', ')}${names.length > 3 ? ` and ${names.length - 3} more` : ''}`

async function assertNewBranch({ repository: { root } }: SprintWork, name: string): Promise<void> {
  const isValid = await git({ cwd: root }, 'check-ref-format', `refs/heads/${name}`).then(
    () => !name.startsWith('-'),
    () => false,
  )
  if (!isValid) throw new RalphError('USAGE', `finish: "${name}" is not a branch name`)
  const known = await git({ cwd: root }, 'rev-parse', '--verify', '--quiet', `refs/heads/${name}`).catch(() => '')
  if (known !== '')
    throw new RalphError('USAGE', `finish: the branch ${name} exists already`, { hint: 'choose another name' })
}

/** On HEAD, or on the start of the sprint if a later commit contradicts it. */
async function createCommit(work: SprintWork, { sprintDir, message, author }: CommitOptions): Promise<string> {
  const { repository, head, start, conflicts, result } = work
  const { root } = repository
  const parent = conflicts.length > 0 ? start : head
  const changes = parent === head ? work.changes : await compareTrees(repository, start, result)
  const index = join(stateFolder(sprintDir), 'index', `finish-${process.pid}`)
  await createFolder(join(index, '..'))
  try {
    await git({ cwd: root, index }, 'read-tree', await resolveTree(root, parent))
    const input = indexLines(changes)
    await git({ cwd: root, index, input, isBinary: true }, 'update-index', '-z', '--index-info')
    const tree = await git({ cwd: root, index }, 'write-tree')
    const parents = parent === 'unborn' ? [] : ['-p', parent]
    return await git({ cwd: root, input: message, author }, 'commit-tree', tree, ...parents)
  } finally {
    await removeFile(index)
  }
}

/** Removals first: a file may replace a folder. */
function indexLines(changes: SprintWork['changes']): string {
  const removed = changes.filter(({ how }) => how === 'removed')
  const kept = changes.filter(({ how }) => how !== 'removed')
  return [
    ...removed.map(({ path, blob }) => `0 ${blob}\t${path}\0`),
    ...kept.map(({ path, mode, blob }) => `${mode} ${blob}\t${path}\0`),
  ].join('')
}

/** Puts the committed content into the user's index, except where the user staged something else. */
async function updateUserIndex({ repository: { root }, head, changes }: SprintWork): Promise<string[]> {
  const args = ['diff-index', '--cached', '-r', '-z', '--raw', '--no-renames', '--no-abbrev', '--no-ext-diff']
  const listed = await git({ cwd: root, isBinary: true }, ...args, await resolveTree(root, head))
  const staged = new Map(parseRawDiff(listed).map((change) => [change.path, change]))
  const isOther = ({ path, blob }: SprintWork['changes'][number]): boolean =>
    staged.has(path) && staged.get(path)?.blob !== blob
  const input = indexLines(changes.filter((change) => !isOther(change)))
  await git({ cwd: root, input, isBinary: true }, 'update-index', '-z', '--index-info')
  return changes.filter(isOther).map(({ path }) => decodePath(path))
}

/** `before`: the value that the ref must have; empty if it must not exist. */
const updateRef = ({ repository: { root } }: SprintWork, ref: string, commit: string, before: string) =>
  git({ cwd: root }, 'update-ref', '--create-reflog', '-m', 'ralph finish', ref, commit, before)
