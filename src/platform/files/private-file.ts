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
export async function fileFacts(
  path: string,
): Promise<{ readonly size: number; readonly changedAt: number } | undefined> {
  const found = await stat(path).catch(() => undefined)
  return found?.isFile() ? { size: found.size, changedAt: found.mtimeMs } : undefined
}

/** Reads a part of a file of any size. */
export async function readPart(path: string, offset: number, length: number): Promise<{ size: number; bytes: Buffer }> {
  const file = await open(path, 'r')
  try {
    const { size } = await file.stat()
    const wanted = Math.max(0, Math.min(length, size - offset))
    const { buffer, bytesRead } = await file.read(Buffer.alloc(wanted), 0, wanted, offset)
    return { size, bytes: buffer.subarray(0, bytesRead) }
  } finally {
    await file.close()
  }
}
