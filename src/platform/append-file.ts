import { open, type FileHandle } from 'node:fs/promises'

/** A file that only grows, and whose every append is on the disk before it is acknowledged. */
export interface AppendFile {
  /** Resolves when the text is durable. Appends that wait at the same time share one sync. */
  readonly append: (text: string) => Promise<void>
  readonly size: () => number
  readonly close: () => Promise<void>
}

type Waiting = { readonly bytes: Buffer; readonly resolve: () => void; readonly reject: (error: unknown) => void }

/** Opens the file at the size that is known to be good; what is behind it is cut off. */
export async function openAppendFile(path: string, goodBytes: number): Promise<AppendFile> {
  const file = await open(path, 'r+')
  let size = goodBytes
  let queue: Waiting[] = []
  let flushing: Promise<void> | undefined
  const { size: found } = await file.stat()
  if (found !== goodBytes) {
    await file.truncate(goodBytes)
    await file.sync()
  }

  const flush = async () => {
    while (queue.length > 0) {
      const batch = queue
      queue = []
      const bytes = Buffer.concat(batch.map((waiting) => waiting.bytes))
      try {
        await writeAll(file, bytes, size)
        await file.datasync()
        size += bytes.length
        for (const { resolve } of batch) resolve()
      } catch (error) {
        // A full disk can take a part of a record without complaint: cut it off, or the next append would follow it.
        await file.truncate(size).catch(() => {})
        for (const { reject } of batch) reject(error)
      }
    }
    flushing = undefined
  }
  return {
    append: (text) =>
      new Promise((resolve, reject) => {
        queue.push({ bytes: Buffer.from(text), resolve, reject })
        flushing ??= flush()
      }),
    size: () => size,
    async close() {
      await flushing
      await file.close()
    },
  }
}

/** A write may take only a part, and says so only by its number. */
async function writeAll(file: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let written = 0; written < bytes.length;) {
    const { bytesWritten } = await file.write(bytes, written, bytes.length - written, position + written)
    if (bytesWritten === 0) throw new Error('the disk takes no more bytes')
    written += bytesWritten
  }
}
