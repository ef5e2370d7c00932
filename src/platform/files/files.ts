import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  statfsSync,
  statSync,
  unlinkSync,
  readlinkSync,
  type Dirent,
  type Stats,
} from 'node:fs'
import { chmod, copyFile, cp, mkdir, mkdtemp, open, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { RalphError, errorMessage } from '../../contract/errors.ts'

/** The text of a file, or undefined if it does not exist. Any other failure throws with the path. */
export async function readTextIfExists(path: string): Promise<string | undefined> {
  try {
    // An exception costs more than a stat.
    const found = statSync(path, { throwIfNoEntry: false })
    return found && (await readFile(requireFile(path, found), 'utf8'))
  } catch (error) {
    if (isNotFoundError(error)) return undefined
    throw unreadableFile(path, error)
  }
}

export function readTextSyncIfExists(path: string): string | undefined {
  try {
    // An exception costs more than a stat.
    const found = statSync(path, { throwIfNoEntry: false })
    return found && readFileSync(requireFile(path, found), 'utf8')
  } catch (error) {
    if (isNotFoundError(error)) return undefined
    throw unreadableFile(path, error)
  }
}

/**
 * Reading a pipe, or a device such as /dev/zero, may never end. `<(command)` of a shell is a pipe that the user means, and a link
 * to /dev/null is an empty file.
 */
function requireFile(path: string, found: Stats): string {
  const isEndless = found.isFIFO() || (found.isCharacterDevice() && found.rdev !== statIfExists('/dev/null')?.rdev)
  if (isEndless && !/^\/(?:dev\/(?:fd\/|stdin$)|proc\/)/.test(path)) throw new Error(`${path} is a pipe or a device`)
  return path
}

const maxPlainBytes = 16 * 1024 ** 2

/**
 * The text of a file that an agent can write; undefined unless it is a regular file of moderate size. A link may lead to a secret
 * that the agent itself cannot read, and a pipe never ends.
 */
export function readPlainText(path: string): string | undefined {
  // An exception costs more than a stat.
  if (!existsItself(path)) return undefined
  let file: number
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO', 'EMLINK'].some((code) => isErrno(error, code))) return undefined
    throw unreadableFile(path, error)
  }
  try {
    const found = fstatSync(file)
    return found.isFile() && found.size <= maxPlainBytes ? readFileSync(file, 'utf8') : undefined
  } finally {
    closeSync(file)
  }
}

/** The last bytes of a file of any size; empty if it does not exist. */
export async function readTail(path: string, bytes: number): Promise<string> {
  const file = await open(path, 'r').catch((error: unknown) => {
    if (isNotFoundError(error)) return undefined
    throw unreadableFile(path, error)
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

/** Space for unprivileged users on the disk that holds a path. */
export async function diskSpace(path: string): Promise<DiskSpace> {
  // The kernel answers without disk access, and a thread costs more.
  const { bavail, blocks, bsize } = statfsSync(path)
  return { freeBytes: bavail * bsize, totalBytes: blocks * bsize }
}

export const readBytes = (path: string): Promise<Buffer> => readFile(path)

export const moveFile = (from: string, to: string): Promise<void> => rename(from, to)

/** For many files at once: a thread for each costs more. */
export const moveFileSync = (from: string, to: string): void => renameSync(from, to)

export const isFolder = (path: string): boolean => statIfExists(path)?.isDirectory() ?? false

/** A folder, not a link to one; a link that leads to itself is none. */
export const isFolderItself = (path: string | Buffer): boolean => lstatIfExists(path)?.isDirectory() ?? false

/** A regular file, not a link to one. */
export const isFileItself = (path: string | Buffer): boolean => lstatIfExists(path)?.isFile() ?? false

/** Who may read, write and execute a regular file: 0o644. Undefined for anything else. */
export function readMode(path: string | Buffer): number | undefined {
  const found = lstatIfExists(path)
  return found?.isFile() ? found.mode & 0o777 : undefined
}

/** Who may list, change and enter a folder: 0o755. Undefined for anything else. */
export function readFolderMode(path: string): number | undefined {
  const found = lstatIfExists(path)
  return found?.isDirectory() ? found.mode & 0o7777 : undefined
}

export const setMode = (path: string | Buffer, mode: number): Promise<void> => chmod(path, mode)

/** Also true for a link that leads nowhere. */
export const existsItself = (path: string | Buffer): boolean => lstatIfExists(path) !== undefined

export const isFile = (path: string): boolean => statIfExists(path)?.isFile() ?? false

export const isLink = (path: string): boolean => lstatIfExists(path)?.isSymbolicLink() ?? false

/** Removes a symbolic link, never its target; anything else stays. */
export const removeLink = (path: string): void => void (isLink(path) && unlinkSync(path))

export const realPath = (path: string): string => realpathSync(path)

export const exists = (path: string): boolean => existsSync(path)

export async function createFolder(path: string): Promise<void> {
  try {
    await createMissingFolders(path)
  } catch (error) {
    throw unwritableFile(path, error)
  }
}

/** Without Node's `recursive`: where no folder can be created, as in /proc, it retries forever. */
async function createMissingFolders(path: string): Promise<void> {
  if (isFolder(path)) return
  if (dirname(path) !== path) await createMissingFolders(dirname(path))
  try {
    await mkdir(path)
  } catch (error) {
    if (!isFolder(path)) throw error
  }
}

/** Throws if this user may not create files in the folder, or its disk is read-only. */
export function assertFolderWritable(path: string): void {
  try {
    if (exists(path)) accessSync(path, constants.W_OK)
  } catch (error) {
    throw unwritableFile(path, error)
  }
}

/** Creates a folder that only its owner can read. */
export async function createPrivateFolder(path: string): Promise<void> {
  await createFolder(path)
  await chmod(path, 0o700)
}

/** Creates a fresh folder for temporary files. */
export const createTemporaryFolder = (name: string): Promise<string> => mkdtemp(join(tmpdir(), `${name}-`))

/** Writes a file; fails if it exists. */
export async function writeNewFile(path: string, text: string): Promise<void> {
  try {
    await writeFile(path, text, { flag: 'wx' })
  } catch (error) {
    throw unwritableFile(path, error)
  }
}

export const copyFolder = (from: string, to: string): Promise<void> =>
  cp(from, to, { recursive: true, errorOnExist: true, force: false })

/** Fails if the target exists. */
export const copyFileTo = (from: string, to: string): Promise<void> => copyFile(from, to, constants.COPYFILE_EXCL)

/** Copies a file with its permissions over whatever exists at the target. */
export async function copyFileOver(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true })
  await rm(to, { recursive: true, force: true })
  await copyFile(from, to)
}

/** Names in a folder; empty if it does not exist. */
export async function listFolder(path: string): Promise<string[]> {
  try {
    return await readdir(path)
  } catch (error) {
    if (isNotFoundError(error)) return []
    throw unreadableFile(path, error)
  }
}

/** As many links as the kernel follows. */
const maxLinks = 40

/**
 * Whether a path passes through a folder and leaves it by a link in it. An agent can write such links in its work tree: what it names must not
 * become what the link leads to.
 */
export function leadsOut(path: string, folder: string): boolean {
  if (!existsSync(path) || realpathSync(path) === path) return false
  let [at, isInside] = ['/', false]
  const rest = path.split('/')
  for (let links = 0; links <= maxLinks;) {
    const name = rest.shift()
    if (name === undefined) return isInside && !isBelow(at, folder)
    const next = resolve(at, name === '' ? '.' : name)
    isInside ||= isBelow(next, folder)
    if (name === '..' || !isLink(next)) {
      at = next
      continue
    }
    links++
    const target = readlinkSync(next)
    if (target.startsWith('/')) at = '/'
    rest.unshift(...target.split('/'))
  }
  return true
}

const isBelow = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}/`)

export type FolderEntry = { readonly name: string; readonly kind: 'file' | 'folder' | 'link' | 'other' }

/** What is directly in a folder; empty if it cannot be read. Links are not followed. */
export async function listEntries(path: string): Promise<FolderEntry[]> {
  const entries = await readdir(path, { withFileTypes: true }).catch(() => [])
  return entries.map((entry) => ({ name: entry.name, kind: entryKind(entry) }))
}

function entryKind(entry: Dirent): FolderEntry['kind'] {
  if (entry.isSymbolicLink()) return 'link'
  if (entry.isDirectory()) return 'folder'
  return entry.isFile() ? 'file' : 'other'
}

/** Names of the folders in a folder; empty if it does not exist. */
export async function listFolders(path: string): Promise<string[]> {
  try {
    const entries = await readdir(path, { withFileTypes: true })
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
  } catch (error) {
    if (isNotFoundError(error)) return []
    throw unreadableFile(path, error)
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

/** Paths of everything below a folder that is not a folder, relative to it, one character per byte; links are not followed. */
export async function listEverything(folder: Buffer): Promise<string[]> {
  const found: string[] = []
  for (const entry of await readdir(folder, { withFileTypes: true, encoding: 'buffer' })) {
    const name = entry.name.toString('latin1')
    if (!entry.isDirectory()) found.push(name)
    else {
      const below = await listEverything(Buffer.concat([folder, Buffer.from('/'), entry.name]))
      for (const path of below) found.push(`${name}/${path}`)
    }
  }
  return found
}

/** Whether the group of a folder may write to it. */
export const hasGroupWrite = (path: string): boolean => ((statIfExists(path)?.mode ?? 0) & 0o020) !== 0

/** ext, XFS, Btrfs, tmpfs, F2FS, overlayfs, ZFS. */
const localFileSystems = new Set([0xef53, 0x58465342, 0x9123683e, 0x01021994, 0xf2f52010, 0x794c7630, 0x2fc12fc1])

/** Whether the time of a folder changes with every file that is created or removed in it; network file systems may be late. */
export function hasReliableFolderTimes(path: string): boolean {
  try {
    return process.platform === 'linux' && localFileSystems.has(statfsSync(path).type)
  } catch {
    return false
  }
}

/** In milliseconds; undefined if it is not there. */
export const modifiedAt = (path: string): number | undefined => statIfExists(path)?.mtimeMs

/** When a file or its permissions last changed, or those of what it leads to: no program can set this time back. 0 if it is missing. */
export const changedAt = (path: string): number =>
  Math.max(lstatIfExists(path)?.ctimeMs ?? 0, statIfExists(path)?.ctimeMs ?? 0)

/** Changes with every write, including a rename. */
export function fileSignature(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false, bigint: true })
  return found && `${found.ino} ${found.size} ${found.mtimeNs}`
}

/** The size of a file, not of what a link leads to; 0 if it does not exist. */
export const lstatSize = (path: string | Buffer): number => lstatIfExists(path)?.size ?? 0

/** 0 if the file does not exist. */
export const fileSize = (path: string): number => statIfExists(path)?.size ?? 0

export type FileIdentity = Pick<Stats, 'ino' | 'dev'>

/** What identifies an open file as long as it is open. */
export const identifyFile = (fd: number): FileIdentity => fstatSync(fd)

/** Whether a path leads to a file. */
export function isSameFile({ ino, dev }: FileIdentity, path: string): boolean {
  const there = statIfExists(path)
  return there !== undefined && there.ino === ino && there.dev === dev
}

/** Succeeds if the file does not exist. */
export const removeFile = (path: string): Promise<void> => rm(path, { force: true })

/** Returns whether the folder was empty and is gone. */
export function removeEmptyFolder(path: string): boolean {
  try {
    rmdirSync(path)
    return true
  } catch {
    return false
  }
}

/** For many files at once; fails if one does not exist. */
export const removeFileSync = (path: string): void => unlinkSync(path)

/** Removes a folder of files, in a fifth of the time that `removeFolder` takes; other folders too. */
export function removeFlatFolder(path: string): void {
  try {
    for (const name of readdirSync(path)) unlinkSync(join(path, name))
    rmdirSync(path)
  } catch {
    rmSync(path, { recursive: true, force: true })
  }
}

/** Removes a folder and its contents. */
export const removeFolder = (path: string): Promise<void> => rm(path, { recursive: true, force: true })

/** Paths, sizes and times of the files below a folder as one text, up to `maxFiles`. */
export async function statTree(folder: string, except: readonly string[], maxFiles = 20_000): Promise<string> {
  const lines: string[] = []
  const queue = [folder]
  for (let next = queue.pop(); next !== undefined && lines.length < maxFiles; next = queue.pop()) {
    for (const entry of await readdir(next, { withFileTypes: true }).catch(() => [])) {
      const path = join(next, entry.name)
      if (entry.name === 'node_modules' || except.includes(path)) continue
      if (entry.isDirectory()) queue.push(path)
      const found = statIfExists(path)
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

const isNotFoundError = (error: unknown): boolean => isErrno(error, 'ENOENT') || isErrno(error, 'ENOTDIR')

const statIfExists = (path: string): Stats | undefined => ignoreMissing(() => statSync(path, { throwIfNoEntry: false }))

const lstatIfExists = (path: string | Buffer): Stats | undefined =>
  ignoreMissing(() => lstatSync(path, { throwIfNoEntry: false }))

/**
 * `throwIfNoEntry` throws for a path through a file, through links that lead to each other, or through a folder that the user may
 * not search, such as the volume of a database. None of them can be there for this user.
 */
function ignoreMissing(stat: () => Stats | undefined): Stats | undefined {
  try {
    return stat()
  } catch (error) {
    if (isNotFoundError(error) || isErrno(error, 'ELOOP') || isErrno(error, 'EACCES')) return undefined
    throw error
  }
}

export const isErrno = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code

const unreadableFile = (path: string, cause: unknown): RalphError =>
  new RalphError('FILE_UNREADABLE', `cannot read: ${errorMessage(cause)}`, { place: { file: path }, cause })

/** A full disk has its own code: the user can make room, and then Ralph continues. */
export function unwritableFile(path: string, cause: unknown): RalphError {
  if (cause instanceof RalphError) return cause
  const details = { place: { file: path }, cause }
  if (!isNoSpaceError(cause)) return new RalphError('FILE_UNWRITABLE', `cannot write: ${errorMessage(cause)}`, details)
  const hint = 'make room and run the same command again'
  return new RalphError('DISK_FULL', `cannot write: ${errorMessage(cause)}`, { ...details, hint })
}

export const isNoSpaceError = (error: unknown): boolean => ['ENOSPC', 'EDQUOT'].some((code) => isErrno(error, code))
