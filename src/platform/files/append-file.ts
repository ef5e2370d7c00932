import { open, type FileHandle } from 'node:fs/promises'
import { isNoSpaceError, isSameFile } from './files.ts'

/** An append-only file; every append is durable before it is acknowledged. */
export interface AppendFile {
  /** Resolves when the text is durable. Concurrent appends share one sync. A rejected append leaves nothing behind. */
  readonly append: (text: string) => Promise<void>
  readonly size: () => number
  /** False if the path now leads to another file: readers would not find what is appended. */
  readonly isInPlace: () => boolean
  readonly close: () => Promise<void>
}

/** The part of a file handle that this module uses. */
export type AppendTarget = Pick<FileHandle, 'write' | 'datasync' | 'truncate' | 'close'>

type PendingAppend = { readonly bytes: Buffer; readonly resolve: () => void; readonly reject: (error: unknown) => void }

/** Opens the file and truncates it to the size that is known to be good. */
export async function openAppendFile(path: string, goodBytes: number): Promise<AppendFile> {
  const file = await open(path, 'r+')
  const { size } = await file.stat()
  if (size !== goodBytes) {
    await file.truncate(goodBytes)
    await file.sync()
  }
  return { ...createAppender(file, goodBytes), isInPlace: () => isSameFile(file.fd, path) }
}

export function createAppender(file: AppendTarget, goodBytes: number): Omit<AppendFile, 'isInPlace'> {
  let size = goodBytes
  let queue: PendingAppend[] = []
  let flushing: Promise<void> | undefined
  let broken: { readonly error: unknown } | undefined

  const write = async (bytes: Buffer) => {
    if (broken) throw broken.error
    try {
      await writeAll(file, bytes, size)
    } catch (error) {
      // A full disk can accept a part of a record: cut it off, or the next append would follow it.
      await file.truncate(size).catch(() => (broken = { error }))
      throw error
    }
    try {
      await file.datasync()
    } catch (error) {
      // A full disk has taken none of these bytes, and takes them again later. After any other error the content of the disk is
      // unknown, and a second sync would not report it: only reading the file again does.
      if (!isNoSpaceError(error)) broken = { error }
      await file.truncate(size).catch(() => (broken = { error }))
      throw error
    }
    size += bytes.length
  }
  const flush = async () => {
    while (queue.length > 0) {
      const batch = queue
      queue = []
      await write(Buffer.concat(batch.map(({ bytes }) => bytes))).then(
        () => batch.forEach(({ resolve }) => resolve()),
        (error: unknown) => batch.forEach(({ reject }) => reject(error)),
      )
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

/** A write may be partial; only `bytesWritten` shows it. */
async function writeAll(file: AppendTarget, bytes: Buffer, position: number): Promise<void> {
  for (let written = 0; written < bytes.length;) {
    const { bytesWritten } = await file.write(bytes, written, bytes.length - written, position + written)
    if (bytesWritten === 0) throw createDiskFullError()
    written += bytesWritten
  }
}

const createDiskFullError = (): Error => Object.assign(new Error('the disk takes no more bytes'), { code: 'ENOSPC' })
