import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { copyFile, readFile, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, brotliDecompress, constants as zlib } from 'node:zlib'
import { z } from 'zod'
import { RalphError } from '../../contract/errors.ts'
import { formatChecksum } from '../checksummed-log.ts'
import { leftoverPattern, removeDurably, writeFileAtomic } from '../files/atomic-file.ts'
import { isErrno } from '../files/files.ts'
import { attemptFiles, attemptState, decideState, type AttemptState } from './attempt-folder.ts'

/** An attempt whose iteration has ended, out of a pack. */
export type PackedAttempt = {
  readonly name: string
  readonly state: AttemptState
  /** When it changed last. */
  readonly at: number
  readonly files: ReadonlyMap<string, Buffer>
  /** Its transcript is too long for a pack and lies in `transcriptFile`. */
  readonly isLong: boolean
}

/** A file that contains all attempts of several iterations. */
export type AttemptPack = {
  readonly path: string
  readonly number: number
  readonly first: number
  readonly last: number
}

const Header = z.object({
  /** Packs whose content this one contains too. */
  replaces: z.array(z.string()),
  attempts: z.array(
    z.object({
      name: z.string(),
      state: z.enum(['never-started', 'running', 'ended', 'aborted', 'lost']),
      at: z.number(),
      isLong: z.boolean().optional(),
      files: z.array(z.tuple([z.string(), z.int()])),
    }),
  ),
})

const longBytes = 8 * 1024 * 1024

/** A longer transcript is moved instead of packed: packing happens in memory. */
export const isLongTranscript = (bytes: number): boolean => bytes > longBytes

const newline = 10
const signature = 'ralph-pack-1'
/**
 * Prompts of one sprint resemble each other, so a window of several iterations (512 kB) saves more than a high quality. A window
 * of 4 MB takes 4 MB more memory for the rest of the run.
 */
const params = { [zlib.BROTLI_PARAM_QUALITY]: 4, [zlib.BROTLI_PARAM_LGWIN]: 19 }

export const attemptsFolder = (state: string): string => join(state, 'attempts')
const packsFolder = (state: string): string => join(state, 'packed')

/** Transcripts of packed attempts that users can still open under the names in `transcripts/`, and those too long for a pack. */
export const transcriptsFolder = (state: string): string => join(state, 'transcripts')
export const transcriptFile = (state: string, attempt: string): string =>
  join(transcriptsFolder(state), `${attempt}.jsonl`)

/** The iteration that an attempt belongs to; undefined for a notification. */
export function attemptIteration(name: string): number | undefined {
  const number = /^(\d+)-/.exec(name)?.[1]
  return number === undefined ? undefined : Number(number)
}

const packPattern = /^(\d{6})\.(\d+)-(\d+)\.pack$/
const known = new Map<string, { readonly at: number; readonly packs: readonly AttemptPack[] }>()

/** All packs, oldest first. Cheap while nothing changes: every attempt that starts asks. */
export function listPacks(state: string): readonly AttemptPack[] {
  const folder = packsFolder(state)
  const at = statSync(folder, { throwIfNoEntry: false })?.mtimeMs
  if (at === undefined) return []
  const cached = known.get(folder)
  // A folder that was changed just now may change again in the same tick of its clock.
  if (cached?.at === at && Date.now() - at > 100) return cached.packs
  const packs = readdirSync(folder)
    .toSorted()
    .flatMap((name): AttemptPack[] => {
      const [, number, first, last] = packPattern.exec(name) ?? []
      if (number === undefined) return []
      return [{ path: join(folder, name), number: Number(number), first: Number(first), last: Number(last) }]
    })
  known.set(folder, { at, packs })
  return packs
}

/** The packed attempts of an iteration. */
export async function readPackedIteration(state: string, iteration: number): Promise<PackedAttempt[]> {
  const found = listPacks(state).filter(({ first, last }) => first <= iteration && iteration <= last)
  const attempts = (await Promise.all(found.map(({ path }) => readPack(path)))).flat()
  // Of two packs with one attempt, one was about to replace the other when its process was killed.
  const byName = new Map(attempts.map((attempt) => [attempt.name, attempt]))
  return [...byName.values()].filter(({ name }) => attemptIteration(name) === iteration)
}

/** A report reads one iteration after the other, mostly out of the same pack. */
let lastRead: { readonly path: string; readonly attempts: Promise<PackedAttempt[]> } | undefined

/** Packs are never changed. */
export function readPack(path: string): Promise<PackedAttempt[]> {
  if (lastRead?.path !== path) lastRead = { path, attempts: decodePack(path).then(({ attempts }) => attempts) }
  return lastRead.attempts
}

async function decodePack(path: string): Promise<{ replaces: readonly string[]; attempts: PackedAttempt[] }> {
  const all = await readFile(path)
  const start = all.indexOf(newline) + 1
  const [name, checksum] = all.toString('latin1', 0, start).trim().split(' ')
  const body = all.subarray(start)
  if (name !== signature || checksum !== formatChecksum(body)) throw damagedPack(path)
  const content = await promisify(brotliDecompress)(body)
  let at = content.indexOf(newline) + 1
  const { replaces, attempts } = Header.parse(JSON.parse(content.toString('utf8', 0, at)))
  const decoded = attempts.map(({ files, isLong = false, ...attempt }) => ({
    ...attempt,
    isLong,
    files: new Map(files.map(([file, bytes]) => [file, content.subarray(at, (at += bytes))])),
  }))
  return { replaces, attempts: decoded }
}

const damagedPack = (path: string): RalphError =>
  new RalphError('FILE_UNREADABLE', 'the packed transcripts in it are damaged', {
    place: { file: path },
    hint: 'restore the file from a backup; the state of the sprint does not depend on it',
  })

/** What identifies an attempt to `ralph mcp` is of no use once it has ended. */
const unpackedFile = 'mcp-token'

/** Reads an attempt from its folder; undefined while its process runs. */
export function readAttemptFolder(state: string, name: string): PackedAttempt | undefined {
  const folder = join(attemptsFolder(state), name)
  const files = new Map<string, Buffer>()
  let at = 0
  let isLong = false
  for (const file of readdirSync(folder)) {
    if (file === unpackedFile) continue
    const found = readSmallFile(join(folder, file))
    if (!found) continue
    at = Math.max(at, found.modifiedAt)
    if (found.content) files.set(file, found.content)
    else isLong = true
  }
  const attempt = decideState((file) => files.get(file)?.toString())
  // The process may have ended while its files were read.
  if (attempt === 'running' || (attempt === 'lost' && attemptState(folder) !== 'lost')) return undefined
  return { name, state: attempt, at, isLong, files }
}

type SmallFile = { readonly modifiedAt: number; readonly content: Buffer | undefined }

/**
 * Undefined unless it is a regular file; without content if that is a long transcript. Four system calls: each asynchronous call
 * would cost more than the file.
 */
function readSmallFile(path: string): SmallFile | undefined {
  const file = openIfPlain(path)
  if (file === undefined) return undefined
  try {
    const found = fstatSync(file)
    if (!found.isFile()) return undefined
    if (isLongTranscript(found.size) && path.endsWith(attemptFiles.stdout))
      return { modifiedAt: found.mtimeMs, content: undefined }
    const content = Buffer.allocUnsafe(found.size)
    let bytes = 0
    for (let read = -1; read !== 0 && bytes < content.length; bytes += read)
      read = readSync(file, content, bytes, content.length - bytes, bytes)
    return { modifiedAt: found.mtimeMs, content: content.subarray(0, bytes) }
  } finally {
    closeSync(file)
  }
}

/** Undefined if it is a link, or a socket: an agent may have put it there. A pipe must not block. */
function openIfPlain(path: string): number | undefined {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (error) {
    if (['ELOOP', 'ENXIO'].some((code) => isErrno(error, code))) return undefined
    throw error
  }
}

/** Writes a pack that has its name only once it is complete and durable, and removes the packs that it replaces. */
export async function writePack(
  state: string,
  attempts: readonly PackedAttempt[],
  replaces: readonly AttemptPack[] = [],
): Promise<AttemptPack> {
  const iterations = attempts.flatMap(({ name }) => attemptIteration(name) ?? [])
  const number = Math.max(0, ...listPacks(state).map((pack) => pack.number)) + 1
  const [first, last] = iterations.length === 0 ? [0, 0] : [Math.min(...iterations), Math.max(...iterations)]
  const header = {
    replaces: replaces.map(({ path }) => path.slice(packsFolder(state).length + 1)),
    attempts: attempts.map(({ files, ...attempt }) => ({
      ...attempt,
      files: [...files].map(([name, content]) => [name, content.length]),
    })),
  }
  const contents = attempts.flatMap(({ files }) => [...files.values()])
  const body = await promisify(brotliCompress)(
    Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), ...contents]),
    { params },
  )
  mkdirSync(packsFolder(state), { recursive: true, mode: 0o700 })
  const path = join(packsFolder(state), `${String(number).padStart(6, '0')}.${first}-${last}.pack`)
  await writeFileAtomic(path, Buffer.concat([Buffer.from(`${signature} ${formatChecksum(body)}\n`), body]))
  // Its age is that of its newest attempt: `keep` counts from there.
  const at = Math.max(...attempts.map((attempt) => attempt.at)) / 1000
  await utimes(path, at, at)
  for (const old of replaces) await removeDurably(old.path)
  known.delete(packsFolder(state))
  return { path, number, first, last }
}

/** Finishes what a killed process has begun: removes its drafts and the packs that the newest one contains. */
export async function removeReplacedPacks(state: string): Promise<void> {
  const packs = listPacks(state)
  const newest = packs.at(-1)
  const folder = packsFolder(state)
  // Reading a pack takes milliseconds. A pack without iterations contains notifications only.
  const isContained = packs.some(
    (pack) => newest && pack.number < newest.number && (pack.last >= newest.first || pack.last === 0),
  )
  const replaces = newest && isContained ? (await decodePack(newest.path)).replaces : []
  const names = existsSync(folder) ? readdirSync(folder) : []
  const leftovers = names.filter((name) => replaces.includes(name) || leftoverPattern.test(name))
  for (const name of leftovers) await removeDurably(join(folder, name))
  known.delete(folder)
}

/** Puts the folders of a packed attempt and of its repetitions back, so that it can be joined. */
export async function restorePackedAttempts(state: string, attempt: string): Promise<void> {
  const iteration = attemptIteration(attempt)
  if (iteration === undefined || !listPacks(state).some(({ last }) => iteration <= last)) return
  for (const { name, files, isLong } of await readPackedIteration(state, iteration)) {
    if (name !== attempt && !name.startsWith(`${attempt}.`)) continue
    const folder = join(attemptsFolder(state), name)
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    for (const [file, content] of files) writeFileSync(join(folder, file), content, { mode: 0o600 })
    const transcript = join(folder, attemptFiles.stdout)
    if (isLong && !existsSync(transcript)) await copyFile(transcriptFile(state, name), transcript)
  }
}
