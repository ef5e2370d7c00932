import { link, open, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { syncFolder } from './atomic-file.ts'
import { isErrno } from './files.ts'

/** Atomically replaces a file that only its owner can read. */
export async function writePrivateFile(path: string, text: string): Promise<void> {
  const draft = `${path}.${process.pid}.private.tmp`
  const file = await open(draft, 'w', 0o600)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(draft, path)
}

/** Creates a file that only its owner can read, complete or not at all; false if it exists. */
export async function createPrivateFile(path: string, text: string): Promise<boolean> {
  const draft = `${path}.${process.pid}.${Math.random().toString(36).slice(2)}.new`
  const file = await open(draft, 'wx', 0o600)
  try {
    await file.writeFile(text)
    await file.sync()
    await link(draft, path)
    await syncFolder(dirname(path))
    return true
  } catch (error) {
    if (isErrno(error, 'EEXIST')) return false
    throw error
  } finally {
    await file.close()
    await rm(draft, { force: true })
  }
}

/** Size and modification time of a file; undefined if it does not exist. */
export async function statFile(
  path: string,
): Promise<{ readonly size: number; readonly changedAt: number } | undefined> {
  const found = await stat(path).catch(() => undefined)
  return found?.isFile() ? { size: found.size, changedAt: found.mtimeMs } : undefined
}

/** Reads a part of a file of any size. */
export async function readRange(
  path: string,
  offset: number,
  length: number,
): Promise<{ size: number; bytes: Buffer }> {
  const file = await open(path, 'r')
  try {
    const { size } = await file.stat()
    const count = Math.max(0, Math.min(length, size - offset))
    const { buffer, bytesRead } = await file.read(Buffer.alloc(count), 0, count, offset)
    return { size, bytes: buffer.subarray(0, bytesRead) }
  } finally {
    await file.close()
  }
}
