import { spawn, type StdioOptions } from 'node:child_process'
import { once } from 'node:events'
import { statSync } from 'node:fs'
import { Socket } from 'node:net'
import { join } from 'node:path'
import type { Stream } from 'node:stream'
import { attemptFiles } from './attempt-folder.ts'
import { coverInherited } from './inherited-descriptors.ts'
import { adoptingOrphans } from './orphans.ts'
import { lastProcessNumber, processId, type ProcessId } from './process-table.ts'

export type ShimJob = {
  /** With all that the program needs; its input and its two outputs are there already. */
  readonly folder: string
  readonly file: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
}

/** A shim that has a job. */
export interface Shim {
  readonly id: ProcessId
  /** The last process number given before the job began: all that the job starts comes later. Undefined if that is not certain. */
  readonly before: number | undefined
  readonly isOver: () => boolean
  /** How the program ended, as the shim says. */
  readonly told: () => number | undefined
  /** How the shim itself ended: as its program, if that could not be told in any other way. */
  readonly exitCode: () => number | null
  /** Called once. */
  readonly onOver: (listener: () => void) => void
  /** It gets no job after this one, and ends. */
  readonly retire: () => void
  /** Its job is over, and nothing of it is left: it may get another one. */
  readonly release: () => void
}

/**
 * Stands between us and a program, in a session of its own, and outlives us: writes who it is and how the program ended, so that
 * a Ralph that was killed finds both again. It is told its jobs on its standard input, one after the other, and ends with it.
 * That a shim is used again is what makes an attempt cheap: to start a process out of Node copies the page tables of Node.
 *
 * Shell built-ins only, and names that no program misses. The traps are handlers, not "ignore", which the program would
 * inherit. Where `pid` is there already nothing is started (see `closeFolder`). A line counts when its newline is there.
 */
const shim = `trap : TERM INT HUP
read -r ralph_stat </proc/$$/stat
read -r ralph_boot </proc/sys/kernel/random/boot_id
ralph_id="$$ \${ralph_boot:-none} \${ralph_stat##*) }"
ralph_begin() {
  ralph_dir=$1
  set -C
  echo "$ralph_id" >"$ralph_dir/${attemptFiles.pid}"
  ralph_failed=$?
  set +C
  return $ralph_failed
}
ralph_left() {
  ralph_tries=0
  while ralph_kids=; read -r ralph_kids </proc/$$/task/$$/children; [ -n "$ralph_kids" ] && [ $ralph_tries -lt 50 ]; do
    kill -9 $ralph_kids 2>/dev/null
    ( : )
    ralph_tries=$((ralph_tries + 1))
  done
}
ralph_end() {
  ralph_left
  echo $1 >"$ralph_dir/${attemptFiles.exit}"
  ralph_failed=$?
  echo $1
  [ $ralph_failed = 0 ] || exit $1
}
`

/** What it says instead of an exit code when it could not begin. */
const refused = 'refused'

/** A job as text for the shim. In braces: of a text that was cut off nothing is done. */
function jobText({ folder, file, args }: ShimJob, variables: readonly Variable[]): string {
  const path = (name: string) => quote(join(folder, name))
  const words = [...variables.map(([name, value]) => `${name}=${quote(value)}`), ...[file, ...args].map(quote)]
  const streams = `<${path(attemptFiles.stdin)} >>${path(attemptFiles.stdout)} 2>>${path(attemptFiles.stderr)}`
  const run = `${words.join(' ')} ${streams}; ralph_end $?`
  return `{ if ralph_begin ${quote(folder)}; then ${run}; else echo ${refused}; fi; }\n`
}

/** Within single quotes a shell takes every byte for itself; only the quote has to stand outside. */
const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

type Variable = readonly [name: string, value: string]

/** What a shim was started with; a job that wants something else gets another shim. */
type Base = Pick<ShimJob, 'cwd' | 'env'> & { readonly place: string }

type Idle = {
  readonly base: Base
  /** As far as we have heard: one that was killed just now gets a job that it does not begin. */
  readonly isGone: () => boolean
  readonly retire: () => void
  readonly give: Give
}
type Give = (job: ShimJob, variables: readonly Variable[]) => Shim

/** More than this many have nothing to do at the same time only if environments change all the time. */
const mostIdle = 4
/** The next program mostly begins at once; secrets of a user's environment must not stay in a shim that nobody needs. */
const idleMs = 60_000
const idle: Idle[] = []

/** Starts a program under a shim. Rejects with what the system says if there can be no further process. */
export async function startUnderShim(job: ShimJob): Promise<Shim> {
  if ([job.file, ...job.args].some((word) => word.includes('\0'))) {
    throw new TypeError('a program cannot be given a NUL byte')
  }
  const place = placeOf(job.cwd)
  for (const [index, { base, isGone, give }] of idle.entries()) {
    const variables = base.cwd === job.cwd && base.place === place ? changes(base.env, job.env) : undefined
    if (!variables) continue
    idle.splice(index, 1)
    return isGone() ? startUnderShim(job) : give(job, variables)
  }
  const { [markVariable]: mark = '', ...env } = job.env
  const { give } = await startShim({ cwd: job.cwd, env, place })
  return give(job, [[markVariable, mark]])
}

/** Told to everything that an attempt starts. Not to the shim itself, which may see many attempts. */
export const markVariable = 'RALPH_ATTEMPT'

/** A folder that was deleted and made again is another one, and a shim would still be in the first. */
function placeOf(folder: string): string {
  const found = statSync(folder, { throwIfNoEntry: false })
  return found ? `${found.dev} ${found.ino}` : ''
}

/** What has to be set on top of an environment to make another one; undefined if that cannot be said in a shell. */
function changes(from: Base['env'], to: Base['env']): readonly Variable[] | undefined {
  if (Object.keys(from).some((name) => to[name] === undefined)) return undefined
  const changed = Object.entries(to).filter(([name, value]) => from[name] !== value)
  return changed.every(([name]) => plainName.test(name) && !shellName.test(name)) ? changed : undefined
}

const plainName = /^[A-Za-z_][A-Za-z0-9_]*$/
/** Names that mean something to the shim itself, or that a shell does not let be changed. */
const shellName =
  /^(?:ralph_.*|BASH.*|SHELLOPTS|E?UID|PPID|GROUPS|PATH|IFS|ENV|PWD|OLDPWD|PS\d|OPT.*|LANG|LC_.*|LINENO|RANDOM|SECONDS|_)$/

async function startShim(base: Base): Promise<Idle> {
  const { cwd, env } = base
  const { file, args } = adoptingOrphans('/bin/sh', ['-s', 'ralph-shim'])
  const stdio: StdioOptions = ['pipe', 'pipe', 'ignore', ...coverInherited(3)]
  const child = spawn(file, args, { cwd, env, detached: true, stdio })
  let told = ''
  let tell = nothing
  // Before that there may be no streams.
  await once(child, 'spawn')
  const { stdin, stdout } = child
  if (!stdin || !stdout) throw new TypeError('a shim has pipes')
  // One that is gone is told by its exit; writing to it must not be an error on top.
  stdin.on('error', nothing)
  stdout.setEncoding('utf8').on('data', (text: string) => {
    told += text
    if (told.endsWith('\n')) tell()
  })
  child.on('exit', () => tell())
  child.unref()
  unref(stdin)
  unref(stdout)
  stdin.write(shim)
  const isGone = () => child.exitCode !== null || child.signalCode !== null
  const isOver = () => told.endsWith('\n') || isGone()
  const retire = () => void stdin.end()
  const id = processId(child.pid ?? 0)
  const isCounted = countsUpTo(id.pid)
  const own: Idle = {
    base,
    isGone,
    retire,
    give(job, variables) {
      told = ''
      tell = nothing
      const before = isCounted ? lastProcessNumber() : undefined
      stdin.write(jobText(job, variables))
      return {
        id,
        before,
        isOver,
        told: () => (/^\d+\n$/.test(told) ? Number(told) : undefined),
        exitCode: () => child.exitCode,
        onOver: (listener) => void (tell = listener),
        retire,
        release: () => void (isGone() || stdin.writableEnded || rest(own)),
      }
    },
  }
  return own
}

/** Whether the system's count of processes is the one that this number is from: there are containers in which it is not. */
const countsUpTo = (pid: number): boolean => {
  const last = lastProcessNumber()
  return last >= pid && last < pid + 1000
}

function rest(shimOfNobody: Idle): void {
  idle.push(shimOfNobody)
  if (idle.length > mostIdle) idle.shift()?.retire()
  tidying?.refresh()
  tidying ??= setTimeout(() => idle.splice(0).forEach(({ retire }) => retire()), idleMs).unref()
}

let tidying: NodeJS.Timeout | undefined

/** It must not keep us alive. */
function unref(stream: Stream): void {
  if (stream instanceof Socket) stream.unref()
}

const nothing = (): void => {}
