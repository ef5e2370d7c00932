import { existsSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs'
import { lazy } from '../lazy.ts'

/** Identity of a process: a pid alone may have been reused. */
export type ProcessId = { readonly pid: number; readonly startTime: string; readonly bootId: string }

const currentBootId = readOrDefault('/proc/sys/kernel/random/boot_id', '').trim()

export function isProcessAlive({ pid, startTime, bootId }: ProcessId): boolean {
  if (currentBootId === '') return sendSignal(pid, 0)
  return bootId === currentBootId && readStartTime(pid) === startTime
}

/** Sends a signal; false if the process does not exist. A negative pid is a process group. */
export function sendSignal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, name)
    return true
  } catch {
    return false
  }
}

/**
 * Kills every process that carries a mark as the value of a variable, no matter in which group: a grandchild that called setsid is in
 * none of ours. Scans only pids from `first` on if the caller knows that the mark did not exist before. Repeats until two
 * scans in a row find nothing, since a process can fork between scan and signal.
 */
export function killMarked(mark: string, first?: number): void {
  const needle = Buffer.from(`=${mark}\0`)
  for (let empty = 0, scans = 0; empty < 2 && scans < 100; scans++) {
    const found = (first === undefined ? listPids() : listPidsSince(first)).filter((pid) => hasMark(pid, needle))
    for (const pid of found) sendSignal(pid, 'SIGKILL')
    empty = found.length === 0 ? empty + 1 : 0
  }
}

function hasMark(pid: number, needle: Buffer): boolean {
  // Most are gone by now, and an exception costs more than a check.
  if (pid === process.pid || !existsSync(`/proc/${pid}`)) return false
  try {
    return readFileSync(`/proc/${pid}/environ`).includes(needle)
  } catch {
    return false
  }
}

/** The most recent pid; NaN if the system does not report it. */
export function readLastPid(): number {
  try {
    const { fd, buffer } = openLoadAverage()
    const text = buffer.toString('latin1', 0, readSync(fd, buffer, 0, buffer.length, 0))
    return Number(text.slice(text.lastIndexOf(' ')) || Number.NaN)
  } catch {
    return Number.NaN
  }
}

/** Stays open: every attempt reads it three times. */
const openLoadAverage = lazy(() => ({ fd: openSync('/proc/loadavg', 'r'), buffer: Buffer.alloc(100) }))

/** Up to this many pids are cheaper to probe than to list. */
const maxProbedPids = 200

/** Pids count up and wrap around, so the pids since `first` may be a range that wraps. */
function listPidsSince(first: number): number[] {
  const last = readLastPid()
  if (last >= first && last - first < maxProbedPids)
    return Array.from({ length: last - first + 1 }, (_, n) => first + n)
  return listPids().filter((pid) => (last >= first ? pid >= first && pid <= last : pid >= first || pid <= last))
}

function listPids(): number[] {
  try {
    return readdirSync('/proc')
      .map(Number)
      .filter((pid) => pid > 1)
  } catch {
    return []
  }
}

export const identifyProcess = (pid: number): ProcessId => ({
  pid,
  startTime: readStartTime(pid) ?? '0',
  bootId: currentBootId,
})

function readStartTime(pid: number): string | undefined {
  const stat = readOrDefault(`/proc/${pid}/stat`, '')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return fields[0] === 'Z' ? undefined : parseStartTime(fields)
}

/** Field 22 of /proc/<pid>/stat, clock ticks since boot, from the fields after the name. */
export const parseStartTime = (fields: readonly string[]): string | undefined => fields[19]

function readOrDefault(path: string, otherwise: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return otherwise
  }
}
