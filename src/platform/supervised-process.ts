import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { attemptFiles, joinedSince, noteEnded, readEnded, readExit, readId, type Ended } from './attempt-folder.ts'
import { exists, fileSize, isErrno, makeFolder, makeNewFolder, unwritable, writeNewFile } from './files.ts'
import { isAlive, processId, signal, sweep, type ProcessId } from './process-table.ts'
import { openTail, type Tail } from './tail.ts'

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

/**
 * Stands between us and the program, in a session of its own, and outlives us: writes who it is and how the program ended, so
 * that a Ralph that was killed finds both again. Shell built-ins only. The traps are handlers, not "ignore", which the
 * program would inherit. A line counts when its newline is there.
 */
const shim = `trap : TERM INT HUP
read -r stat </proc/$$/stat 2>/dev/null; read -r boot </proc/sys/kernel/random/boot_id 2>/dev/null
dir=$1; shift
echo "$$ \${boot:-none} \${stat##*) }" >"$dir/pid"
"$@"
code=$?
echo $code >"$dir/exit"
exit $code`

/** Runs a program under the shim, or joins the one that already runs in the folder, until nothing of it is left. */
export async function superviseProcess(job: SupervisedProcess): Promise<ProcessEnd> {
  const isNew = await prepare(job)
  // Opened before the program can run: one that deletes the folder under itself does not take its output with it.
  const tail = await openTail(join(job.folder, attemptFiles.stdout), job.onOutput)
  try {
    const child = isNew ? await start(job) : undefined
    if (isNew && !child) return { code: null, lost: true }
    const id = child?.pid === undefined ? readId(job.folder) : processId(child.pid)
    if (!isNew) job.onJoined?.(joinedSince(job.folder))
    const ended = (await follow(job, child, id, tail)) ?? flooded(job, tail)
    sweep(job.mark, child && id)
    await readRest(tail, ended, job.signal)
    const code = readExit(job.folder) ?? child?.exitCode ?? null
    if (!tail.isInPlace()) await rescue(job.folder, tail, code)
    return { code, lost: code === null && ended === undefined, ...(ended && { ended }) }
  } finally {
    await tail.close()
  }
}

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

/** Makes the folder with all that the program needs; false if it is there already. */
async function prepare({ folder, files, stdin }: SupervisedProcess): Promise<boolean> {
  try {
    await makeNewFolder(folder)
  } catch (error) {
    if (isErrno(error, 'EEXIST')) return false
    throw unwritable(folder, error)
  }
  for (const [name, text] of Object.entries({ ...files, [attemptFiles.stdin]: stdin })) {
    await writeNewFile(join(folder, name), text)
  }
  return true
}

/** A machine that has no room for another process now may have some later. */
const noRoom = ['EAGAIN', 'ENOMEM', 'EMFILE', 'ENFILE']

async function start(job: SupervisedProcess): Promise<ChildProcess | undefined> {
  const handles = await Promise.all([
    open(join(job.folder, attemptFiles.stdin), 'r'),
    open(join(job.folder, attemptFiles.stdout), 'a', 0o600),
    open(join(job.folder, attemptFiles.stderr), 'a', 0o600),
  ])
  try {
    const child = spawn('/bin/sh', ['-c', shim, 'ralph-shim', job.folder, job.file, ...job.args], {
      cwd: job.cwd,
      env: { ...job.env, RALPH_ATTEMPT: job.mark },
      detached: true,
      stdio: handles.map(({ fd }) => fd),
    })
    await once(child, 'spawn')
    return child
  } catch (error) {
    if (noRoom.some((code) => isErrno(error, code))) return undefined
    throw error
  } finally {
    await Promise.all(handles.map((handle) => handle.close()))
  }
}

/** Waits until the program is over, or overdue and ended. */
async function follow(
  job: SupervisedProcess,
  child: ChildProcess | undefined,
  id: ProcessId | undefined,
  tail: Tail,
): Promise<Ended | undefined> {
  const pause = wakeOn(job.signal, child)
  const errors = join(job.folder, attemptFiles.stderr)
  for (;;) {
    const more = await tail.read()
    // An end that was begun before we were killed is brought to its end.
    const begun = child ? undefined : readEnded(job.folder)
    if (isOver(job.folder, child, id)) return begun
    const due = job.signal.aborted ? 'aborted' : job.overdue(tail.bytes() + fileSize(errors))
    const ended = begun ?? due
    if (ended) {
      noteEnded(job.folder, ended)
      if (id) await endTree(id, job)
      return ended
    }
    await pause(more ? 0 : pollMs)
  }
}

function isOver(folder: string, child: ChildProcess | undefined, id: ProcessId | undefined): boolean {
  if (child) return child.exitCode !== null || child.signalCode !== null
  return readExit(folder) !== null || !id || !isAlive(id)
}

/** TERM to the group, a grace, KILL, then whatever carries the mark. */
async function endTree(id: ProcessId, { mark, graceMs = defaultGraceMs }: SupervisedProcess): Promise<void> {
  signal(-id.pid, 'SIGTERM')
  const deadline = performance.now() + graceMs
  while (performance.now() < deadline && isAlive(id)) await sleep(20)
  signal(-id.pid, 'SIGKILL')
  sweep(mark, id)
}

/** Somebody has deleted the folder while the program ran in it (an agent with `git clean`): what it has printed is written anew. */
async function rescue(folder: string, tail: Tail, code: number | null): Promise<void> {
  await makeFolder(folder)
  const transcript = join(folder, attemptFiles.stdout)
  if (!exists(transcript)) await tail.copyTo(transcript)
  const exit = join(folder, attemptFiles.exit)
  if (code !== null && !exists(exit)) await writeNewFile(exit, `${code}\n`)
}

/** Lets the polls be cut short by what they wait for. */
function wakeOn(abort: AbortSignal, child: ChildProcess | undefined) {
  let wake = asleep
  child?.once('exit', () => wake())
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
