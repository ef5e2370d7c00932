import { join, relative } from 'node:path'
import { errorMessage } from '../../contract/errors.ts'
import { statTree } from '../../platform/files/files.ts'
import type { ProjectWorkspace } from '../../runtime/ports.ts'
import { forgetCheckpoints, recordCheckpoint } from './checkpoint-log.ts'
import { commitCheckpoint, resetCheckpoints, type StoredCheckpoint } from './checkpoints.ts'
import { findRepositories, hashParts, readHead, type Repository, type WorkspaceOptions } from './repositories.ts'
import { writeWorkTree, type StoredTree } from './work-tree.ts'

export type WorkspaceObserver = {
  readonly now?: () => number
  /** Called once for each file or folder that no checkpoint can contain, with the reason. */
  readonly onSkipped?: (skipped: readonly string[]) => void
  /** Changes whenever a program starts or ends; undefined while one runs. Absent: files may change at any moment. */
  readonly activity?: () => number | undefined
}

/** The project's files, as git or the file system sees them. A project may be one repository, contain several, or be none. */
export async function openWorkspace(
  options: WorkspaceOptions,
  observer: WorkspaceObserver = {},
): Promise<ProjectWorkspace> {
  const { sprintDir } = options
  const trees = createTreeMemory(observer)
  const notifySkipped = createSkippedNotice(observer)
  const storeAll = async (iteration: number, store: (repository: Repository) => Promise<StoredCheckpoint>) => {
    const repositories = await findRepositories(options)
    if (repositories.length === 0) return []
    try {
      const stored = await Promise.all(repositories.map((repository) => store(repository)))
      const nested = repositories.map(({ root }) => relative(options.project, root)).filter((path) => isInside(path))
      await recordCheckpoint(sprintDir, { iteration, ...(nested.length > 0 && { nested }) })
      notifySkipped(stored.flatMap(({ skipped }) => skipped))
      return stored
    } catch (error) {
      await recordCheckpoint(sprintDir, { iteration, error: errorMessage(error) }).catch(() => {})
      throw error
    }
  }
  return {
    fingerprint: async () => {
      const repositories = await findRepositories(options)
      const states = await Promise.all(repositories.map((repository) => describeRepository(repository, options, trees)))
      return hashParts(states.length > 0 ? states : [await statTree(options.project, [sprintDir])])
    },
    start: async () => {
      await forgetCheckpoints(sprintDir)
      await storeAll(0, (repository) => resetCheckpoints(repository, (observer.now ?? Date.now)()))
    },
    checkpoint: async (iteration, message) => {
      const stored = await storeAll(iteration, (repository) =>
        commitCheckpoint(repository, { name: String(iteration), message }, trees.recall(repository)),
      )
      return stored.find(({ isNew }) => isNew)?.commit
    },
  }
}

const isInside = (path: string): boolean => path !== '' && !path.startsWith('..')

type TreeMemory = {
  readonly store: (repository: Repository, tree: StoredTree) => void
  readonly recall: (repository: Repository) => StoredTree | undefined
}

/** Remembers the trees of the last fingerprint for a checkpoint right after it: scanning a large repository takes seconds. */
function createTreeMemory({ activity = () => undefined }: WorkspaceObserver): TreeMemory {
  const known = new Map<string, { readonly at: number | undefined; readonly tree: StoredTree }>()
  return {
    store: ({ root }, tree) => void known.set(root, { at: activity(), tree }),
    recall: ({ root }) => {
      const found = known.get(root)
      return found?.at !== undefined && found.at === activity() ? found.tree : undefined
    },
  }
}

function createSkippedNotice({ onSkipped }: WorkspaceObserver): (skipped: readonly string[]) => void {
  const known = new Set<string>()
  return (skipped) => {
    const unknown = skipped.filter((path) => !known.has(path))
    for (const path of unknown) known.add(path)
    if (unknown.length > 0) onSkipped?.(unknown)
  }
}

/** A repository that the agent broke, so that git cannot read it, is treated like any other folder. */
async function describeRepository(
  repository: Repository,
  { sprintDir }: WorkspaceOptions,
  trees: TreeMemory,
): Promise<string> {
  try {
    const stored = await writeWorkTree(repository)
    trees.store(repository, stored)
    return `${await readHead(repository)} ${stored.tree}`
  } catch {
    return statTree(repository.root, [sprintDir, join(repository.root, '.git')])
  }
}
