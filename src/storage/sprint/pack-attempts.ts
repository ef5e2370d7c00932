import { join } from 'node:path'
import type { Progress } from '../../contract/progress.ts'
import {
  createPrivateFolder,
  exists,
  fileSize,
  listFolder,
  moveFileSync,
  removeFileSync,
  removeFlatFolder,
  removeLink,
} from '../../platform/files/files.ts'
import { readLink } from '../../platform/files/links.ts'
import { yieldToEvents } from '../../platform/async.ts'
import { stateFolder } from '../../platform/files/state-folder.ts'
import { attemptFiles, relinkTranscript } from '../../platform/processes/attempt-folder.ts'
import {
  attemptIteration,
  attemptsFolder,
  isLongTranscript,
  listPacks,
  readAttemptFolder,
  readPack,
  readPackedIteration,
  removeReplacedPacks,
  transcriptFile,
  transcriptsFolder,
  writePack,
} from '../../platform/processes/attempt-pack.ts'

/** A pack that contains fewer iterations is replaced by the next one, so that many short runs do not leave many packs. */
export const iterationsPerPack = 100
/** Users and agents open the transcripts of the newest iterations by name, in `transcripts/`; older ones with `ralph logs`. */
const namedIterations = 1000

/**
 * Packs the attempts of all iterations that have ended, 18 files of an iteration into a part of one. What a killed process has
 * begun is finished: the pack is durable before anything is removed. `maxBatches`: of 100 iterations, oldest first.
 */
export async function packAttempts(sprintDir: string, progress: Progress, maxBatches = Infinity): Promise<void> {
  const state = stateFolder(sprintDir)
  // The names of a state in the sprint's own folder, as on a machine of a fleet, belong to the user.
  if (state === sprintDir) return
  await removeReplacedPacks(state)
  const live = findLiveIterations(progress)
  const names = (await listFolder(attemptsFolder(state))).filter((name) => !live.has(attemptIteration(name)))
  const packed = await findPacked(state, names)
  const open = names.filter((name) => !packed.has(name))
  const over = names.filter((name) => packed.has(name))
  for (const batch of splitByIteration(open).slice(0, maxBatches)) over.push(...(await packBatch(state, batch)))
  await releaseFolders(sprintDir, over)
  await removeOldNames(sprintDir, progress.stats.currentIteration - namedIterations)
}

/** How many iterations wait to be packed. */
export async function countUnpacked(sprintDir: string): Promise<number> {
  const names = await listFolder(attemptsFolder(stateFolder(sprintDir)))
  return new Set(names.map(attemptIteration)).size
}

const findLiveIterations = ({ live, hookTasks }: Progress): ReadonlySet<number | undefined> =>
  new Set([
    ...live.map(({ number }) => number),
    ...hookTasks.filter(({ status }) => status === 'running').map(({ iteration }) => iteration),
  ])

/** Attempts whose folder was not removed yet, or was put back: their pack counts. */
async function findPacked(state: string, names: readonly string[]): Promise<ReadonlySet<string>> {
  const newest = Math.max(0, ...listPacks(state).map(({ last }) => last))
  const iterations = new Set(names.map(attemptIteration).filter((number) => number !== undefined && number <= newest))
  const found = new Set<string>()
  for (const iteration of iterations) {
    for (const { name } of await readPackedIteration(state, iteration ?? 0)) found.add(name)
  }
  return found
}

/** Notifications come last. */
const order = (name: string): number => attemptIteration(name) ?? Infinity

/** Bounds the memory of one pack. */
function splitByIteration(names: readonly string[]): string[][] {
  const batches: string[][] = []
  let seen = new Set<number>()
  for (const name of names.toSorted((a, b) => order(a) - order(b))) {
    if (batches.length === 0 || (seen.size === iterationsPerPack && !seen.has(order(name)))) {
      batches.push([])
      seen = new Set()
    }
    seen.add(order(name))
    batches.at(-1)?.push(name)
  }
  return batches
}

/** Attempts between two moments in which other events are handled: reading or removing one takes a fraction of a millisecond. */
const attemptsPerTurn = 4

/** Returns the names of the packed attempts: an attempt whose process still runs waits. */
async function packBatch(state: string, names: readonly string[]): Promise<string[]> {
  const attempts = []
  for (const [index, name] of names.entries()) {
    const attempt = readAttemptFolder(state, name)
    if (attempt) attempts.push(attempt)
    if (index % attemptsPerTurn === 0) await yieldToEvents()
  }
  if (attempts.length === 0) return []
  const last = listPacks(state).at(-1)
  const isSmall = last !== undefined && last.last - last.first + 1 < iterationsPerPack
  const before = isSmall ? await readPack(last.path) : []
  await writePack(state, [...before, ...attempts], isSmall ? [last] : [])
  return attempts.map(({ name }) => name)
}

/** Removes the folders of packed attempts. The transcripts that users can open by name stay, one file each. */
async function releaseFolders(sprintDir: string, names: readonly string[]): Promise<void> {
  const state = stateFolder(sprintDir)
  const links = await readTranscriptLinks(sprintDir, new Set(names.map(attemptIteration)))
  await createPrivateFolder(transcriptsFolder(state))
  for (const [index, name] of names.entries()) {
    const folder = join(attemptsFolder(state), name)
    const transcript = join(folder, attemptFiles.stdout)
    const target = transcriptFile(state, name)
    const linked = links.get(transcript) ?? []
    const isKept = linked.length > 0 || isLongTranscript(fileSize(transcript))
    if (isKept && exists(transcript) && !exists(target)) moveFileSync(transcript, target)
    for (const link of linked) relinkTranscript(link, target)
    removeFlatFolder(folder)
    if (index % attemptsPerTurn === 0) await yieldToEvents()
  }
}

/** The iteration that a name in `transcripts/` belongs to; undefined if the user put it there. */
function namedIteration(name: string): number | undefined {
  const number = /^iter(?:ation)?-(\d+)[.-]/.exec(name)?.[1]
  return number === undefined ? undefined : Number(number)
}

/** The links of some iterations in `transcripts/`, by the file that they lead to. */
async function readTranscriptLinks(
  sprintDir: string,
  iterations: ReadonlySet<number | undefined>,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const folder = join(sprintDir, 'transcripts')
  const links = new Map<string, string[]>()
  for (const name of await listFolder(folder)) {
    const target = iterations.has(namedIteration(name)) ? readLink(join(folder, name)) : undefined
    if (target !== undefined) links.set(target, [...(links.get(target) ?? []), join(folder, name)])
  }
  return links
}

/** Ralph's own links and files only: what a user put there stays. */
async function removeOldNames(sprintDir: string, upTo: number): Promise<void> {
  if (upTo <= 0) return
  const [links, files] = [join(sprintDir, 'transcripts'), transcriptsFolder(stateFolder(sprintDir))]
  for (const name of await listFolder(links)) {
    if ((namedIteration(name) ?? Infinity) <= upTo) removeLink(join(links, name))
  }
  for (const name of await listFolder(files)) {
    const isOld = (attemptIteration(name) ?? Infinity) <= upTo
    if (isOld && !isLongTranscript(fileSize(join(files, name)))) removeFileSync(join(files, name))
  }
}
