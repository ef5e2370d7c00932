import { closeSync, fstatSync, ftruncateSync, openSync, readFileSync, statSync, writeSync } from 'node:fs'
import { tryLock } from 'fs-native-extensions'

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

/** Takes the lock at once or tells who has it. What is written into the file is for people; the lock is the kernel's. */
export function lockFile(path: string, about: string): LockResult {
  for (;;) {
    const fd = openSync(path, 'a+', 0o600)
    if (!tryLock(fd)) {
      closeSync(fd)
      return { owner: readFileSync(path, 'utf8').trim() }
    }
    if (isSameFile(fd, path)) {
      ftruncateSync(fd)
      writeSync(fd, `${about}\n`)
      return { lock: { isHeld: () => isSameFile(fd, path), release: () => closeSync(fd) } }
    }
    // Deleted between open and lock: take the one that is there now.
    closeSync(fd)
  }
}

function isSameFile(fd: number, path: string): boolean {
  const mine = fstatSync(fd)
  const there = statSync(path, { throwIfNoEntry: false })
  return there !== undefined && there.ino === mine.ino && there.dev === mine.dev
}
