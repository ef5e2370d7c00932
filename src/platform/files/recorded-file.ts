import { createReadStream, statSync } from 'node:fs'
import { lineSplitter } from './line-splitter.ts'

/** Reads a file of any size; holds no more than one line of it. */
export async function readLines(path: string, onLine: (line: string) => void): Promise<void> {
  const lines = lineSplitter(onLine)
  const chunks: AsyncIterable<Buffer> = createReadStream(path, { highWaterMark: 256 * 1024 })
  for await (const chunk of chunks) lines.push(chunk)
  lines.end()
}

/** When it was last written to. */
export const writtenAt = (path: string): number => statSync(path).mtimeMs
