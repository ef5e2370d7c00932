import { join } from 'node:path'
import type { Progress } from '../../contract/progress.ts'
import { defaultKeep } from '../../contract/settings.ts'
import { noop, serialize } from '../../platform/async.ts'
import { fileSize, isLink, listFolder, modifiedAt, removeFile } from '../../platform/files/files.ts'
import { readLink } from '../../platform/files/links.ts'
import { stateFolder } from '../../platform/files/state-folder.ts'
import { listPacks, transcriptsFolder } from '../../platform/processes/attempt-pack.ts'
import { packCheckpoints, pruneCheckpoints } from '../git/prune-checkpoints.ts'
import type { WorkspaceOptions } from '../git/repositories.ts'
import { countUnpacked, iterationsPerPack, packAttempts } from './pack-attempts.ts'

/** What was removed, or would be. */
export type PruneReport = {
  /** Files with transcripts, prompts and output that are older than `keep.transcripts`. */
  readonly transcripts: { readonly files: number; readonly bytes: number; readonly upToIteration: number | undefined }
  readonly checkpoints: number
}

export type PruneOptions = WorkspaceOptions & {
  readonly progress: Progress
  readonly now: number
  /** Of 100 iterations; default: all. */
  readonly maxBatches?: number
}

/** Packs what has ended, and removes what `keep` does not keep. The journal stays: it is the history of the sprint. */
export async function pruneSprint(options: PruneOptions, mode: 'remove' | 'count'): Promise<PruneReport> {
  const { sprintDir, progress } = options
  if (mode === 'remove') {
    await packAttempts(sprintDir, progress, options.maxBatches)
    await packCheckpoints(options)
  }
  return {
    transcripts: await pruneTranscripts(options, mode),
    checkpoints: await pruneCheckpoints(options, progress, mode),
  }
}

async function pruneTranscripts(
  { sprintDir, progress, now }: PruneOptions,
  mode: 'remove' | 'count',
): Promise<PruneReport['transcripts']> {
  const { transcripts: keptMs } = progress.keep ?? defaultKeep
  const state = stateFolder(sprintDir)
  const isOld = (path: string) => keptMs !== 'all' && (modifiedAt(path) ?? now) < now - keptMs
  const packs = state === sprintDir ? [] : listPacks(state).filter(({ path }) => isOld(path))
  const folder = transcriptsFolder(state)
  const named = state === sprintDir ? [] : (await listFolder(folder)).map((name) => join(folder, name)).filter(isOld)
  const paths = [...packs.map(({ path }) => path), ...named]
  const bytes = paths.reduce((sum, path) => sum + fileSize(path), 0)
  if (mode === 'remove' && paths.length > 0) {
    await removeLinksTo(new Set(named), join(sprintDir, 'transcripts'))
    for (const path of paths) await removeFile(path)
  }
  const numbers = packs.map(({ last }) => last)
  return { files: paths.length, bytes, upToIteration: numbers.length === 0 ? undefined : Math.max(...numbers) }
}

async function removeLinksTo(targets: ReadonlySet<string>, folder: string): Promise<void> {
  for (const name of await listFolder(folder)) {
    const link = join(folder, name)
    if (isLink(link) && targets.has(readLink(link) ?? '')) await removeFile(link)
  }
}

export interface Housekeeping {
  /** Called after every iteration; works while the next one runs. */
  readonly onIterationEnd: (progress: Progress) => void
  /** Packs the rest when the sprint rests. */
  readonly finish: (progress: Progress) => Promise<void>
}

/** What `keep` does not keep is removed less often: it takes several calls of git, and looks at every kept file. */
const iterationsPerPrune = 500
/** A sprint of an earlier version may have tens of thousands of attempts to pack: a run must not end minutes after its goal. */
const maxBatches = 10

/**
 * Keeps the number of files small during a run and after it. What fails is left for the next time: a sprint never depends on it.
 */
export function createHousekeeping(options: WorkspaceOptions & { readonly now: () => number }): Housekeeping {
  const { sprintDir } = options
  let ended = 0
  const serialized = serialize()
  const enqueue = (work: () => Promise<unknown>): Promise<unknown> => serialized(work).catch(noop)
  const prune = (progress: Progress) => pruneSprint({ ...options, progress, now: options.now(), maxBatches }, 'remove')
  return {
    onIterationEnd: (progress) => {
      ended++
      if (ended % iterationsPerPrune === 0) void enqueue(() => prune(progress))
      else if (ended % iterationsPerPack === 0) void enqueue(() => packAttempts(sprintDir, progress, maxBatches))
    },
    finish: async (progress) => {
      await enqueue(async () => {
        if (ended % iterationsPerPrune > 0 || (await countUnpacked(sprintDir)) > 0) await prune(progress)
      })
    },
  }
}
