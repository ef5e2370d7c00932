import { join } from 'node:path'
import { RalphError } from '../../contract/errors.ts'
import { exists, existsItself } from '../../platform/files/files.ts'
import { git } from '../../platform/git.ts'
import { decodePath } from './byte-paths.ts'
import { storeGit } from './checkpoint-store.ts'
import { listCheckpoints } from './checkpoints.ts'
import { ensurePinned } from './pin-checkpoints.ts'
import {
  findRepositories,
  readHead,
  resolveGitFolders,
  type Repository,
  type WorkspaceOptions,
} from './repositories.ts'
import { writeWorkTree } from './work-tree.ts'

/** A path that two trees disagree about, with its content in the second one. Paths are bytes, one per character. */
export type TreeChange = {
  readonly path: string
  readonly how: 'added' | 'changed' | 'removed'
  readonly mode: string
  readonly blob: string
}

/** What a sprint did to one repository, seen from the commit that is checked out now. */
export type SprintWork = {
  readonly repository: Repository
  /** A commit, or `unborn`. */
  readonly head: string
  /** Undefined: detached HEAD. */
  readonly branch: string | undefined
  /** The commit that the sprint started from, or `unborn`. */
  readonly start: string
  /** The checkpoint with the work. */
  readonly result: string
  /** Changes of the sprint that HEAD does not contain yet. */
  readonly changes: readonly TreeChange[]
  /** Paths among them that the user had changed before the sprint and not committed. */
  readonly mixed: readonly string[]
  /** Uncommitted changes of the user from before the sprint that it did not touch. */
  readonly untouched: readonly string[]
  /** Paths that a later commit changed in another way. */
  readonly conflicts: readonly string[]
  /** Paths whose content git converts by a filter, which Ralph never runs. */
  readonly filtered: readonly string[]
}

/** The work of a sprint in each repository that it changed, from its checkpoints. */
export async function readSprintWork(options: WorkspaceOptions): Promise<SprintWork[]> {
  const found = await Promise.all((await findRepositories(options)).map(readWork))
  const works = found.filter((work) => work !== undefined)
  if (works.length > 0) return works
  throw new RalphError('CHECKPOINT_NOT_FOUND', 'the sprint has no checkpoint, so Ralph does not know its changes', {
    hint: 'checkpoints need a git repository and "checkpoint: true"',
  })
}

async function readWork(repository: Repository): Promise<SprintWork | undefined> {
  const { root } = repository
  const checkpoints = await listCheckpoints(repository)
  const first = checkpoints.find(({ name }) => name === '0')?.commit
  const result = checkpoints.find(({ name }) => name === 'last')?.commit
  // A repository that the agent created has no state from before the sprint.
  if (first === undefined || result === undefined) return undefined
  if (!exists(resolveGitFolders(root).common)) throw deletedRepository(root)
  const unpinned = await ensurePinned(repository, ['0', 'last'])
  if (unpinned !== undefined) throw otherRepository(root, unpinned)
  const head = await readHead(repository)
  const start = await git({ cwd: root }, 'rev-parse', '--verify', '--quiet', `${first}^`).catch(() => 'unborn')
  const compare = (from: string, to: string) => compareTrees(repository, from, to)
  const newest = checkpoints
    .filter(({ name }) => /^\d+$/.test(name))
    .toSorted((a, b) => Number(b.name) - Number(a.name))[0]
  if (newest && (await compare(newest.commit, result)).length > 0) throw restoredWork(newest.name)
  const [all, missing, moved, later, before] = await Promise.all([
    compare(first, result),
    compare(head, result).then(pathSet),
    compare(head, first).then(pathSet),
    compare(start, head).then(pathSet),
    compare(start, first),
  ])
  const work = all.filter(({ path }) => missing.has(path))
  const touched = pathSet(all)
  const earlier = before.filter((change) => moved.has(change.path) && !touched.has(change.path) && isReal(root, change))
  const converted = await findConverted(repository, result, [...work, ...earlier])
  return {
    repository,
    head,
    branch: await git({ cwd: root }, 'symbolic-ref', '--quiet', '--short', 'HEAD').catch(() => undefined),
    start,
    result,
    changes: work,
    mixed: paths(work.filter(({ path }) => moved.has(path) && !later.has(path) && !converted.has(path))),
    untouched: paths(earlier.filter(({ path }) => !converted.has(path))),
    conflicts: paths(work.filter(({ path }) => moved.has(path) && later.has(path))),
    filtered: paths(work.filter(({ path }) => converted.has(path))),
  }
}

const deletedRepository = (root: string): RalphError =>
  new RalphError('GIT_FAILED', 'the repository was deleted, so there is no branch for a commit', {
    place: { file: root },
    hint: 'bring back its .git folder; "ralph diff" shows the changes without it',
  })

const otherRepository = (root: string, reason: string): RalphError =>
  new RalphError('GIT_FAILED', reason, {
    place: { file: root },
    hint: '"ralph diff" shows the changes; commit the files with git',
  })

/** The evidence of a sprint is about the files that it ended with. */
const restoredWork = (iteration: string): RalphError =>
  new RalphError(
    'WORK_RESTORED',
    `you restored an earlier checkpoint: these are not the files of iteration ${iteration}`,
    {
      hint: `bring them back: ralph restore --undo or ralph restore <sprint> ${iteration}; or commit the files here with git`,
    },
  )

/** Checkpoints lack files that are tracked although they are ignored; such a file was not removed. */
const isReal = (root: string, { how, path }: TreeChange): boolean =>
  how !== 'removed' || !existsItself(join(root, decodePath(path)))

const paths = (changes: readonly TreeChange[]): string[] => changes.map(({ path }) => decodePath(path))
const pathSet = (changes: readonly TreeChange[]): ReadonlySet<string> => new Set(changes.map(({ path }) => path))

const kinds: Readonly<Record<string, TreeChange['how']>> = { A: 'added', D: 'removed' }

/** The differences of two commits without the paths that checkpoints never contain. */
export async function compareTrees({ root, excluded }: Repository, from: string, to: string): Promise<TreeChange[]> {
  const [a, b] = await Promise.all([from, to].map((commit) => resolveTree(root, commit)))
  const args = ['diff-tree', '-r', '-z', '--raw', '--no-renames', '--no-abbrev', '--no-ext-diff', a ?? '', b ?? '']
  return parseRawDiff(await git({ cwd: root, isBinary: true }, ...args)).filter(
    ({ path }) => !excluded.some((folder) => decodePath(path).startsWith(`${folder}/`)),
  )
}

export function parseRawDiff(text: string): TreeChange[] {
  const parts = text.split('\0')
  const changes: TreeChange[] = []
  for (let number = 0; number + 1 < parts.length; number += 2) {
    const [, mode = '', , blob = '', how = ''] = (parts[number] ?? '').split(' ')
    changes.push({ path: parts[number + 1] ?? '', how: kinds[how] ?? 'changed', mode, blob })
  }
  return changes
}

/** The tree of a commit; the empty one before the first commit. */
export const resolveTree = (root: string, commit: string): Promise<string> =>
  commit === 'unborn'
    ? git({ cwd: root }, 'hash-object', '-w', '-t', 'tree', '--stdin')
    : git({ cwd: root }, 'rev-parse', '--verify', `${commit}^{tree}`)

/**
 * Paths that `git add` would convert: by a filter, an encoding, or its line endings. Checkpoints hold the bytes of the files, and
 * Ralph runs no filter, because an agent may have configured it.
 */
async function findConverted(
  { root }: Repository,
  result: string,
  changes: readonly TreeChange[],
): Promise<ReadonlySet<string>> {
  if (changes.length === 0) return new Set()
  const input = changes.map(({ path }) => `${path}\0`).join('')
  const names = ['filter', 'ident', 'working-tree-encoding', 'text', 'eol']
  const listed = await git({ cwd: root, input, isBinary: true }, 'check-attr', '-z', '--stdin', ...names)
  const autocrlf = await git({ cwd: root }, 'config', '--get', 'core.autocrlf').catch(() => 'false')
  const parts = listed.split('\0')
  const converted = new Set<string>()
  const lineEndings = new Set<string>(autocrlf === 'false' ? [] : changes.map(({ path }) => path))
  for (let number = 0; number + 2 < parts.length; number += 3) {
    const [path = '', name = '', value = ''] = parts.slice(number, number + 3)
    if (value === 'unspecified' || value === 'unset') continue
    if (name === 'text' || name === 'eol') lineEndings.add(path)
    else converted.add(path)
  }
  const withCr = lineEndings.size === 0 ? new Set<string>() : await findCarriageReturns(root, result)
  return new Set([...converted, ...[...lineEndings].filter((path) => withCr.has(path))])
}

async function findCarriageReturns(root: string, commit: string): Promise<ReadonlySet<string>> {
  const args = ['grep', '--no-textconv', '--full-name', '-z', '-l', '-I', '-F', '-e', '\r', commit]
  // Exit code 1: no file has one.
  const listed = await git({ cwd: root, isBinary: true }, ...args).catch(() => '')
  return new Set(listed.split('\0').map((name) => name.trimStart().slice(commit.length + 1)))
}

/** Added and removed lines of each change. */
export async function countChangedLines({ repository: { root }, head, result, changes }: SprintWork) {
  const args = ['diff-tree', '-r', '-z', '--numstat', '--no-renames', '--no-ext-diff', '--no-textconv']
  const trees = await Promise.all([head, result].map((commit) => resolveTree(root, commit)))
  const counts = await git({ cwd: root, isBinary: true }, ...args, ...trees)
  const byPath = new Map(
    counts.split('\0').map((line) => {
      const [added = '', removed = '', path = ''] = line.split('\t')
      return [path, { added: Number(added) || 0, removed: Number(removed) || 0 }] as const
    }),
  )
  return changes.map(({ path }) => ({ path: decodePath(path), ...(byPath.get(path) ?? { added: 0, removed: 0 }) }))
}

/** Paths whose files differ from the last checkpoint. */
export async function listLaterEdits({ repository, result }: SprintWork): Promise<string[]> {
  const { tree } = await writeWorkTree(repository)
  const args = ['diff-tree', '-r', '-z', '--raw', '--no-renames', '--no-abbrev', '--no-ext-diff', result, tree]
  return paths(parseRawDiff(await storeGit(repository, { args, isBinary: true })))
}

const unfinished: Readonly<Record<string, string>> = {
  MERGE_HEAD: 'a merge',
  CHERRY_PICK_HEAD: 'a cherry-pick',
  REVERT_HEAD: 'a revert',
  'rebase-merge': 'a rebase',
  'rebase-apply': 'a rebase',
}

/** What the user has begun in this repository and must end first. */
export function findUnfinishedOperation({ root }: Repository): string | undefined {
  const { own } = resolveGitFolders(root)
  return Object.entries(unfinished).find(([name]) => exists(join(own, name)))?.[1]
}
