import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { once } from 'node:events'
import { dirname } from 'node:path'
import { createInterface } from 'node:readline'
import { createGunzip, createGzip } from 'node:zlib'
import { syncFolder } from './atomic-file.ts'

export interface GzipLineWriter {
  /** Waits while the disk is slower than the caller. */
  readonly write: (line: string) => Promise<void>
  /** SHA-256 of all lines so far. */
  readonly checksum: () => string
  /** Makes the file durable and gives it its name. */
  readonly close: () => Promise<void>
  /** Removes what was written. */
  readonly discard: () => Promise<void>
}

const flushChars = 64 * 1024

/** Writes lines into a compressed file that only this user can read. It has its name only once it is complete. */
export function createGzipLineWriter(path: string): GzipLineWriter {
  const unfinished = `${path}.unfinished`
  const gzip = createGzip({ level: 6 })
  const file = createWriteStream(unfinished, { mode: 0o600 })
  const failed = new Promise<never>((_, reject) => {
    gzip.once('error', reject)
    file.once('error', reject)
  })
  failed.catch(() => {})
  gzip.pipe(file)
  const hash = createHash('sha256')
  let text = ''
  const flush = async () => {
    const part = text
    text = ''
    if (part !== '' && !gzip.write(part)) await Promise.race([once(gzip, 'drain'), failed])
  }
  const discard = async () => {
    gzip.destroy()
    file.destroy()
    await rm(unfinished, { force: true })
  }
  return {
    write: async (line) => {
      hash.update(line).update('\n')
      text += `${line}\n`
      if (text.length >= flushChars) await flush()
    },
    checksum: () => hash.copy().digest('hex'),
    close: async () => {
      await flush()
      gzip.end()
      await Promise.race([once(file, 'close'), failed])
      const handle = await open(unfinished, 'r')
      try {
        await handle.sync()
      } finally {
        await handle.close()
      }
      await rename(unfinished, path)
      await syncFolder(dirname(path))
    },
    discard,
  }
}

/** The lines of a compressed file. Throws if it is cut off or damaged. */
export async function* readGzipLines(path: string): AsyncGenerator<string> {
  const file = createReadStream(path)
  const gunzip = createGunzip()
  const failure: { error?: Error } = {}
  const fail = (error: Error) => {
    failure.error ??= error
    gunzip.destroy()
    lines.close()
  }
  const lines = createInterface({ input: gunzip, crlfDelay: Infinity })
  file.once('error', fail)
  gunzip.once('error', fail)
  file.pipe(gunzip)
  try {
    for await (const line of lines) yield line
    if (failure.error) throw failure.error
  } finally {
    file.destroy()
    gunzip.destroy()
  }
}
