import { join } from 'node:path'
import { hasRef, readRef, writeCommitObject, type RefChanges } from '../../platform/files/git-files.ts'
import type { GitOptions } from '../../platform/git.ts'
import { cutHistory, hasStore, storeGit, storeOptions } from './checkpoint-store.ts'
import { hasUserRefs, openStore } from './import-checkpoints.ts'
import { changeStoreRefs, copyTrackedFiles, listRefs, pinRefs, type ListedRef } from './pin-checkpoints.ts'
import { readHead, type Repository } from './repositories.ts'
import { rewriteWorkTree, writeWorkTree, type UnstoredPath, type StoredTree } from './work-tree.ts'

export type Checkpoint = { readonly name: string; readonly message: string }

/** `isNew`: something changed since the last commit. `unpinned`: why the user's repository does not have it. */
export type StoredCheckpoint = {
  readonly commit: string
  readonly isNew: boolean
  readonly skipped: readonly UnstoredPath[]
  readonly unpinned?: string | undefined
}

/** Commits the work tree to Ralph's store unless nothing changed since the last commit. HEAD and branch of the user stay. */
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
  const marker = /^\d+$/.test(name) ? undefined : movedMarker
  if (last?.tree === tree) {
    const refs = { [name]: last.commit, [movedMarker]: undefined }
    const unpinned = last.isMoved && !marker ? await updateRefs(repository, refs) : undefined
    return { commit: last.commit, isNew: false, skipped, unpinned }
  }
  const commit = await writeCommit(repository, { tree, message, parent: last?.commit })
  treesByCommit.set(commit, tree)
  const unpinned = await updateRefs(repository, { [movedMarker]: marker && commit, [name]: commit, last: commit })
  return { commit, isNew: true, skipped, unpinned }
}

type NewCommit = { readonly tree: string; readonly message: string; readonly parent: string | undefined }

/**
 * The first commit follows HEAD, whose history the store does not have: it ends there, as in a shallow clone. Not by
 * `git commit-tree`, which insists on the parent.
 */
async function writeCommit(repository: Repository, { tree, message, parent }: NewCommit): Promise<string> {
  const before = parent ?? (await readHead(repository))
  const who = `Ralph <ralph@localhost> ${Math.floor(Date.now() / 1000)} +0000`
  const parents = before === 'unborn' ? [] : [`parent ${before}`]
  const input = `${[`tree ${tree}`, ...parents, `author ${who}`, `committer ${who}`, '', message].join('\n')}\n`
  const commit = writeCommitObject(join(repository.store, 'objects'), input, tree)
  if (parent === undefined && before !== 'unborn') await cutHistory(repository, [commit])
  return commit
}

/** A ref that exists after a restore, when the last commit is not that of the newest iteration. */
const movedMarker = 'restored'

/** Continues from another commit than that of the newest iteration. */
export const moveLastCheckpoint = (repository: Repository, commit: string): Promise<string | undefined> =>
  updateRefs(repository, { [movedMarker]: commit, last: commit })

/** Trees of commits that this process has written or read. */
const treesByCommit = new Map<string, string>()

async function readLastCheckpoint(repository: Repository) {
  const { store, refs } = repository
  const commit = readRef(store, `${refs}/last`)
  if (commit === undefined) return undefined
  return { commit, tree: await readTreeId(repository, commit), isMoved: hasRef(store, `${refs}/${movedMarker}`) }
}

/** The tree of a commit in the store. */
export async function readTreeId(repository: Repository, commit: string): Promise<string> {
  const tree = treesByCommit.get(commit) ?? (await storeGit(repository, { args: ['rev-parse', `${commit}^{tree}`] }))
  treesByCommit.set(commit, tree)
  return tree
}

/**
 * Sets and deletes refs in the store in this order, which a kill may cut short, then in the user's repository. Resolves with the
 * reason if the second failed: the store has everything, so a broken repository loses no checkpoint.
 */
export async function updateRefs(repository: Repository, commits: RefChanges): Promise<string | undefined> {
  await changeStoreRefs(repository, commits)
  return pinRefs(repository, commits)
}

export type ResetOptions = { readonly now: number; readonly onProgress?: ((text: string) => void) | undefined }

/** Sets the checkpoints of an earlier sprint with the same id aside: they may be the only copy of a file. */
export async function resetCheckpoints(
  repository: Repository,
  { now, onProgress }: ResetOptions,
): Promise<StoredCheckpoint> {
  await openStore(repository, 'new')
  const old = await listRefs(storeOptions(repository), repository.refs)
  if (old.length > 0) {
    const aside = { ...repository, refs: `${repository.refs}-before-${now}` }
    await updateRefs(aside, Object.fromEntries(old.map(({ name, commit }) => [name, commit])))
    await updateRefs(repository, Object.fromEntries(old.map(({ name }) => [name, undefined])))
  } else await copyTrackedFiles(repository)
  const tree = await writeWorkTree(repository, { onProgress })
  return commitCheckpoint(repository, { name: '0', message: 'Before the first iteration' }, tree)
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

/** All checkpoints of a sprint in this work tree, by name. */
export async function listCheckpoints(repository: Repository): Promise<ListedRef[]> {
  return listRefs(await openReader(repository), repository.refs)
}

/**
 * How to read checkpoints: from the store. For a sprint of an earlier version whose state cannot be written, from the user's
 * repository.
 */
export async function openReader(repository: Repository): Promise<GitOptions> {
  if (hasStore(repository)) return storeOptions(repository)
  if (!(await hasUserRefs(repository))) return { cwd: repository.root }
  return openStore(repository).then(
    () => storeOptions(repository),
    () => ({ cwd: repository.root }),
  )
}
