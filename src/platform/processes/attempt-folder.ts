import {
  closeSync,
  lstatSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isErrno, readTextSyncIfExists, unwritableFile } from '../files/files.ts'
import { isProcessAlive, parseStartTime, type ProcessId } from './process-table.ts'

/** Why the supervisor ended a process that did not exit by itself. */
export type EndReason = (typeof endReasons)[number]
const endReasons = ['aborted', 'idle', 'attempt', 'after-result', 'output-cap', 'disk', 'budget'] as const

/** The files in the folder of an attempt. */
export const attemptFiles = {
  stdin: 'prompt.md',
  stdout: 'transcript.jsonl',
  stderr: 'stderr.log',
  /** Identity of the shim. A line counts once its newline is written. */
  pid: 'pid',
  /** Exit code of a program that exited by itself. */
  exit: 'exit',
  /** Why the supervisor ended it. */
  ended: 'ended',
} as const

/** State of the process of an attempt folder. */
export type AttemptState =
  /** Ralph was killed before the process could start. */
  | 'never-started'
  | 'running'
  | 'ended'
  /** Ended on request: the caller starts it again if needed. */
  | 'aborted'
  /** Exited without an exit code, killed together with its shim or by a reboot. */
  | 'lost'

export const attemptState = (folder: string): AttemptState =>
  decideState((name) => readTextSyncIfExists(join(folder, name)))

/** The state of the process whose files `read` returns. */
export function decideState(read: (name: string) => string | undefined): AttemptState {
  const ended = parseEndReason(completeLine(read(attemptFiles.ended)))
  if (ended) return ended === 'aborted' ? 'aborted' : 'ended'
  if (completeLine(read(attemptFiles.exit)) !== undefined) return 'ended'
  const id = parseProcessId(completeLine(read(attemptFiles.pid)))
  if (!id) return 'never-started'
  if (isProcessAlive(id)) return 'running'
  // The process may have exited between the two checks.
  return completeLine(read(attemptFiles.exit)) === undefined ? 'lost' : 'ended'
}

export const readProcessId = (folder: string): ProcessId | undefined =>
  parseProcessId(readCompleteLine(folder, attemptFiles.pid))

function parseProcessId(line: string | undefined): ProcessId | undefined {
  const [pid, bootId, ...stat] = line?.split(' ') ?? []
  if (pid === undefined || !(Number(pid) > 1)) return undefined
  return { pid: Number(pid), bootId: bootId ?? '', startTime: parseStartTime(stat) ?? '0' }
}

export function readExitCode(folder: string): number | null {
  const code = readCompleteLine(folder, attemptFiles.exit)
  return code === undefined ? null : Number(code)
}

export function readEndReason(folder: string): EndReason | undefined {
  return parseEndReason(readCompleteLine(folder, attemptFiles.ended))
}

export const parseEndReason = (text: string | undefined): EndReason | undefined =>
  endReasons.find((ending) => ending === text?.trim())

/** Call before killing the process: if Ralph is killed in between, it will not mistake its own signal for a crash of the program. */
export function writeEndReason(folder: string, reason: EndReason): void {
  try {
    writeFileSync(join(folder, attemptFiles.ended), `${reason}\n`, { flag: 'wx' })
  } catch {
    // Noted before, or no space or folder left to write to; the process is ended anyway.
  }
}

/**
 * The state of a folder, after preventing a late start: a shim whose Ralph was killed may still be about to start, but only does
 * so while `pid` does not exist.
 */
export async function settledState(folder: string): Promise<AttemptState> {
  const state = attemptState(folder)
  if (state !== 'never-started' && state !== 'aborted') return state
  const path = join(folder, attemptFiles.pid)
  try {
    writeFileSync(path, noProcess, { flag: 'wx' })
  } catch (error) {
    if (!isErrno(error, 'EEXIST')) return state
    // A shim was faster, and is about to write its identity, or was killed while doing so.
    for (let tries = 0; tries < 100 && readCompleteLine(folder, attemptFiles.pid) === undefined; tries++)
      await sleep(10)
    if (readCompleteLine(folder, attemptFiles.pid) === undefined) writeFileSync(path, noProcess)
  }
  return attemptState(folder)
}

const noProcess = 'nobody\n'

/** Links a name to the transcript in the folder of an attempt; replaces an existing link. */
export function linkTranscript(link: string, attemptFolder: string): void {
  const target = join(attemptFolder, attemptFiles.stdout)
  try {
    try {
      symlinkSync(target, link)
    } catch {
      mkdirSync(dirname(link), { recursive: true })
      rmSync(link, { force: true })
      symlinkSync(target, link)
    }
  } catch (error) {
    throw unwritableFile(link, error)
  }
}

/** Lets an existing link lead to another file, in one step. */
export function relinkTranscript(link: string, target: string): void {
  const draft = `${link}.tmp`
  // A killed process may have left its own.
  if (lstatSync(draft, { throwIfNoEntry: false })) unlinkSync(draft)
  symlinkSync(target, draft)
  renameSync(draft, link)
}

/** The last bytes of stderr. */
export function readStderrTail(folder: string, bytes: number): string {
  const path = join(folder, attemptFiles.stderr)
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  if (size === 0) return ''
  const file = openSync(path, 'r')
  try {
    const buffer = Buffer.alloc(Math.min(size, bytes))
    return buffer.toString('utf8', 0, readSync(file, buffer, 0, buffer.length, size - buffer.length))
  } finally {
    closeSync(file)
  }
}

/** Milliseconds since the process of a folder started. */
export function readRunningTime(folder: string): number {
  const startedAt = statSync(join(folder, attemptFiles.pid), { throwIfNoEntry: false })?.mtimeMs
  return startedAt === undefined ? 0 : Math.max(0, Date.now() - startedAt)
}

const readCompleteLine = (folder: string, name: string): string | undefined =>
  completeLine(readTextSyncIfExists(join(folder, name)))

const completeLine = (text: string | undefined): string | undefined => (text?.endsWith('\n') ? text.trim() : undefined)
