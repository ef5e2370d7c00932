import { join } from 'node:path'
import type { Progress } from '../../contract/progress.ts'
import {
  createPrivateFolder,
  exists,
  fileSize,
  isLink,
  listFolder,
  moveFile,
  removeFile,
  removeFlatFolder,
} from '../../platform/files/files.ts'
import { readLink } from '../../platform/files/links.ts'
import { yieldToEvents } from '../../platform/async.ts'
import { stateFolder } from '../../platform/files/state-folder.ts'
import { attemptFiles, attemptState, linkTranscriptFile } from '../../platform/processes/attempt-folder.ts'
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
 * begun is finished: the pack is durable before anything is removed.
 */
export async function packAttempts(sprintDir: string, progress: Progress): Promise<void> {
  const state = stateFolder(sprintDir)
  // The names of a state in the sprint's own folder, as on a machine of a fleet, belong to the user.
  if (state === sprintDir) return
  await removeReplacedPacks(state)
  const names = (await listFolder(attemptsFolder(state))).filter((name) => isOver(state, name, progress))
  const packed = await findPacked(state, names)
  const open = names.filter((name) => !packed.has(name))
  for (const batch of splitByIteration(open)) await packBatch(state, batch)
  await releaseFolders(sprintDir, names)
  await removeOldNames(sprintDir, progress.stats.currentIteration - namedIterations)
}

/** How many iterations wait to be packed. */
export async function countUnpacked(sprintDir: string): Promise<number> {
  const names = await listFolder(attemptsFolder(stateFolder(sprintDir)))
  return new Set(names.map(attemptIteration)).size
}

function isOver(state: string, name: string, { live, hookTasks }: Progress): boolean {
  const iteration = attemptIteration(name)
  const isLive =
    live.some(({ number }) => number === iteration) ||
    hookTasks.some((task) => task.iteration === iteration && task.status === 'running')
  return !isLive && attemptState(join(attemptsFolder(state), name)) !== 'running'
}

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

/** Bounds the memory of one pack. */
function splitByIteration(names: readonly string[]): string[][] {
  const sorted = names.toSorted((a, b) => (attemptIteration(a) ?? Infinity) - (attemptIteration(b) ?? Infinity))
  const numbers = [...new Set(sorted.map(attemptIteration))]
  return Array.from({ length: Math.ceil(numbers.length / iterationsPerPack) }, (_, index) => {
    const chosen = new Set(numbers.slice(index * iterationsPerPack, (index + 1) * iterationsPerPack))
    return sorted.filter((name) => chosen.has(attemptIteration(name)))
  })
}

async function packBatch(state: string, names: readonly string[]): Promise<void> {
  const attempts = []
  for (const name of names) {
    attempts.push(readAttemptFolder(state, name))
    await yieldToEvents()
  }
  const last = listPacks(state).at(-1)
  const isSmall = last !== undefined && last.last - last.first + 1 < iterationsPerPack
  const before = isSmall ? await readPack(last.path) : []
  await writePack(state, [...before, ...attempts], isSmall ? [last] : [])
}

/** Removes the folders of packed attempts. The transcripts that users can open by name stay, one file each. */
async function releaseFolders(sprintDir: string, names: readonly string[]): Promise<void> {
  const state = stateFolder(sprintDir)
  const links = await readTranscriptLinks(sprintDir)
  await createPrivateFolder(transcriptsFolder(state))
  for (const name of names) {
    const folder = join(attemptsFolder(state), name)
    const transcript = join(folder, attemptFiles.stdout)
    const target = transcriptFile(state, name)
    const linked = links.get(transcript) ?? []
    const isKept = linked.length > 0 || isLongTranscript(fileSize(transcript))
    if (isKept && exists(transcript) && !exists(target)) await moveFile(transcript, target)
    for (const link of linked) linkTranscriptFile(link, target)
    removeFlatFolder(folder)
    await yieldToEvents()
  }
}

/** The links in `transcripts/`, by the file that they lead to. */
async function readTranscriptLinks(sprintDir: string): Promise<ReadonlyMap<string, readonly string[]>> {
  const folder = join(sprintDir, 'transcripts')
  const links = new Map<string, string[]>()
  for (const name of await listFolder(folder)) {
    const target = readLink(join(folder, name))
    if (target !== undefined) links.set(target, [...(links.get(target) ?? []), join(folder, name)])
  }
  return links
}

/** Ralph's own links and files only: what a user put there stays. */
async function removeOldNames(sprintDir: string, upTo: number): Promise<void> {
  if (upTo <= 0) return
  const [links, files] = [join(sprintDir, 'transcripts'), transcriptsFolder(stateFolder(sprintDir))]
  for (const name of await listFolder(links)) {
    const iteration = Number(/^iter(?:ation)?-(\d+)[.-]/.exec(name)?.[1] ?? Infinity)
    if (iteration <= upTo && isLink(join(links, name))) await removeFile(join(links, name))
  }
  for (const name of await listFolder(files)) {
    const isOld = (attemptIteration(name) ?? Infinity) <= upTo
    if (isOld && !isLongTranscript(fileSize(join(files, name)))) await removeFile(join(files, name))
  }
}
