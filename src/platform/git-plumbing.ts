import { spawn } from 'node:child_process'
import { availableParallelism, constants, setPriority } from 'node:os'
import { RalphError } from '../contract/errors.ts'
import { killIfWaiting } from './git-pipes.ts'
import { pathOutside } from './safe-path.ts'

/** One call of git on a git folder that belongs to Ralph. */
export type Plumbing = {
  readonly gitDir: string
  readonly workTree?: string | undefined
  readonly index?: string | undefined
  readonly input?: string | Buffer | undefined
  /** Low priority, for the first filling of a large tree. */
  readonly background?: boolean | undefined
  /** Further `-c name=value` settings. */
  readonly settings?: readonly string[] | undefined
}

/**
 * Nothing that an agent or a user configured has a say: no configuration file but the git folder's own, no hook, filter,
 * monitor, attribute or replacement. Attributes of the work tree are switched off in the git folder's `info/attributes`.
 */
const settings = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.untrackedCache=false',
  'core.attributesFile=/dev/null',
  'core.excludesFile=/dev/null',
  'core.symlinks=true',
  'core.fileMode=true',
  'core.ignoreCase=false',
  'core.autocrlf=false',
  'core.protectNTFS=false',
  'core.looseCompression=1',
  'core.quotePath=false',
  'advice.addEmbeddedRepo=false',
  'gc.auto=0',
  `checkout.workers=${availableParallelism()}`,
  'checkout.thresholdForParallelism=100',
]

const environment = {
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_ATTR_NOSYSTEM: '1',
  GIT_NO_REPLACE_OBJECTS: '1',
  GIT_TERMINAL_PROMPT: '0',
  GIT_AUTHOR_NAME: 'Ralph',
  GIT_AUTHOR_EMAIL: 'ralph@localhost',
  GIT_AUTHOR_DATE: '2000-01-01T00:00:00Z',
  GIT_COMMITTER_NAME: 'Ralph',
  GIT_COMMITTER_EMAIL: 'ralph@localhost',
  GIT_COMMITTER_DATE: '2000-01-01T00:00:00Z',
  LC_ALL: 'C',
}

/** Resolves with what git printed; rejects with a `RalphError` that says what failed and what helps. */
export async function plumb(job: Plumbing, ...args: readonly string[]): Promise<Buffer> {
  const { code, signal, stdout, stderr } = await start(job, args)
  if (code === 0) return stdout
  throw gitError(args[0] ?? '', stderr.trim() || (signal === null ? `exit code ${code}` : `ended by ${signal}`))
}

type GitResult = {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: Buffer
  readonly stderr: string
}

function start(job: Plumbing, args: readonly string[]): Promise<GitResult> {
  const { gitDir, workTree, index, input, background } = job
  const env = {
    ...environment,
    PATH: pathOutside(process.env['PATH'] ?? '/usr/bin:/bin', workTree ?? gitDir),
    GIT_DIR: gitDir,
    ...(workTree !== undefined && { GIT_WORK_TREE: workTree }),
    ...(index !== undefined && { GIT_INDEX_FILE: index }),
  }
  const words = [...settings, ...(job.settings ?? [])].flatMap((setting) => ['-c', setting])
  return new Promise((resolve, reject) => {
    const child = spawn('git', [...words, ...args], { cwd: workTree ?? '/', env, stdio: 'pipe' })
    const stdout: Buffer[] = []
    let stderr = ''
    if (background === true && child.pid !== undefined) lowerPriority(child.pid)
    child.stdout.on('data', (bytes: Buffer) => stdout.push(bytes))
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      if (stderr.length < 100_000) stderr += text
    })
    child.once('error', (cause) => reject(notStarted(cause, workTree)))
    const findWaiting = killIfWaiting(child, workTree ?? gitDir)
    child.once('close', (code, signal) => {
      const waiting = findWaiting()
      if (waiting) reject(waiting)
      else resolve({ code, signal, stdout: Buffer.concat(stdout), stderr })
    })
    child.stdin.on('error', () => {})
    child.stdin.end(input ?? '')
  })
}

function lowerPriority(pid: number): void {
  try {
    setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL)
  } catch {
    // It may have ended already.
  }
}

/** ENOENT is also what a missing working folder looks like. */
function notStarted(cause: Error, workTree: string | undefined): RalphError {
  const where = workTree === undefined ? '' : ` (in ${workTree})`
  return new RalphError('GIT_UNAVAILABLE', `cannot start git${where}: ${cause.message}`, {
    hint: 'install git, or put it on PATH',
    cause,
  })
}

function gitError(command: string, stderr: string): RalphError {
  if (isDiskFull(stderr))
    return new RalphError('DISK_FULL', `git ${command}: ${stderr}`, {
      hint: 'make room and run the same command again',
    })
  return new RalphError('ROOM_FAILED', `git ${command}: ${stderr}`)
}

export const isDiskFull = (stderr: string): boolean =>
  /No space left on device|Disk quota exceeded|Out of diskspace/i.test(stderr)
