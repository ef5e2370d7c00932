import { join } from 'node:path'
import { removeFile } from '../../platform/files/files.ts'
import { git } from '../../platform/git.ts'
import { readHead, resolveGitFolders, type Repository } from './repositories.ts'
import { rewriteWorkTree, writeWorkTree, type StoredTree } from './work-tree.ts'

export type Checkpoint = { readonly name: string; readonly message: string }

/** `isNew`: something changed since the last commit. */
export type StoredCheckpoint = { readonly commit: string; readonly isNew: boolean; readonly skipped: readonly string[] }

/** Commits the work tree under Ralph's refs unless nothing changed since the last commit. HEAD and branch stay. */
export async function commitCheckpoint(
  repository: Repository,
  checkpoint: Checkpoint,
  known?: StoredTree,
): Promise<StoredCheckpoint> {
  try {
    return await commitTree(repository, checkpoint, known ?? (await writeWorkTree(repository)))
  } catch (error) {
    if (!(error instanceof Error && lostObject.test(error.message))) throw error
    return commitTree(repository, checkpoint, await rewriteWorkTree(repository))
  }
}

const lostObject = /invalid object|not a valid|bad object|unable to read|error building trees/

async function commitTree(
  repository: Repository,
  { name, message }: Checkpoint,
  { tree, skipped }: StoredTree,
): Promise<StoredCheckpoint> {
  const last = await readLastCheckpoint(repository)
  const isUnchanged = last?.tree === tree
  const marker = /^\d+$/.test(name) ? undefined : movedMarker
  if (isUnchanged) {
    if (last.isMoved && !marker) await updateRefs(repository, { [name]: last.commit, [movedMarker]: undefined })
    return { commit: last.commit, isNew: false, skipped }
  }
  const parent = last?.commit ?? (await readHead(repository))
  const parents = parent === 'unborn' ? [] : ['-p', parent]
  const commit = await git({ cwd: repository.root, input: message }, 'commit-tree', tree, ...parents)
  await updateRefs(repository, { [name]: commit, last: commit, [movedMarker]: marker && commit })
  return { commit, isNew: true, skipped }
}

/** A ref that exists after a restore, when the last commit is not that of the newest iteration. */
const movedMarker = 'restored'

/** Continues from another commit than that of the newest iteration. */
export const moveLastCheckpoint = (repository: Repository, commit: string): Promise<void> =>
  updateRefs(repository, { last: commit, [movedMarker]: commit })

async function readLastCheckpoint({ root, refs }: Repository) {
  const format = '--format=%(objectname) %(tree) %(refname)'
  const listed = await git({ cwd: root }, 'for-each-ref', format, `${refs}/last`, `${refs}/${movedMarker}`)
  const [last, moved] = ['last', movedMarker].map((name) =>
    listed.split('\n').find((line) => line.endsWith(`/${name}`)),
  )
  const [commit = '', tree = ''] = (last ?? '').split(' ')
  return commit === '' ? undefined : { commit, tree, isMoved: moved !== undefined }
}

/** Sets and deletes refs in one transaction. A ref of Ralph's has one writer, so a lock on it is left over from a killed run. */
export async function updateRefs(
  { root, refs }: Repository,
  commits: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  const { common } = resolveGitFolders(root)
  for (const name of Object.keys(commits)) await removeFile(join(common, `${refs}/${name}.lock`))
  const lines = Object.entries(commits).map(([name, commit]) =>
    commit === undefined ? `delete ${refs}/${name}\n` : `update ${refs}/${name} ${commit}\n`,
  )
  await git({ cwd: root, input: lines.join('') }, 'update-ref', '--stdin')
}

/** Sets the checkpoints of an earlier sprint with the same id aside: they may be the only copy of a file. */
export async function resetCheckpoints(repository: Repository, now: number): Promise<StoredCheckpoint> {
  const { root, refs } = repository
  const old = await git({ cwd: root }, 'for-each-ref', '--format=%(refname) %(objectname)', `${refs}/`)
  const moves = old.split('\n').flatMap((line) => {
    const [name = '', id = ''] = line.split(' ')
    return id === '' ? [] : [`create ${name.replace(refs, `${refs}-before-${now}`)} ${id}`, `delete ${name}`]
  })
  if (moves.length > 0) await git({ cwd: root, input: `${moves.join('\n')}\n` }, 'update-ref', '--stdin')
  return commitCheckpoint(repository, { name: '0', message: 'Before the first iteration' })
}

/** The checkpoint of an iteration, or the last one before it if the iteration changed nothing. */
export const findCheckpointAt = async (repository: Repository, iteration: number): Promise<string | undefined> =>
  chooseCheckpoint(sortCheckpoints(await listCheckpoints(repository)), iteration)

type NumberedCheckpoint = { readonly number: number; readonly commit: string }

/** Those of iterations, oldest first. */
export const sortCheckpoints = (
  listed: readonly { readonly name: string; readonly commit: string }[],
): readonly NumberedCheckpoint[] =>
  listed
    .map(({ name, commit }) => ({ number: Number(name), commit }))
    .filter(({ number }) => Number.isInteger(number))
    .toSorted((a, b) => a.number - b.number)

export const chooseCheckpoint = (known: readonly NumberedCheckpoint[], iteration: number): string | undefined =>
  known.findLast(({ number }) => number <= iteration)?.commit

export async function listCheckpoints({ root, refs }: Repository) {
  const listed = await git({ cwd: root }, 'for-each-ref', '--format=%(refname) %(objectname)', `${refs}/`)
  return listed
    .split('\n')
    .map((line) => line.split(' '))
    .map(([ref = '', commit = '']) => ({ name: ref.slice(refs.length + 1), commit }))
    .filter(({ commit }) => commit !== '')
}
