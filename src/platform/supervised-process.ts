import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isErrno, makeNewFolder, readTextSyncIfThere, writeNewFile } from './files.ts'
import { isAlive, parseStartTime, processId, signal, sweep, type ProcessId } from './process-table.ts'
import { openTail, type Tail } from './tail.ts'

/** Why the supervisor ended a process that did not end by itself. */
export type Ended = 'aborted' | 'idle' | 'attempt' | 'after-result' | 'output-cap' | 'budget'

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
  /** Asked several times a second; the answer ends the process. */
  readonly overdue: (bytes: number) => Ended | undefined
  readonly signal: AbortSignal
}

/** `lost`: it is gone without an exit code, killed together with its shim or by a reboot. */
export type ProcessEnd = { readonly code: number | null; readonly lost: boolean; readonly ended?: Ended }

export const files = {
  stdin: 'prompt.md',
  stdout: 'transcript.jsonl',
  stderr: 'stderr.log',
  pid: 'pid',
  exit: 'exit',
} as const

const graceMs = 10_000
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
  const child = await start(job)
  const id = child?.pid === undefined ? readId(job.folder) : processId(child.pid)
  const tail = await openTail(join(job.folder, files.stdout), job.onOutput)
  try {
    const ended = await follow(job, child, id, tail)
    if (id) sweep(job.mark, id)
    while (await tail.read());
    const code = readExit(job.folder) ?? child?.exitCode ?? null
    return { code, lost: code === null && ended === undefined, ...(ended && { ended }) }
  } finally {
    await tail.close()
  }
}

async function start(job: SupervisedProcess): Promise<ChildProcess | undefined> {
  try {
    await makeNewFolder(job.folder)
  } catch (error) {
    if (isErrno(error, 'EEXIST')) return undefined
    throw error
  }
  for (const [name, text] of Object.entries({ ...job.files, [files.stdin]: job.stdin })) {
    await writeNewFile(join(job.folder, name), text)
  }
  const handles = await Promise.all([
    open(join(job.folder, files.stdin), 'r'),
    open(join(job.folder, files.stdout), 'ax', 0o600),
    open(join(job.folder, files.stderr), 'ax', 0o600),
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
  for (;;) {
    const more = await tail.read()
    if (isOver(job.folder, child, id)) return undefined
    const ended = job.signal.aborted ? 'aborted' : job.overdue(tail.bytes())
    if (ended) {
      if (id) await endTree(id, job.mark)
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
async function endTree(id: ProcessId, mark: string): Promise<void> {
  signal(-id.pid, 'SIGTERM')
  const deadline = performance.now() + graceMs
  while (performance.now() < deadline && isAlive(id)) await sleep(20)
  signal(-id.pid, 'SIGKILL')
  sweep(mark, id)
}

function readId(folder: string): ProcessId | undefined {
  const text = readTextSyncIfThere(join(folder, files.pid))
  if (!text?.endsWith('\n')) return undefined
  const [pid, bootId, ...stat] = text.trim().split(' ')
  return { pid: Number(pid), bootId: bootId ?? '', startTime: parseStartTime(stat) ?? '0' }
}

function readExit(folder: string): number | null {
  const text = readTextSyncIfThere(join(folder, files.exit))
  return text?.endsWith('\n') ? Number(text) : null
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
