import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { attemptFiles, joinedSince, noteEnded, readEnded, readExit, readId, type Ended } from './attempt-folder.ts'
import { exists, fileSize, isErrno, makeFolder, removeLink, unwritable, writeNewFile } from '../files/files.ts'
import { killDescendants } from './orphans.ts'
import { isAlive, signal, sweep, type ProcessId } from './process-table.ts'
import { markVariable, startUnderShim, type Shim } from './shim.ts'
import { openTail, type Tail } from '../files/tail.ts'

export type SupervisedProcess = {
  /** A folder of its own for pid, stdin, stdout, stderr and exit code. If it is there already, what runs in it is joined. */
  readonly folder: string
  readonly file: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly stdin: string
  /** Written into the folder first, by name. */
  readonly files: Readonly<Record<string, string>>
  /** Told to the process and inherited by everything it starts. */
  readonly mark: string
  readonly onOutput: (chunk: Buffer) => void
  /** How long the process has run already when it was joined and not started. */
  readonly onJoined?: (ranMs: number) => void
  /** Asked several times a second, with what it has printed so far, errors included; the answer ends the process. */
  readonly overdue: (bytes: number) => Ended | undefined
  readonly signal: AbortSignal
  /** What it is given to end by itself after a TERM. */
  readonly graceMs?: number
}

/** `lost`: it is gone without an exit code, killed together with its shim or by a reboot. */
export type ProcessEnd = { readonly code: number | null; readonly lost: boolean; readonly ended?: Ended }

const defaultGraceMs = 10_000
const pollMs = 100

/** Runs a program under the shim, or joins the one that already runs in the folder, until nothing of it is left. */
export async function superviseProcess(job: SupervisedProcess): Promise<ProcessEnd> {
  const folder = prepare(job)
  // Opened before the program can run: one that deletes the folder under itself does not take its output with it.
  const tail = await openTail(join(job.folder, attemptFiles.stdout), job.onOutput)
  try {
    const { shim, ended } = await runUnderShim(job, tail, folder)
    if (folder === 'new' && !shim) return { code: null, lost: true }
    await readRest(tail, ended, job.signal)
    const code = shim?.told() ?? readExit(job.folder) ?? shim?.exitCode() ?? null
    if (!tail.isInPlace()) await rescue(job.folder, tail, code)
    shim?.release()
    return { code, lost: code === null && ended === undefined, ...(ended && { ended }) }
  } finally {
    await tail.close()
  }
}

type Run = { readonly shim?: Shim; readonly ended?: Ended | undefined }

/** Until nothing of it is left. A shim that is killed before it could begin, as one of those that wait may be, is replaced. */
async function runUnderShim(job: SupervisedProcess, tail: Tail, folder: Folder): Promise<Run> {
  if (folder === 'old') job.onJoined?.(joinedSince(job.folder))
  for (let tries = 1; ; tries++) {
    const started = performance.now()
    const shim = folder === 'new' ? await start(job) : undefined
    if (folder === 'new' && !shim) return {}
    const ended = (await follow(job, shim, tail)) ?? flooded(job, tail)
    sweep(job.mark, performance.now() - started < recentMs ? shim?.before : undefined)
    if (!shim || ended || tries === mostTries || hasBegun(job.folder, shim)) return { ...(shim && { shim }), ended }
  }
}

const mostTries = 5

/** It says so before it begins, in a folder that its program may have deleted since. */
const hasBegun = (folder: string, shim: Shim): boolean =>
  shim.told() !== undefined || exists(join(folder, attemptFiles.pid)) || !exists(folder)

/** In a longer time process numbers may have gone round the circle. */
const recentMs = 10_000

/** It may have ended by itself before anybody could look how much it had printed. */
const flooded = (job: SupervisedProcess, tail: Tail): Ended | undefined =>
  job.overdue(tail.bytes()) === 'output-cap' ? 'output-cap' : undefined

/** After an end of our own there is not much worth reading: of a flood nothing, else a last word. */
const readsAfterEnd = 8

async function readRest(tail: Tail, ended: Ended | undefined, stop: AbortSignal): Promise<void> {
  if (ended === 'output-cap') return
  for (let reads = 0; await tail.read(); reads++) {
    if ((ended !== undefined || stop.aborted) && reads >= readsAfterEnd) return
  }
}

/** Whether it is ours to begin in. */
type Folder = 'new' | 'old'

/**
 * Makes the folder with all that the program needs, if it is not there already. Without waiting for threads: these are small
 * files in memory, and a promise for each took more time than all the rest.
 */
function prepare({ folder, files, stdin }: SupervisedProcess): Folder {
  try {
    makeIn(dirname(folder), () => mkdirSync(folder, { mode: 0o700 }))
  } catch (error) {
    if (isErrno(error, 'EEXIST')) return 'old'
    throw unwritable(folder, error)
  }
  const texts = { ...files, [attemptFiles.stdin]: stdin, [attemptFiles.stderr]: '' }
  for (const [name, text] of Object.entries(texts)) {
    const path = join(folder, name)
    try {
      writeFileSync(path, text, { flag: 'wx', ...(name === attemptFiles.stderr && { mode: 0o600 }) })
    } catch (error) {
      throw unwritable(path, error)
    }
  }
  return 'new'
}

/** Makes something in a folder that is nearly always there. */
function makeIn(parent: string, make: () => void): void {
  try {
    make()
  } catch (error) {
    if (!isErrno(error, 'ENOENT')) throw error
    mkdirSync(parent, { recursive: true })
    make()
  }
}

/** A machine that has no room for another process now may have some later. */
const noRoom = ['EAGAIN', 'ENOMEM', 'EMFILE', 'ENFILE']

async function start({ mark, env, ...job }: SupervisedProcess): Promise<Shim | undefined> {
  try {
    return await startUnderShim({ ...job, env: { ...env, [markVariable]: mark } })
  } catch (error) {
    if (noRoom.some((code) => isErrno(error, code))) return undefined
    throw error
  }
}

/** Waits until the program is over, or overdue and ended. */
async function follow(job: SupervisedProcess, shim: Shim | undefined, tail: Tail): Promise<Ended | undefined> {
  const id = shim ? shim.id : readId(job.folder)
  const pause = wakeOn(job.signal, shim)
  const errors = join(job.folder, attemptFiles.stderr)
  for (;;) {
    const more = await tail.read()
    // An end that was begun before we were killed is brought to its end.
    const begun = shim ? undefined : readEnded(job.folder)
    if (shim ? shim.isOver() : isOver(job.folder, id)) return begun
    const due = job.signal.aborted ? 'aborted' : job.overdue(tail.bytes() + fileSize(errors))
    const ended = begun ?? due
    if (ended) {
      noteEnded(job.folder, ended)
      shim?.retire()
      if (id) await endTree(id, job)
      return ended
    }
    await pause(more ? 0 : pollMs)
  }
}

const isOver = (folder: string, id: ProcessId | undefined): boolean => readExit(folder) !== null || !id || !isAlive(id)

/** TERM to the group, a grace, KILL to all that descends from the shim, then whatever carries the mark. */
async function endTree(id: ProcessId, { mark, graceMs = defaultGraceMs }: SupervisedProcess): Promise<void> {
  signal(-id.pid, 'SIGTERM')
  const deadline = performance.now() + graceMs
  while (performance.now() < deadline && isAlive(id)) await sleep(20)
  // Stopped, it says no exit code of its own, and still adopts what is left behind.
  signal(id.pid, 'SIGSTOP')
  killDescendants(id.pid)
  signal(-id.pid, 'SIGKILL')
  sweep(mark)
}

/** Somebody has deleted the folder while the program ran in it (an agent with `git clean`): what it has printed is written anew. */
async function rescue(folder: string, tail: Tail, code: number | null): Promise<void> {
  // In place of the folder of all attempts there may be a link now, to where an agent wants something written.
  removeLink(dirname(folder))
  await makeFolder(folder)
  const transcript = join(folder, attemptFiles.stdout)
  if (!exists(transcript)) await tail.copyTo(transcript)
  const exit = join(folder, attemptFiles.exit)
  if (code !== null && !exists(exit)) await writeNewFile(exit, `${code}\n`)
}

/** Lets the polls be cut short by what they wait for. */
function wakeOn(abort: AbortSignal, shim: Shim | undefined) {
  let wake = asleep
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

const asleep = (): void => {}
