import { noop } from '../async.ts'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  attemptFiles,
  readRunningTime,
  writeEndReason,
  readEndReason,
  readExitCode,
  readProcessId,
  type EndReason,
} from './attempt-folder.ts'
import { exists, fileSize, isErrno, createFolder, removeLink, unwritableFile, writeNewFile } from '../files/files.ts'
import { killDescendants } from './orphans.ts'
import { isProcessAlive, sendSignal, killMarked, type ProcessId } from './process-table.ts'
import { markVariable, startUnderShim, type Shim } from './shim.ts'
import { openTail, type OnChunk, type Tail } from '../files/tail.ts'

export type SupervisedProcess = {
  /** A private folder for pid, stdin, stdout, stderr and exit code. If it exists, the process in it is joined. */
  readonly folder: string
  readonly file: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly stdin: string
  /** Files to write into the folder first, by name. */
  readonly files: Readonly<Record<string, string>>
  /** Passed to the process and inherited by everything it starts. */
  readonly mark: string
  readonly onOutput: OnChunk
  /** Called with the id of the process, once it runs. */
  readonly onStart?: ((pid: number) => void) | undefined
  /** Called with the time that the process has run already, if it was joined rather than started. */
  readonly onJoined?: (ranMs: number) => void
  /** Called several times a second with the number of bytes printed so far, stderr included; a result ends the process. */
  readonly overdue: (bytes: number) => EndReason | undefined
  readonly signal: AbortSignal
  /** Time to exit after TERM. */
  readonly graceMs?: number
}

/** `lost`: the process exited without an exit code, killed together with its shim or by a reboot. */
export type ProcessEnd = { readonly code: number | null; readonly lost: boolean; readonly ended?: EndReason }

const defaultGraceMs = 10_000
const pollIntervalMs = 100
/** At the start and in a flood, which can write a gigabyte in the usual interval. */
const shortPollIntervalMs = 10
/** More bytes than this since the last poll are a flood. */
const floodBytes = 1024 * 1024

/** Runs a program under the shim, or joins the one that runs in the folder, until no process of it is left. */
export async function superviseProcess(job: SupervisedProcess): Promise<ProcessEnd> {
  const isNew = createJobFolder(job)
  // Open it before the program runs, so that the output survives if the program deletes its own folder.
  const tail = await openTail(join(job.folder, attemptFiles.stdout), job.onOutput)
  try {
    if (!isNew) job.onJoined?.(readRunningTime(job.folder))
    const marked = { ...job, env: { ...job.env, [markVariable]: job.mark } }
    for (let tries = 1; ; tries++) {
      const started = performance.now()
      const shim = isNew ? await startUnderShim(marked).catch(ignoreShortage) : undefined
      if (isNew && !shim) return { code: null, lost: true }
      const ended = (await followProcess(job, shim, tail)) ?? detectFlood(job, tail)
      killMarked(job.mark, performance.now() - started < pidWrapMs ? shim?.before : undefined)
      // Another shim takes the job of one that was killed before it started it, as an idle one may be.
      if (shim && !ended && tries < maxAttempts && !hasJobStarted(job.folder, shim)) continue
      await drainOutput(tail, ended, job.signal)
      const code = shim?.reportedCode() ?? readExitCode(job.folder) ?? shim?.exitCode() ?? null
      if (!tail.isInPlace()) await restoreOutput(job.folder, tail, code)
      shim?.release()
      return { code, lost: code === null && ended === undefined, ...(ended && { ended }) }
    }
  } finally {
    await tail.close()
  }
}

const maxAttempts = 5

/** The shim writes `pid` before it starts the program, which may have deleted the folder since. */
const hasJobStarted = (folder: string, shim: Shim): boolean =>
  shim.reportedCode() !== undefined || exists(join(folder, attemptFiles.pid)) || !exists(folder)

/** PIDs may have wrapped around after a longer time. */
const pidWrapMs = 10_000

/** The program may have exited before the supervisor checked how much it printed. */
const detectFlood = (job: SupervisedProcess, tail: Tail): EndReason | undefined =>
  job.overdue(tail.bytes()) === 'output-cap' ? 'output-cap' : undefined

/** After Ralph kills it, read only a little of the remaining output, and nothing after a flood. */
const maxReadsAfterEnd = 8

async function drainOutput(tail: Tail, ended: EndReason | undefined, stop: AbortSignal): Promise<void> {
  if (ended === 'output-cap') return
  for (let reads = 0; await tail.read(); reads++) {
    if ((ended !== undefined || stop.aborted) && reads >= maxReadsAfterEnd) return
  }
}

/**
 * Creates the folder with everything the program needs; false if it exists. Synchronous: these are small files in memory, and a
 * promise for each took longer than all the rest.
 */
function createJobFolder({ folder, files, stdin }: SupervisedProcess): boolean {
  try {
    createIn(dirname(folder), () => mkdirSync(folder, { mode: 0o700 }))
  } catch (error) {
    if (isErrno(error, 'EEXIST')) return false
    throw unwritableFile(folder, error)
  }
  const texts = { ...files, [attemptFiles.stdin]: stdin, [attemptFiles.stderr]: '' }
  for (const [name, text] of Object.entries(texts)) {
    const path = join(folder, name)
    try {
      writeFileSync(path, text, { flag: 'wx', ...(name === attemptFiles.stderr && { mode: 0o600 }) })
    } catch (error) {
      throw unwritableFile(path, error)
    }
  }
  return true
}

/** Creates something in a folder that almost always exists. */
function createIn(parent: string, make: () => void): void {
  try {
    make()
  } catch (error) {
    if (!isErrno(error, 'ENOENT')) throw error
    mkdirSync(parent, { recursive: true })
    make()
  }
}

/** Errors of a machine that cannot create another process now, but may later. */
const resourceErrors = ['EAGAIN', 'ENOMEM', 'EMFILE', 'ENFILE']

function ignoreShortage(error: unknown): undefined {
  if (!resourceErrors.some((code) => isErrno(error, code))) throw error
}

/** Waits until the program is over, or overdue and ended. */
async function followProcess(
  job: SupervisedProcess,
  shim: Shim | undefined,
  tail: Tail,
): Promise<EndReason | undefined> {
  const id = shim ? shim.id : readProcessId(job.folder)
  if (id) job.onStart?.(id.pid)
  const pause = createPause(job.signal, shim)
  const errors = join(job.folder, attemptFiles.stderr)
  let [intervalMs, printed] = [shortPollIntervalMs, 0]
  for (;;) {
    const more = await tail.read()
    // If Ralph was killed while it ended the process, finish that.
    const recordedReason = shim ? undefined : readEndReason(job.folder)
    if (shim ? shim.isOver() : hasProcessEnded(job.folder, id)) return recordedReason
    const bytes = tail.bytes() + fileSize(errors)
    const due = job.signal.aborted ? 'aborted' : job.overdue(bytes)
    const ended = recordedReason ?? due
    if (ended) {
      writeEndReason(job.folder, ended)
      shim?.retire()
      // Output that is already too long would grow during the grace period.
      if (id) await killTree(id, ended === 'output-cap' ? { ...job, graceMs: 0 } : job)
      return ended
    }
    intervalMs = bytes - printed > floodBytes ? shortPollIntervalMs : Math.min(pollIntervalMs, 2 * intervalMs)
    printed = bytes
    await pause(more ? 0 : intervalMs)
  }
}

const hasProcessEnded = (folder: string, id: ProcessId | undefined): boolean =>
  readExitCode(folder) !== null || !id || !isProcessAlive(id)

/** TERM to the group, a grace period, KILL to all descendants of the shim, then everything that carries the mark. */
async function killTree(id: ProcessId, { mark, graceMs = defaultGraceMs }: SupervisedProcess): Promise<void> {
  sendSignal(-id.pid, 'SIGTERM')
  const deadline = performance.now() + graceMs
  while (performance.now() < deadline && isProcessAlive(id)) await sleep(20)
  // A stopped shim reports no exit code of its own, and still adopts what is left behind.
  sendSignal(id.pid, 'SIGSTOP')
  killDescendants(id.pid)
  sendSignal(-id.pid, 'SIGKILL')
  killMarked(mark)
}

/** The folder was deleted while the program ran in it, e.g. by an agent with `git clean`: write the output again. */
async function restoreOutput(folder: string, tail: Tail, code: number | null): Promise<void> {
  // An agent may have replaced the folder of all attempts by a link to a place where it wants to write.
  removeLink(dirname(folder))
  await createFolder(folder)
  const transcript = join(folder, attemptFiles.stdout)
  if (!exists(transcript)) await tail.copyTo(transcript)
  const exit = join(folder, attemptFiles.exit)
  if (code !== null && !exists(exit)) await writeNewFile(exit, `${code}\n`)
}

/** A pause that ends early when the program exits or the signal aborts. */
function createPause(abort: AbortSignal, shim: Shim | undefined) {
  let wake = noop
  shim?.onOver(() => wake())
  return (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer)
        abort.removeEventListener('abort', done)
        resolve()
      }
      const timer = setTimeout(done, ms)
      abort.addEventListener('abort', done, { once: true })
      wake = done
    })
}
