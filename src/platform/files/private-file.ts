import { open, rename, stat } from 'node:fs/promises'

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
