import { accessSync, constants, existsSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { copyFile, cp, mkdir, mkdtemp, readFile, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { RalphError } from '../contract/errors.ts'

/** The text of a file, or undefined if there is no such file. Anything else that goes wrong is an error with the path. */
export async function readTextIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (isMissing(error)) return undefined
    throw unreadable(path, error)
  }
}

export function readTextSyncIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (isMissing(error)) return undefined
    throw unreadable(path, error)
  }
}

export const readBytes = (path: string): Promise<Buffer> => readFile(path)

export const moveFile = (from: string, to: string): Promise<void> => rename(from, to)

export const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false

export const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false

export const realPath = (path: string): string => realpathSync(path)

export const exists = (path: string): boolean => existsSync(path)

export async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true })
  } catch (error) {
    throw unwritable(path, error)
  }
}

/** A fresh folder for things that can be thrown away. */
export const makeTemporaryFolder = (name: string): Promise<string> => mkdtemp(join(tmpdir(), `${name}-`))

/** Fails if the folder is there already: attempt folders are never used twice. */
export async function makeNewFolder(path: string): Promise<void> {
  await mkdir(path)
}

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

/** Names in a folder; none if it is not there. */
export async function listFolder(path: string): Promise<string[]> {
  try {
    return await readdir(path)
  } catch (error) {
    if (isMissing(error)) return []
    throw unreadable(path, error)
  }
}

/** Changes with every write, also by rename. */
export function fileSignature(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false, bigint: true })
  return found && `${found.ino} ${found.size} ${found.mtimeNs}`
}

/** No error if it is not there. */
export const removeFile = (path: string): Promise<void> => rm(path, { force: true })

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

/** A link to a neighbour, replaced if it is there. */
export async function pointTo(link: string, target: string): Promise<void> {
  await rm(link, { force: true })
  await symlink(target, link)
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

const unwritable = (path: string, cause: unknown): RalphError =>
  new RalphError('FILE_UNWRITABLE', `cannot write: ${reason(cause)}`, { place: { file: path }, cause })

const reason = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))
