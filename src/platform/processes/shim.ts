import { quoteShellWord } from '../../contract/text.ts'
import { spawn, type StdioOptions } from 'node:child_process'
import { once } from 'node:events'
import { statSync } from 'node:fs'
import { Socket } from 'node:net'
import { join } from 'node:path'
import type { Stream } from 'node:stream'
import { noop } from '../async.ts'
import { attemptFiles } from './attempt-folder.ts'
import { replaceInheritedDescriptors } from './inherited-descriptors.ts'
import { adoptingOrphans } from './orphans.ts'
import { readLastPid, identifyProcess, type ProcessId } from './process-table.ts'

export type ShimJob = {
  /** Has everything that the program needs; its stdin, stdout and stderr files exist already. */
  readonly folder: string
  readonly file: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
}

/** A shim with a job. */
export interface Shim {
  readonly id: ProcessId
  /** The last pid before the job started: everything that the job starts has a later one. Undefined if uncertain. */
  readonly before: number | undefined
  readonly isOver: () => boolean
  /** Exit code of the program, as reported by the shim. */
  readonly reportedCode: () => number | undefined
  /** Exit code of the shim: that of its program, if the shim could not report it otherwise. */
  readonly exitCode: () => number | null
  /** Called once. */
  readonly onOver: (listener: () => void) => void
  /** Ends the shim after this job. */
  readonly retire: () => void
  /** The job is over and no process of it is left: the shim may get another job. */
  readonly release: () => void
}

/**
 * Sits between Ralph and a program, in a session of its own, and outlives Ralph: records its identity and the exit code of the
 * program, so that a Ralph that was killed and restarted finds both. Reads jobs from stdin, one after the other, and ends with
 * it. Reusing shims makes attempts cheap: starting a process from Node copies the page tables of Node.
 *
 * Uses only shell built-ins, and variable names that no program needs. The traps are handlers, not "ignore", which the program
 * would inherit. Starts nothing if `pid` exists (see `settledState`). A line counts once its newline is written.
 */
const shimScript = `trap : TERM INT HUP
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

/** What the shim reports instead of an exit code when it could not start the job. */
const refusedWord = 'refused'

/** Formats a job for the shim. In braces, so that a truncated text runs nothing. */
function formatJob({ folder, file, args }: ShimJob, variables: readonly EnvAssignment[]): string {
  const path = (name: string) => quoteShellWord(join(folder, name))
  const words = [
    ...variables.map(([name, value]) => `${name}=${quoteShellWord(value)}`),
    ...[file, ...args].map(quoteShellWord),
  ]
  const streams = `<${path(attemptFiles.stdin)} >>${path(attemptFiles.stdout)} 2>>${path(attemptFiles.stderr)}`
  const run = `${words.join(' ')} ${streams}; ralph_end $?`
  return `{ if ralph_begin ${quoteShellWord(folder)}; then ${run}; else echo ${refusedWord}; fi; }\n`
}

/** Within single quotes a shell takes every byte literally; only the quote itself must stand outside. */

type EnvAssignment = readonly [name: string, value: string]

/** What a shim was started with; a job with another environment gets another shim. */
type ShimBase = Pick<ShimJob, 'cwd' | 'env'> & { readonly folderId: string }

type IdleShim = {
  readonly base: ShimBase
  /** As far as we know: a shim that was just killed gets a job that it never starts. */
  readonly isGone: () => boolean
  readonly retire: () => void
  readonly give: StartShimJob
}
type StartShimJob = (job: ShimJob, variables: readonly EnvAssignment[]) => Shim

/** Shims between two jobs. */
class ShimPool {
  /** More idle shims than this only occur if environments change constantly. */
  static readonly maxIdle = 4
  /** The next program usually starts at once; secrets in a user's environment must not stay in an unused shim. */
  static readonly idleMs = 60_000
  readonly #idle: IdleShim[] = []
  #retireTimer: NodeJS.Timeout | undefined

  /** Removes the first shim that fits, with what `fit` returned for it. */
  take<T>(fit: (base: ShimBase) => T | undefined): { readonly shim: IdleShim; readonly fitting: T } | undefined {
    for (const [index, shim] of this.#idle.entries()) {
      const fitting = fit(shim.base)
      if (fitting === undefined) continue
      this.#idle.splice(index, 1)
      return { shim, fitting }
    }
    return undefined
  }

  park(shim: IdleShim): void {
    this.#idle.push(shim)
    if (this.#idle.length > ShimPool.maxIdle) this.#idle.shift()?.retire()
    this.#retireTimer?.refresh()
    this.#retireTimer ??= setTimeout(
      () => this.#idle.splice(0).forEach(({ retire }) => retire()),
      ShimPool.idleMs,
    ).unref()
  }
}

/** One per process: shims are its children. */
const idleShims = new ShimPool()

/** Starts a program under a shim. Rejects with the system error if no process can be created. */
export async function startUnderShim(job: ShimJob): Promise<Shim> {
  if ([job.file, ...job.args].some((word) => word.includes('\0'))) {
    throw new TypeError('an argument of a program cannot contain a NUL byte')
  }
  const place = identifyFolder(job.cwd)
  const found = idleShims.take((base) =>
    base.cwd === job.cwd && base.folderId === place ? diffEnv(base.env, job.env) : undefined,
  )
  if (found) return found.shim.isGone() ? startUnderShim(job) : found.shim.give(job, found.fitting)
  const { [markVariable]: mark = '', ...env } = job.env
  const { give } = await startShim({ cwd: job.cwd, env, folderId: place })
  return give(job, [[markVariable, mark]])
}

/** Set for everything that an attempt starts. Not for the shim itself, which may serve many attempts. */
export const markVariable = 'RALPH_ATTEMPT'

/** Tells a folder from one that was deleted and created again under the same path: a shim would still be in the old one. */
function identifyFolder(folder: string): string {
  const found = statSync(folder, { throwIfNoEntry: false })
  return found ? `${found.dev} ${found.ino}` : ''
}

/** The variables to set on top of one environment to get another; undefined if a shell cannot express it. */
function diffEnv(from: ShimBase['env'], to: ShimBase['env']): readonly EnvAssignment[] | undefined {
  if (Object.keys(from).some((name) => to[name] === undefined)) return undefined
  const changed = Object.entries(to).filter(([name, value]) => from[name] !== value)
  return changed.every(([name]) => plainName.test(name) && !reservedName.test(name)) ? changed : undefined
}

const plainName = /^[A-Za-z_][A-Za-z0-9_]*$/
/** Names that matter to the shim itself, or that a shell does not let a script change. */
const reservedName =
  /^(?:ralph_.*|BASH.*|SHELLOPTS|E?UID|PPID|GROUPS|PATH|IFS|ENV|PWD|OLDPWD|PS\d|OPT.*|LANG|LC_.*|LINENO|RANDOM|SECONDS|_)$/

async function startShim(base: ShimBase): Promise<IdleShim> {
  const { cwd, env } = base
  const { file, args } = adoptingOrphans('/bin/sh', ['-s', 'ralph-shim'])
  const stdio: StdioOptions = ['pipe', 'pipe', 'ignore', ...replaceInheritedDescriptors(3)]
  const child = spawn(file, args, { cwd, env, detached: true, stdio })
  let reported = ''
  let notify = noop
  // Before that the streams may not exist.
  await once(child, 'spawn')
  const { stdin, stdout } = child
  if (!stdin || !stdout) throw new TypeError('a shim has pipes')
  // The exit reports a dead shim; writing to it must not fail in addition.
  stdin.on('error', noop)
  stdout.setEncoding('utf8').on('data', (text: string) => {
    reported += text
    if (reported.endsWith('\n')) notify()
  })
  child.on('exit', () => notify())
  child.unref()
  unrefStream(stdin)
  unrefStream(stdout)
  stdin.write(shimScript)
  const isGone = () => child.exitCode !== null || child.signalCode !== null
  const isOver = () => reported.endsWith('\n') || isGone()
  const retire = () => void stdin.end()
  const id = identifyProcess(child.pid ?? 0)
  const isCounted = isPidCounterReliable(id.pid)
  const idleShim: IdleShim = {
    base,
    isGone,
    retire,
    give(job, variables) {
      reported = ''
      notify = noop
      const before = isCounted ? readLastPid() : undefined
      stdin.write(formatJob(job, variables))
      return {
        id,
        before,
        isOver,
        reportedCode: () => (/^\d+\n$/.test(reported) ? Number(reported) : undefined),
        exitCode: () => child.exitCode,
        onOver: (listener) => void (notify = listener),
        retire,
        release: () => void (isGone() || stdin.writableEnded || idleShims.park(idleShim)),
      }
    },
  }
  return idleShim
}

/** Whether the system's process counter includes this pid: in some containers it does not. */
const isPidCounterReliable = (pid: number): boolean => {
  const last = readLastPid()
  return last >= pid && last < pid + 1000
}

/** The stream must not keep the process alive. */
function unrefStream(stream: Stream): void {
  if (stream instanceof Socket) stream.unref()
}
