import { closeSync, ftruncateSync, openSync, writeSync } from 'node:fs'
import { RalphError, errorMessage } from '../../contract/errors.ts'
import { exists, identifyFile, isSameFile, readTextSyncIfExists } from './files.ts'
import { nativeFiles } from './native-files.ts'

/** A lock that the kernel releases when the process ends, no matter how. */
export interface FileLock {
  /** False if the file was deleted or replaced: another process may hold the new one. */
  readonly isHeld: () => boolean
  readonly release: () => void
}

export type LockResult =
  | { readonly lock: FileLock }
  /** `owner`: the description that the owner wrote. */
  | { readonly owner: string }

/** A process that only checks the lock holds it briefly, and a new owner needs a moment to write its description. */
const lockTimeoutMs = 100
const retryDelayMs = 5

/** Takes the lock or returns its owner within a fraction of a second. The text in the file is for users; the kernel holds the lock. */
export function lockFile(path: string, about: string): LockResult {
  const deadline = performance.now() + lockTimeoutMs
  for (;;) {
    const fd = tryOpenLocked(path)
    if (fd !== undefined) {
      ftruncateSync(fd)
      writeSync(fd, `${about}\n`)
      const identity = identifyFile(fd)
      return { lock: { isHeld: () => isSameFile(identity, path), release: () => closeSync(fd) } }
    }
    if (performance.now() > deadline) return { owner: readDescription(path) }
    Atomics.wait(sleepCell, 0, 0, retryDelayMs)
  }
}

const sleepCell = new Int32Array(new SharedArrayBuffer(4))

/** The description that the owner wrote; undefined if the lock is free. */
export function readLockOwner(path: string): string | undefined {
  if (isLockedByAnother(path)) return readDescription(path)
  return undefined
}

/** A shared lock needs no right to write: the file may belong to another user, or be on a disk that is read-only. */
function isLockedByAnother(path: string): boolean {
  if (!exists(path)) return false
  const fd = openSync(path, 'r')
  try {
    return !nativeFiles().tryLock(fd, { shared: true })
  } catch {
    // On a file system without locks no process can hold one: `lockFile` refuses there.
    return false
  } finally {
    closeSync(fd)
  }
}

/** Locks the current file: a lock on a file that was deleted between open and lock is worthless. */
function tryOpenLocked(path: string): number | undefined {
  for (;;) {
    const fd = openSync(path, 'a+', 0o600)
    if (tryLock(fd, path) && isSameFile(identifyFile(fd), path)) return fd
    const gone = !isSameFile(identifyFile(fd), path)
    closeSync(fd)
    if (!gone) return undefined
  }
}

function tryLock(fd: number, path: string): boolean {
  try {
    return nativeFiles().tryLock(fd)
  } catch (cause) {
    closeSync(fd)
    throw new RalphError('STATE_UNWRITABLE', `this file system has no locks: ${errorMessage(cause)}`, {
      place: { file: path },
      hint: 'two runs could use the sprint at once; set RALPH_HOME to a folder on a local disk',
      cause,
    })
  }
}

const readDescription = (path: string): string => (readTextSyncIfExists(path) ?? '').trim()
