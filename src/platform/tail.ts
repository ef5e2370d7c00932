import { constants, fstatSync } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
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

const chunkBytes = 64 * 1024
/** So that a flood cannot keep the reader from looking up: short lines take much longer to read than to write. */
const readMs = 50

/** A file that is not there is made, so that it can be waited for. */
export async function openTail(path: string, onChunk: (chunk: Buffer) => void): Promise<Tail> {
  const file = await open(path, constants.O_RDONLY | constants.O_CREAT, 0o600)
  const buffer = Buffer.allocUnsafe(chunkBytes)
  let position = 0
  return {
    async read() {
      const until = performance.now() + readMs
      while (performance.now() < until) {
        const { bytesRead } = await file.read(buffer, 0, chunkBytes, position)
        if (bytesRead === 0) return false
        position += bytesRead
        onChunk(buffer.subarray(0, bytesRead))
      }
      return true
    },
    bytes: () => fstatSync(file.fd).size,
    isInPlace: () => isSameFile(file.fd, path),
    copyTo: (to) => copy(file, to),
    close: () => file.close(),
  }
}

async function copy(from: FileHandle, path: string): Promise<void> {
  const to = await open(path, 'wx', 0o600)
  try {
    const buffer = Buffer.allocUnsafe(chunkBytes)
    for (let position = 0; ;) {
      const { bytesRead } = await from.read(buffer, 0, chunkBytes, position)
      if (bytesRead === 0) return
      await to.writeFile(buffer.subarray(0, bytesRead))
      position += bytesRead
    }
  } finally {
    await to.close()
  }
}
