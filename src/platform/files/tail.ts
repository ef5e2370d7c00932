import { closeSync, constants, fstatSync, openSync, read, readSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { promisify } from 'node:util'
import { isSameFile } from './files.ts'

/** Reads a file that somebody else is writing. */
export interface Tail {
  /** What has been added since the last call, up to a bound; true if there may be more. */
  read: () => Promise<boolean>
  /** How big the file is, read or not. */
  bytes: () => number
  /** False if the file was deleted or replaced: what it held can only be read here. */
  isInPlace: () => boolean
  /** Writes all that the file holds into a new one. */
  copyTo: (path: string) => Promise<void>
  close: () => Promise<void>
}

const readMore = promisify(read)

const chunkBytes = 64 * 1024
/** So that a flood cannot keep the reader from looking up: short lines take much longer to read than to write. */
const readMs = 50

/** A file that is not there is made, so that it can be waited for. */
export async function openTail(path: string, onChunk: (chunk: Buffer) => void): Promise<Tail> {
  const fd = openSync(path, constants.O_RDONLY | constants.O_CREAT, 0o600)
  const buffer = Buffer.allocUnsafe(chunkBytes)
  let position = 0
  let reading: Promise<unknown> = Promise.resolve()
  return {
    async read() {
      const until = performance.now() + readMs
      // What is there is mostly little, and a thread for it costs more than to read it.
      let bytesRead = readSync(fd, buffer, 0, chunkBytes, position)
      for (;;) {
        position += bytesRead
        if (bytesRead > 0) onChunk(buffer.subarray(0, bytesRead))
        if (bytesRead < chunkBytes) return false
        if (performance.now() >= until) return true
        const more = readMore(fd, buffer, 0, chunkBytes, position)
        reading = more
        bytesRead = (await more).bytesRead
      }
    },
    bytes: () => fstatSync(fd).size,
    isInPlace: () => isSameFile(fd, path),
    copyTo: (to) => copy(fd, to),
    async close() {
      // A number that is given to another file while a thread still reads from it would be read from there.
      await reading.catch(nothing)
      closeSync(fd)
    },
  }
}

async function copy(from: number, path: string): Promise<void> {
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

const nothing = (): void => {}
