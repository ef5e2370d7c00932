import { join, relative } from 'node:path'
import { errorMessage } from '../../contract/errors.ts'
import { statTree } from '../../platform/files/files.ts'
import type { ProjectWorkspace } from '../../runtime/ports.ts'
import { decodePath } from './byte-paths.ts'
import { forgetCheckpoints, recordCheckpoint } from './checkpoint-log.ts'
import { commitCheckpoint, resetCheckpoints, type Checkpoint, type StoredCheckpoint } from './checkpoints.ts'
import {
  findRepositories,
  hashParts,
  isBelow,
  readHead,
  type Repository,
  type WorkspaceOptions,
} from './repositories.ts'
import { acceptLargeFiles, formatGigabytes } from './large-files.ts'
import { listLargeFiles, writeWorkTree, type StoredTree } from './work-tree.ts'

export type WorkspaceObserver = {
  readonly now?: () => number
  /** Called once for each file or folder that no checkpoint can contain, with the reason. */
  readonly onSkipped?: (skipped: readonly string[]) => void
  /** Called once for each reason why the user's repository does not show a checkpoint that the store has. */
  readonly onUnpinned?: (reason: string) => void
  /** Called while the files before the first iteration are stored, if there are many. */
  readonly onProgress?: (text: string) => void
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
  const notifySkipped = notifyOnce((skipped) => observer.onSkipped?.(skipped))
  const notifyUnpinned = notifyOnce((reasons) => observer.onUnpinned?.(reasons.join('; ')))
  const storeAll = async (iteration: number, store: (repository: Repository) => Promise<StoredCheckpoint>) => {
    const repositories = await findRepositories(options)
    if (repositories.length === 0) return []
    try {
      const stored = await Promise.all(repositories.map((repository) => store(repository)))
      const nested = repositories.map(({ root }) => relative(options.project, root)).filter(isBelow)
      await recordCheckpoint(sprintDir, { iteration, ...(nested.length > 0 && { nested }) })
      notifySkipped(
        stored.flatMap(({ skipped }, number) =>
          skipped.map(({ path, reason }) => {
            const folder = relative(options.project, repositories[number]?.root ?? '')
            return `${isBelow(folder) ? `${folder}/` : ''}${decodePath(path)}: ${reason}`
          }),
        ),
      )
      notifyUnpinned(stored.flatMap(({ unpinned }) => unpinned ?? []))
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
      await storeAll(0, (repository) =>
        resetCheckpoints(repository, { now: (observer.now ?? Date.now)(), onProgress: observer.onProgress }),
      )
    },
    checkpoint: async (iteration, message) => {
      const stored = await storeAll(iteration, (repository) =>
        storeCheckpoint(repository, { name: String(iteration), message }, trees),
      )
      return stored.find(({ isNew }) => isNew)?.commit
    },
  }
}

/** Uses the tree of a fingerprint right before it, and keeps its own for the next one: scanning a large repository takes long. */
async function storeCheckpoint(
  repository: Repository,
  checkpoint: Checkpoint,
  trees: TreeMemory,
): Promise<StoredCheckpoint> {
  const tree = trees.recall(repository) ?? (await writeWorkTree(repository))
  trees.store(repository, tree)
  return commitCheckpoint(repository, checkpoint, tree)
}

type TreeMemory = {
  readonly store: (repository: Repository, tree: StoredTree) => void
  readonly recall: (repository: Repository) => StoredTree | undefined
}

/** Remembers the last tree of each repository until a program starts or ends. */
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

/** Passes each text on once. */
function notifyOnce(notify: (texts: readonly string[]) => void): (texts: readonly string[]) => void {
  const known = new Set<string>()
  return (texts) => {
    const unknown = texts.filter((text) => !known.has(text))
    for (const text of unknown) known.add(text)
    if (unknown.length > 0) notify(unknown)
  }
}

/**
 * If git cannot read the files, times and sizes count. If no program ran since the last checkpoint, its tree counts: a change of
 * the user in between then counts as one of the next iteration.
 */
async function describeRepository(
  repository: Repository,
  { sprintDir }: WorkspaceOptions,
  trees: TreeMemory,
): Promise<string> {
  try {
    const stored = trees.recall(repository) ?? (await writeWorkTree(repository))
    trees.store(repository, stored)
    return `${await readHead(repository)} ${stored.tree}`
  } catch {
    return statTree(repository.root, [sprintDir, join(repository.root, '.git')])
  }
}

/** A file that no checkpoint will contain unless the user agrees. */
export type LargeFileQuestion = { readonly name: string; readonly size: string; readonly accept: () => Promise<void> }

/** Untracked files that are too large to be stored without a question. */
export async function findLargeFileQuestions(options: WorkspaceOptions): Promise<LargeFileQuestion[]> {
  const repositories = await findRepositories(options)
  const found = await Promise.all(
    repositories.map(async (repository) => {
      const files = await listLargeFiles(repository)
      return files.map((file) => ({
        name: relative(options.project, join(repository.root, decodePath(file.path))),
        size: formatGigabytes(file.bytes),
        accept: () => acceptLargeFiles(repository, [file]),
      }))
    }),
  )
  return found.flat()
}
