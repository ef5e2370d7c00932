import type { RefChanges } from '../../platform/files/git-files.ts'
import { git } from '../../platform/git.ts'
import { createStore, cutHistory, hasStore, storeOptions, userObjects } from './checkpoint-store.ts'
import { changeStoreRefs, copyFromRepository, listRefs, pinRefs, type ListedRef } from './pin-checkpoints.ts'
import type { Repository } from './repositories.ts'

/**
 * Creates the store of a sprint if it has none. Earlier versions kept checkpoints in the user's repository only: their commits are
 * copied. Those under the name of the sprint, where 0.1.0 had them, may belong to a deleted sprint if this one is `new`.
 */
export async function openStore(repository: Repository, sprint: 'new' | 'existing' = 'existing'): Promise<void> {
  if (hasStore(repository)) return
  const found = await listEarlier(repository, sprint)
  await createStore(repository, async () => {
    if (found.length > 0) await importCheckpoints(repository, found)
  })
}

export const hasUserRefs = async (repository: Repository): Promise<boolean> =>
  (await listEarlier(repository, 'existing')).length > 0

async function listEarlier({ root, refs, oldRefs }: Repository, sprint: 'new' | 'existing'): Promise<ListedRef[]> {
  const own = await listRefs({ cwd: root }, refs).catch(() => [])
  if (own.length > 0 || sprint === 'new' || oldRefs === refs) return own
  return listRefs({ cwd: root }, oldRefs).catch(() => [])
}

async function importCheckpoints(repository: Repository, found: readonly ListedRef[]): Promise<void> {
  const commits = [...new Set(found.map(({ commit }) => commit))]
  await copyFromRepository(repository, commits)
  await cutHistory(repository, await findRoots(repository, commits))
  const refs: RefChanges = Object.fromEntries(found.map(({ name, commit }) => [name, commit]))
  await changeStoreRefs(repository, refs)
  await pinRefs(repository, refs)
}

/** Commits whose parents are not among them. */
async function findRoots(repository: Repository, commits: readonly string[]): Promise<string[]> {
  const args = ['rev-list', '--no-walk', '--parents', ...commits]
  const listed = await git({ ...storeOptions(repository), alternates: userObjects(repository) }, ...args)
  const known = new Set(commits)
  return listed
    .split('\n')
    .map((line) => line.split(' '))
    .filter(([, ...parents]) => parents.some((parent) => !known.has(parent)))
    .map(([commit = '']) => commit)
}
