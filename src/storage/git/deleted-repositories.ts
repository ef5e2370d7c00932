import { join } from 'node:path'
import { existsItself, isFolderItself, listFolder } from '../../platform/files/files.ts'
import type { GitOptions } from '../../platform/git.ts'
import { readNestedRepositories } from './checkpoint-log.ts'
import { hasStore } from './checkpoint-store.ts'
import { chooseCheckpoint, sortCheckpoints } from './checkpoints.ts'
import { listRefs } from './pin-checkpoints.ts'
import { describeRepository, isBehindLink, type Repository, type WorkspaceOptions } from './repositories.ts'

/** The files of a repository at a commit of its store. */
export type Target = { readonly repository: Repository; readonly commit: string }

/** For commands that need no work tree, which may be gone. */
export const inStore = ({ store }: Repository): GitOptions => ({ cwd: store, gitDir: store })

/** Nested repositories of a checkpoint that no longer exist. The store still has their files, but not their history. */
export async function findDeleted(
  options: WorkspaceOptions,
  iteration: number,
  repositories: readonly Repository[],
): Promise<Target[]> {
  const known = (await readNestedRepositories(options.sprintDir, iteration)).map((path) => join(options.project, path))
  const deleted = known.filter((folder) => !repositories.some(({ root }) => root === folder))
  return Promise.all(
    deleted.map(async (root) => {
      const repository = describeRepository(root, options)
      const checkpoints = hasStore(repository) ? await listRefs(inStore(repository), repository.refs) : []
      return { repository, commit: chooseCheckpoint(sortCheckpoints(checkpoints), iteration) ?? '' }
    }),
  )
}

/** Those whose folder is gone or empty, and not behind a link: Ralph writes over nothing that no checkpoint contains. */
export async function chooseRevivable(deleted: readonly Target[], project: string): Promise<Target[]> {
  const empty = await Promise.all(
    deleted.map(async ({ repository: { root } }) => {
      if (isBehindLink(project, root)) return false
      return existsItself(root) ? isFolderItself(root) && (await listFolder(root)).length === 0 : true
    }),
  )
  return deleted.filter(({ commit }, number) => commit !== '' && empty[number] === true)
}
