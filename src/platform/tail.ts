import { open } from 'node:fs/promises'

/** Reads a file that somebody else is writing. */
export interface Tail {
  /** What has been added since the last call, up to a bound; true if there may be more. */
  read: () => Promise<boolean>
  bytes: () => number
  close: () => Promise<void>
}

const chunkBytes = 64 * 1024
/** So that a flood cannot keep the reader from looking up. */
const chunksPerRead = 128

export async function openTail(path: string, onChunk: (chunk: Buffer) => void): Promise<Tail> {
  const file = await open(path, 'r')
  const buffer = Buffer.allocUnsafe(chunkBytes)
  let position = 0
  return {
    async read() {
      for (let chunk = 0; chunk < chunksPerRead; chunk++) {
        const { bytesRead } = await file.read(buffer, 0, chunkBytes, position)
        if (bytesRead === 0) return false
        position += bytesRead
        onChunk(buffer.subarray(0, bytesRead))
      }
      return true
    },
    bytes: () => position,
    close: () => file.close(),
  }
}
