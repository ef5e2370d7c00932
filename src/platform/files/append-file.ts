import { writeSync } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import { identifyFile, isNoSpaceError, isSameFile } from './files.ts'

/** `each`: an append is durable before it is acknowledged. `never`: a killed process loses nothing, a power cut the last half minute. */
export type SyncMode = 'each' | 'never'

/** An append-only file. */
export interface AppendFile {
  /** Resolves when the text is written, and durable if the file syncs. Concurrent appends share one sync. A rejected append leaves nothing behind. */
  readonly append: (text: string) => Promise<void>
  readonly size: () => number
  /** False if the path now leads to another file: readers would not find what is appended. */
  readonly isInPlace: () => boolean
  readonly close: () => Promise<void>
}

/** The part of a file handle that this module uses. */
export type AppendTarget = Pick<FileHandle, 'datasync' | 'truncate' | 'close'> & {
  readonly write: (
    bytes: Buffer,
    offset: number,
    length: number,
    position: number,
  ) => Promise<{ readonly bytesWritten: number }>
}

type PendingAppend = { readonly bytes: Buffer; readonly resolve: () => void; readonly reject: (error: unknown) => void }

/** Opens the file and truncates it to the size that is known to be good. */
export async function openAppendFile(path: string, goodBytes: number, sync: SyncMode = 'each'): Promise<AppendFile> {
  const file = await open(path, 'r+')
  const { size } = await file.stat()
  if (size !== goodBytes) {
    await file.truncate(goodBytes)
    await file.sync()
  }
  const identity = identifyFile(file.fd)
  return { ...createAppender(createTarget(file), goodBytes, sync), isInPlace: () => isSameFile(identity, path) }
}

/** Writes go to the page cache: a thread would cost more than the write. */
const createTarget = (file: FileHandle): AppendTarget => ({
  write: async (bytes, offset, length, position) => ({
    bytesWritten: writeSync(file.fd, bytes, offset, length, position),
  }),
  datasync: () => file.datasync(),
  truncate: (size) => file.truncate(size),
  close: () => file.close(),
})

export function createAppender(
  file: AppendTarget,
  goodBytes: number,
  sync: SyncMode = 'each',
): Omit<AppendFile, 'isInPlace'> {
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
      if (sync === 'each') await file.datasync()
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
