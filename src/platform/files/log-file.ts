import { dirname } from 'node:path'
import { formatLogLine, readLogLine } from '../checksummed-log.ts'
import { openAppendFile, type AppendFile, type SyncMode } from './append-file.ts'
import { writeFileAtomic } from './atomic-file.ts'
import { exists, createFolder, readBytes } from './files.ts'

/**
 * A file of JSON lines with checksums. Appended lines are durable, if the log syncs; a line that was being written at a crash is dropped.
 */
export interface LogFile {
  readonly append: (...values: readonly unknown[]) => Promise<void>
  readonly size: () => number
  /** False if the path now leads to another file: readers would not find what is appended. */
  readonly isInPlace: () => boolean
  readonly close: () => Promise<void>
}

export type OpenedLog = {
  readonly file: LogFile
  readonly values: readonly unknown[]
  /** Unreadable lines followed by good ones. They are skipped. */
  readonly damaged: number
}

export async function openLog(path: string, sync: SyncMode = 'each'): Promise<OpenedLog> {
  await createFolder(dirname(path))
  if (!exists(path)) await writeFileAtomic(path, '')
  const { values, goodBytes, damaged } = parseLogLines(await readBytes(path))
  return { file: createLogFile(await openAppendFile(path, goodBytes, sync)), values, damaged }
}

/** Reads a log without opening it for writing. */
export async function readLog(path: string): Promise<readonly unknown[]> {
  return parseLogLines(await readBytes(path)).values
}

/** Replaces the whole content. The log must not be open. */
export async function rewriteLog(path: string, values: readonly unknown[]): Promise<void> {
  await createFolder(dirname(path))
  await writeFileAtomic(path, values.map((value) => formatLogLine(value)).join(''))
}

const createLogFile = (file: AppendFile): LogFile => ({
  append: (...values) => file.append(values.map((value) => formatLogLine(value)).join('')),
  size: file.size,
  isInPlace: file.isInPlace,
  close: file.close,
})

/** Reads the complete lines; what follows the last newline is still being written. */
export function parseLogLines(bytes: Buffer): { values: unknown[]; goodBytes: number; damaged: number } {
  const values: unknown[] = []
  let goodBytes = 0
  let bad = 0
  let damaged = 0
  for (let start = 0, end = bytes.indexOf(10); end !== -1; start = end + 1, end = bytes.indexOf(10, start)) {
    const json = readLogLine(bytes.toString('utf8', start, end))
    if (json !== undefined) {
      values.push(JSON.parse(json))
      goodBytes = end + 1
      damaged += bad
      bad = 0
    } else bad++
  }
  return { values, goodBytes, damaged }
}
