import { createReadStream, statSync } from 'node:fs'
import { createLineSplitter } from './line-splitter.ts'

/** Reads a file of any size; buffers at most one line. */
export async function readFileLines(path: string, onLine: (line: string) => void): Promise<void> {
  const lines = createLineSplitter(onLine)
  const chunks: AsyncIterable<Buffer> = createReadStream(path, { highWaterMark: 256 * 1024 })
  for await (const chunk of chunks) lines.push(chunk)
  lines.end()
}

/** Modification time in milliseconds. */
export const readModifiedAt = (path: string): number => statSync(path).mtimeMs
