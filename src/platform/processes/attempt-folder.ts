import { closeSync, mkdirSync, openSync, readSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isErrno, readTextSyncIfThere, unwritable } from '../files/files.ts'
import { isAlive, parseStartTime, type ProcessId } from './process-table.ts'

/** Why the supervisor ended a process that did not end by itself. */
export type Ended = (typeof endings)[number]
const endings = ['aborted', 'idle', 'attempt', 'after-result', 'output-cap', 'budget'] as const

/** What is in the folder of an attempt. */
export const attemptFiles = {
  stdin: 'prompt.md',
  stdout: 'transcript.jsonl',
  stderr: 'stderr.log',
  /** Who runs here. A line counts when its newline is there. */
  pid: 'pid',
  /** How it ended by itself. */
  exit: 'exit',
  /** Why we have ended it. */
  ended: 'ended',
} as const

/** What has become of the process of a folder. */
export type AttemptState =
  /** We were killed before it could begin. */
  | 'never-started'
  | 'running'
  | 'ended'
  /** Ended on request: whoever wants it done orders it again. */
  | 'aborted'
  /** Gone without an exit code, killed together with its shim or by a reboot. */
  | 'lost'

export function attemptState(folder: string): AttemptState {
  const id = readId(folder)
  if (readEnded(folder) === 'aborted') return 'aborted'
  if (readExit(folder) !== null || readEnded(folder)) return 'ended'
  if (!id) return 'never-started'
  if (isAlive(id)) return 'running'
  // It may have ended between the two looks.
  return readExit(folder) === null ? 'lost' : 'ended'
}

export function readId(folder: string): ProcessId | undefined {
  const [pid, bootId, ...stat] = wholeLine(folder, attemptFiles.pid)?.split(' ') ?? []
  if (pid === undefined || !(Number(pid) > 1)) return undefined
  return { pid: Number(pid), bootId: bootId ?? '', startTime: parseStartTime(stat) ?? '0' }
}

export function readExit(folder: string): number | null {
  const code = wholeLine(folder, attemptFiles.exit)
  return code === undefined ? null : Number(code)
}

export function readEnded(folder: string): Ended | undefined {
  const reason = wholeLine(folder, attemptFiles.ended)
  return endings.find((ending) => ending === reason)
}

/** Said before it is done: a Ralph that is killed in between does not take what it did itself for a crash of the program. */
export function noteEnded(folder: string, reason: Ended): void {
  try {
    writeFileSync(join(folder, attemptFiles.ended), `${reason}\n`, { flag: 'wx' })
  } catch {
    // Said already, or there is no room or no folder to say it in; the process is ended all the same.
  }
}

/**
 * The state of a folder that nothing begins in any more if nothing has: a shim whose Ralph was killed may still be about to, and
 * does so only where there is no `pid`.
 */
export async function settledState(folder: string): Promise<AttemptState> {
  const state = attemptState(folder)
  if (state !== 'never-started' && state !== 'aborted') return state
  const path = join(folder, attemptFiles.pid)
  try {
    writeFileSync(path, nobody, { flag: 'wx' })
  } catch (error) {
    if (!isErrno(error, 'EEXIST')) return state
    // Somebody was faster, and is about to say who it is, or was killed over it.
    for (let tries = 0; tries < 100 && wholeLine(folder, attemptFiles.pid) === undefined; tries++) await sleep(10)
    if (wholeLine(folder, attemptFiles.pid) === undefined) writeFileSync(path, nobody)
  }
  return attemptState(folder)
}

const nobody = 'nobody\n'

/** A name for what an attempt prints, in a folder beside those of the attempts; one that is there already is replaced. */
export function nameTranscript(link: string, attempt: string): void {
  const target = join('..', 'attempts', attempt, attemptFiles.stdout)
  try {
    try {
      symlinkSync(target, link)
    } catch {
      mkdirSync(dirname(link), { recursive: true })
      rmSync(link, { force: true })
      symlinkSync(target, link)
    }
  } catch (error) {
    throw unwritable(link, error)
  }
}

/** The last part of what it has printed as errors. */
export function readErrors(folder: string, bytes: number): string {
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

/** Milliseconds since the process of a folder began. */
export function joinedSince(folder: string): number {
  const begun = statSync(join(folder, attemptFiles.pid), { throwIfNoEntry: false })?.mtimeMs
  return begun === undefined ? 0 : Math.max(0, Date.now() - begun)
}

function wholeLine(folder: string, name: string): string | undefined {
  const text = readTextSyncIfThere(join(folder, name))
  return text?.endsWith('\n') ? text.trim() : undefined
}
