import { join } from 'node:path'
import type { Progress } from '../../contract/progress.ts'
import { defaultKeep } from '../../contract/settings.ts'
import { listFolder } from '../../platform/files/files.ts'
import { git } from '../../platform/git.ts'
import { recordRemoval } from './checkpoint-log.ts'
import { storeGit } from './checkpoint-store.ts'
import { listCheckpoints, updateRefs } from './checkpoints.ts'
import {
  findRepositories,
  readHead,
  resolveGitFolders,
  type Repository,
  type WorkspaceOptions,
} from './repositories.ts'

type Checkpoint = { readonly iteration: number; readonly commit: string }

/**
 * Which checkpoints are removed: all but the newest ones, the first, the accepted one, and the last before the kept ones, which
 * is also that of the iterations after it that changed nothing. What a restore replaced stays too.
 */
export function chooseRemovable(
  checkpoints: readonly Checkpoint[],
  { keep, stats, ralphExit }: KeptProgress,
): number[] {
  const { checkpoints: count } = keep ?? defaultKeep
  if (count === 'all') return []
  const oldest = stats.currentIteration - count + 1
  const numbers = checkpoints.map(({ iteration }) => iteration).toSorted((a, b) => a - b)
  const before = (iteration: number) => numbers.findLast((number) => number <= iteration)
  const kept = new Set([0, before(oldest), before(ralphExit.iteration ?? 0)])
  return numbers.filter((number) => number < oldest && !kept.has(number))
}

type KeptProgress = Pick<Progress, 'keep' | 'stats' | 'ralphExit'>

/** Removes what `keep.checkpoints` does not keep. Says first what it removes: `restore` never names a checkpoint that is gone. */
export async function pruneCheckpoints(
  options: WorkspaceOptions,
  progress: KeptProgress,
  mode: 'remove' | 'count',
): Promise<number> {
  const repositories = await findRepositories(options)
  const removable = await Promise.all(
    repositories.map(async (repository) => chooseRemovable(await readNumbered(repository), progress)),
  )
  const all = new Set(removable.flat())
  if (mode === 'count' || all.size === 0) return all.size
  const left = (await Promise.all(repositories.map(readNumbered))).flat().map(({ iteration }) => iteration)
  const stays = left.filter((number) => !all.has(number)).toSorted((a, b) => a - b)
  const gone = left.filter((number) => all.has(number)).toSorted((a, b) => a - b)
  // An iteration that changed nothing has the checkpoint of an earlier one.
  await recordRemoval(options.sprintDir, (iteration) => {
    const own = gone.findLast((number) => number <= iteration)
    return own !== undefined && own > (stays.findLast((number) => number <= iteration) ?? -1)
  })
  for (const [index, repository] of repositories.entries()) {
    const names = removable[index] ?? []
    if (names.length > 0) await updateRefs(repository, Object.fromEntries(names.map((name) => [name, undefined])))
  }
  return all.size
}

const readNumbered = async (repository: Repository): Promise<Checkpoint[]> =>
  (await listCheckpoints(repository)).flatMap(({ name, commit }) =>
    /^\d+$/.test(name) ? [{ iteration: Number(name), commit }] : [],
  )

/** Loose objects of at least this many checkpoints are packed. */
const looseCheckpoints = 50

/** The checkpoint up to which objects are packed. */
const packedName = 'packed'

/** Packs the objects of checkpoints that are not packed yet. The user's own objects stay as they are. */
export async function packCheckpoints(options: WorkspaceOptions, atLeast = looseCheckpoints): Promise<void> {
  for (const repository of await findRepositories(options)) await packRepository(repository, atLeast)
}

async function packRepository(repository: Repository, atLeast: number): Promise<void> {
  const found = new Map((await listCheckpoints(repository)).map(({ name, commit }) => [name, commit]))
  const [last, packed] = [found.get('last'), found.get(packedName)]
  if (last === undefined || last === packed) return
  const range = [last, ...(packed === undefined ? [] : [`^${packed}`])]
  const count = Number(await storeGit(repository, { args: ['rev-list', '--count', ...range] }))
  if (count < atLeast) return
  await packStore(repository)
  const unpinned = await updateRefs(repository, { [packedName]: last })
  if (unpinned === undefined) await packUserObjects(repository, range)
}

/** More packs than this are packed into one, without the objects that no checkpoint needs. */
const maxPacks = 20

/**
 * Git keeps what refs and index refer to. The age protects what a run has just written. The refs of a sprint that keeps all
 * checkpoints become one file.
 */
async function packStore(repository: Repository): Promise<void> {
  const { store } = repository
  const packs = (await listFolder(join(store, 'objects', 'pack'))).filter((name) => name.endsWith('.pack'))
  await storeGit(repository, { args: ['repack', '-d', '-q', '-l', ...(packs.length > maxPacks ? ['-a'] : [])] })
  if (packs.length > maxPacks) await storeGit(repository, { args: ['prune', '--expire=1.hour.ago'] })
  await storeGit(repository, { args: ['pack-refs', '--all'] })
}

async function packUserObjects(repository: Repository, range: readonly string[]): Promise<void> {
  const { root } = repository
  const { common } = resolveGitFolders(root)
  const head = await readHead(repository)
  const name = join(common, 'objects', 'pack', 'pack')
  const input = [...range, ...(head === 'unborn' ? [] : [`^${head}`])].map((line) => `${line}\n`).join('')
  await git({ cwd: root, input }, 'pack-objects', '--revs', '--incremental', '--local', '--quiet', name)
  await git({ cwd: root }, 'prune-packed', '--quiet')
  // Git itself does the same every now and then.
  if ((await listCheckpoints(repository)).length > 1000) await git({ cwd: root }, 'pack-refs', '--all')
}
