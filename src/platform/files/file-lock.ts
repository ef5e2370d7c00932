import { closeSync, ftruncateSync, openSync, writeSync } from 'node:fs'
import { isSameFile, readTextSyncIfThere } from './files.ts'
import { nativeFiles } from './native-files.ts'

/** A lock that the kernel gives back when the process is gone, however it went. */
export interface FileLock {
  /** False if the file was deleted or replaced: somebody else may own the new one. */
  readonly isHeld: () => boolean
  readonly release: () => void
}

export type LockResult =
  | { readonly lock: FileLock }
  /** `owner`: what the owner wrote about itself. */
  | { readonly owner: string }

/** Somebody who only looks has the lock for a moment, and an owner needs one to write its name. */
const patienceMs = 100
const pauseMs = 5

/** Takes the lock or tells who has it, in a fraction of a second. What is written into the file is for people; the lock is the kernel's. */
export function lockFile(path: string, about: string): LockResult {
  const deadline = performance.now() + patienceMs
  for (;;) {
    const fd = tryOpenLocked(path)
    if (fd !== undefined) {
      ftruncateSync(fd)
      writeSync(fd, `${about}\n`)
      return { lock: { isHeld: () => isSameFile(fd, path), release: () => closeSync(fd) } }
    }
    if (performance.now() > deadline) return { owner: readOwner(path) }
    Atomics.wait(never, 0, 0, pauseMs)
  }
}

const never = new Int32Array(new SharedArrayBuffer(4))

/** What the owner wrote about itself; undefined if nobody has the lock. */
export function lockOwner(path: string): string | undefined {
  const fd = tryOpenLocked(path)
  if (fd === undefined) return readOwner(path)
  closeSync(fd)
  return undefined
}

/** A lock on the file that is there now: one that was deleted between open and lock is of no use. */
function tryOpenLocked(path: string): number | undefined {
  for (;;) {
    const fd = openSync(path, 'a+', 0o600)
    if (nativeFiles().tryLock(fd) && isSameFile(fd, path)) return fd
    const gone = !isSameFile(fd, path)
    closeSync(fd)
    if (!gone) return undefined
  }
}

const readOwner = (path: string): string => (readTextSyncIfThere(path) ?? '').trim()
