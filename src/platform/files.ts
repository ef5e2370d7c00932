import {
  accessSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  readFileSync,
  realpathSync,
  statfsSync,
  statSync,
  unlinkSync,
} from 'node:fs'
import { chmod, copyFile, cp, mkdir, mkdtemp, open, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { RalphError } from '../contract/errors.ts'

/** The text of a file, or undefined if there is no such file. Anything else that goes wrong is an error with the path. */
export async function readTextIfThere(path: string): Promise<string | undefined> {
  try {
    // An exception costs more than to look.
    return statSync(path, { throwIfNoEntry: false }) && (await readFile(path, 'utf8'))
  } catch (error) {
    if (isMissing(error)) return undefined
    throw unreadable(path, error)
  }
}

export function readTextSyncIfThere(path: string): string | undefined {
  try {
    // An exception costs more than to look.
    return statSync(path, { throwIfNoEntry: false }) && readFileSync(path, 'utf8')
  } catch (error) {
    if (isMissing(error)) return undefined
    throw unreadable(path, error)
  }
}

/** The last part of a file that may be of any size; empty if there is none. */
export async function readTail(path: string, bytes: number): Promise<string> {
  const file = await open(path, 'r').catch((error: unknown) => {
    if (isMissing(error)) return undefined
    throw unreadable(path, error)
  })
  if (!file) return ''
  try {
    const { size } = await file.stat()
    const length = Math.min(size, bytes)
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, size - length)
    return buffer.toString('utf8', 0, bytesRead)
  } finally {
    await file.close()
  }
}

export type DiskSpace = { readonly freeBytes: number; readonly totalBytes: number }

/** What is left for ordinary users on the disk that holds a path. */
export async function diskSpace(path: string): Promise<DiskSpace> {
  // The system knows it without asking the disk, and a thread costs more.
  const { bavail, blocks, bsize } = statfsSync(path)
  return { freeBytes: bavail * bsize, totalBytes: blocks * bsize }
}

export const readBytes = (path: string): Promise<Buffer> => readFile(path)

export const moveFile = (from: string, to: string): Promise<void> => rename(from, to)

export const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false

export const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false

export const isLink = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false

/** A link itself, never what it leads to; anything else stays. */
export const removeLink = (path: string): void => void (isLink(path) && unlinkSync(path))

export const realPath = (path: string): string => realpathSync(path)

export const exists = (path: string): boolean => existsSync(path)

export async function makeFolder(path: string): Promise<void> {
  try {
    await makeFolders(path)
  } catch (error) {
    throw unwritable(path, error)
  }
}

/** Not with Node's `recursive`: where nothing can be made, as in /proc, it tries for ever. */
async function makeFolders(path: string): Promise<void> {
  if (isFolder(path)) return
  if (dirname(path) !== path) await makeFolders(dirname(path))
  try {
    await mkdir(path)
  } catch (error) {
    if (!isFolder(path)) throw error
  }
}

/** Nobody else may look into it. */
export async function makePrivateFolder(path: string): Promise<void> {
  await makeFolder(path)
  await chmod(path, 0o700)
}

/** A fresh folder for things that can be thrown away. */
export const makeTemporaryFolder = (name: string): Promise<string> => mkdtemp(join(tmpdir(), `${name}-`))

/** Writes a file that must not be there yet. */
export async function writeNewFile(path: string, text: string): Promise<void> {
  try {
    await writeFile(path, text, { flag: 'wx' })
  } catch (error) {
    throw unwritable(path, error)
  }
}

export const copyFolder = (from: string, to: string): Promise<void> =>
  cp(from, to, { recursive: true, errorOnExist: true, force: false })

/** Fails if the target is there already. */
export const copyFileTo = (from: string, to: string): Promise<void> => copyFile(from, to, constants.COPYFILE_EXCL)

/** A file with its permissions, in place of whatever is there. */
export async function copyOver(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true })
  await rm(to, { recursive: true, force: true })
  await copyFile(from, to)
}

/** Names in a folder; none if it is not there. */
export async function listFolder(path: string): Promise<string[]> {
  try {
    return await readdir(path)
  } catch (error) {
    if (isMissing(error)) return []
    throw unreadable(path, error)
  }
}

/** Paths of the files below a folder, relative to it, with `/`, sorted; links are not followed. */
export async function listTree(
  folder: string,
  { except = [] }: { except?: readonly string[] } = {},
): Promise<string[]> {
  const files: string[] = []
  const queue = ['']
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    for (const entry of await readdir(join(folder, next), { withFileTypes: true }).catch(() => [])) {
      if (except.includes(entry.name)) continue
      const path = next === '' ? entry.name : `${next}/${entry.name}`
      if (entry.isDirectory()) queue.push(path)
      else if (entry.isFile()) files.push(path)
    }
  }
  return files.toSorted()
}

/** In milliseconds; undefined if it is not there. */
export const modifiedAt = (path: string): number | undefined => statSync(path, { throwIfNoEntry: false })?.mtimeMs

/** Changes with every write, also by rename. */
export function fileSignature(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false, bigint: true })
  return found && `${found.ino} ${found.size} ${found.mtimeNs}`
}

/** 0 if it is not there. */
export const fileSize = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0

/** Whether the path still leads to the open file. */
export function isSameFile(fd: number, path: string): boolean {
  const mine = fstatSync(fd)
  const there = statSync(path, { throwIfNoEntry: false })
  return there !== undefined && there.ino === mine.ino && there.dev === mine.dev
}

/** No error if it is not there. */
export const removeFile = (path: string): Promise<void> => rm(path, { force: true })

/** With everything in it. */
export const removeFolder = (path: string): Promise<void> => rm(path, { recursive: true, force: true })

/** Names, sizes and times of the files below a folder, as far as they are worth looking at, in one text. */
export async function statTree(folder: string, except: readonly string[], mostFiles = 20_000): Promise<string> {
  const lines: string[] = []
  const queue = [folder]
  for (let next = queue.pop(); next !== undefined && lines.length < mostFiles; next = queue.pop()) {
    for (const entry of await readdir(next, { withFileTypes: true }).catch(() => [])) {
      const path = join(next, entry.name)
      if (entry.name === 'node_modules' || except.includes(path)) continue
      if (entry.isDirectory()) queue.push(path)
      const found = statSync(path, { throwIfNoEntry: false })
      if (entry.isFile() && found) lines.push(`${path} ${found.size} ${found.mtimeMs}`)
    }
  }
  return lines.toSorted().join('\n')
}

export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}

const isMissing = (error: unknown): boolean => isErrno(error, 'ENOENT') || isErrno(error, 'ENOTDIR')

export const isErrno = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code

const unreadable = (path: string, cause: unknown): RalphError =>
  new RalphError('FILE_UNREADABLE', `cannot read: ${reason(cause)}`, { place: { file: path }, cause })

/** A full disk has a code of its own: there is something to be done about it, and then it goes on. */
export function unwritable(path: string, cause: unknown): RalphError {
  if (cause instanceof RalphError) return cause
  const details = { place: { file: path }, cause }
  if (!isDiskFull(cause)) return new RalphError('FILE_UNWRITABLE', `cannot write: ${reason(cause)}`, details)
  const hint = 'make room and run the same command again'
  return new RalphError('DISK_FULL', `cannot write: ${reason(cause)}`, { ...details, hint })
}

export const isDiskFull = (error: unknown): boolean => ['ENOSPC', 'EDQUOT'].some((code) => isErrno(error, code))

const reason = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))
