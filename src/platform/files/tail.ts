import { noop } from '../async.ts'
import { closeSync, constants, fstatSync, openSync, read, readSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { promisify } from 'node:util'
import { identifyFile, isSameFile } from './files.ts'

/** Reads a file while another process writes it. */
export interface Tail {
  /** Reads what was added since the last call, up to a bound; true if there may be more. */
  read: () => Promise<boolean>
  /** Size of the file, including what was not read yet. */
  bytes: () => number
  /** False if the file was deleted or replaced: its content can then only be read here. */
  isInPlace: () => boolean
  /** Copies the whole file to a new one. */
  copyTo: (path: string) => Promise<void>
  close: () => Promise<void>
}

const readMore = promisify(read)

const chunkBytes = 64 * 1024
/** Passed on at once: 8 KB of one-character lines become 4,000 events, which all stay in memory until they are written. */
const sliceBytes = 8 * 1024
/** Bounds one read, so that a flood of output cannot starve the caller: short lines take longer to read than to write. */
const maxReadMs = 50

/** The next chunk is read when the promise, if any, resolves. */
export type OnChunk = (chunk: Buffer) => Promise<void> | void | undefined

/** Creates the file if it does not exist, so that it can be followed. */
export async function openTail(path: string, onChunk: OnChunk): Promise<Tail> {
  const fd = openSync(path, constants.O_RDONLY | constants.O_CREAT, 0o600)
  const buffer = Buffer.allocUnsafe(chunkBytes)
  let position = 0
  let reading: Promise<unknown> = Promise.resolve()
  return {
    async read() {
      const until = performance.now() + maxReadMs
      // Usually there is little to read, and a thread costs more than the read.
      let bytesRead = readSync(fd, buffer, 0, chunkBytes, position)
      for (;;) {
        position += bytesRead
        for (let start = 0; start < bytesRead; start += sliceBytes) {
          const busy = onChunk(buffer.subarray(start, Math.min(start + sliceBytes, bytesRead)))
          if (busy) await busy
        }
        if (bytesRead < chunkBytes) return false
        if (performance.now() >= until) return true
        const more = readMore(fd, buffer, 0, chunkBytes, position)
        reading = more
        bytesRead = (await more).bytesRead
      }
    },
    bytes: () => fstatSync(fd).size,
    isInPlace: () => isSameFile(identifyFile(fd), path),
    copyTo: (to) => copyDescriptor(fd, to),
    async close() {
      // If a thread still reads from this descriptor after it was reused, it would read another file.
      await reading.catch(noop)
      closeSync(fd)
    },
  }
}

async function copyDescriptor(from: number, path: string): Promise<void> {
  const to = await open(path, 'wx', 0o600)
  try {
    const buffer = Buffer.allocUnsafe(chunkBytes)
    for (let position = 0; ;) {
      const { bytesRead } = await readMore(from, buffer, 0, chunkBytes, position)
      if (bytesRead === 0) return
      await to.writeFile(buffer.subarray(0, bytesRead))
      position += bytesRead
    }
  } finally {
    await to.close()
  }
}
