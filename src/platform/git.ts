import { execFile, spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { RalphError } from '../contract/errors.ts'
import { isDiskFull } from './git-plumbing.ts'
import { killIfWaiting } from './git-pipes.ts'
import { pathOutside } from './safe-path.ts'

/** Neither the user's configuration nor a repository's hooks may affect how Ralph uses git. */
const ownConfig = [
  '-c',
  'core.hooksPath=/dev/null',
  '-c',
  'commit.gpgSign=false',
  '-c',
  'core.fsmonitor=false',
  '-c',
  'gc.auto=0',
  '-c',
  'advice.addEmbeddedRepo=false',
  // Ralph parses diffs, and users apply them.
  '-c',
  'diff.noprefix=false',
  '-c',
  'diff.mnemonicPrefix=false',
  '-c',
  'diff.suppressBlankEmpty=false',
  '-c',
  'diff.submodule=short',
  '-c',
  'color.diff=false',
]
const ralphAuthor: GitAuthor = { name: 'Ralph', email: 'ralph@localhost' }

export type GitAuthor = { readonly name: string; readonly email: string }

export type GitOptions = {
  readonly cwd: string
  /** A private index, so that the user's stays untouched. */
  readonly index?: string
  /** Another git folder for this work tree; `cwd` is then the root of the work tree. */
  readonly gitDir?: string
  /** Where git writes objects, and reads them first. */
  readonly objects?: string
  /** A folder whose objects git only reads. */
  readonly alternates?: string
  /** Lets git refresh the index while it only reads; for an index of Ralph's own. */
  readonly refreshesIndex?: boolean
  readonly input?: string
  /** Output and input as bytes, one per character: a path need not be UTF-8. */
  readonly isBinary?: boolean
  /** Author and committer of a commit; default: Ralph. */
  readonly author?: GitAuthor
  /** For commands that use the network: git is killed after this time. */
  readonly timeoutMs?: number
  /** Called with what git printed to stderr although it succeeded. */
  readonly onWarning?: (text: string) => void
}

/** Resolves with the output of git, without the last newline; rejects with its error message. */
export function git(options: GitOptions, ...args: readonly string[]): Promise<string> {
  const { cwd, input, timeoutMs = 0, onWarning, isBinary = false } = options
  const encoding = isBinary ? 'latin1' : 'utf8'
  const name = `git ${args[0] === '-c' ? args[2] : args[0]}`
  return new Promise((resolve, reject) => {
    const child = execFile(
      'git',
      [...ownConfig, ...args],
      { cwd, env: gitEnvironment(options), encoding, maxBuffer: 256 * 1024 * 1024, timeout: timeoutMs },
      (error, stdout, stderr) => {
        const waiting = findWaiting()
        if (waiting) reject(waiting)
        else if (error?.killed) reject(gitFailed(`${name}: no answer within ${timeoutMs / 1000} s`, error))
        else if (error) reject(gitFailed(`${name}: ${stderr.trim() || error.message}`, error))
        else {
          if (stderr !== '') onWarning?.(stderr)
          resolve(stdout.replace(/\n$/, ''))
        }
      },
    )
    const findWaiting = killIfWaiting(child, cwd)
    child.stdin?.on('error', () => {})
    child.stdin?.end(input ?? '', encoding)
  })
}

/** The paths of the submodules in the output of `git ls-files --stage -z`. */
export const parseSubmodules = (listed: string): string[] =>
  [...listed.matchAll(/(?:^|\0)160000 [^\t]*\t([^\0]+)/g)].map(([, path = '']) => path)

/** Starts git with pipes, for output that is too large for memory. */
export function spawnGit(options: GitOptions, ...args: readonly string[]): ChildProcessWithoutNullStreams {
  const { cwd } = options
  const child = spawn('git', [...ownConfig, ...args], { cwd, env: gitEnvironment(options), stdio: 'pipe' })
  killIfWaiting(child, cwd)
  return child
}

function gitEnvironment(options: GitOptions): NodeJS.ProcessEnv {
  const { cwd, index, gitDir, objects, alternates, refreshesIndex = false, author = ralphAuthor } = options
  return {
    ...withoutGitVariables(process.env),
    PATH: pathOutside(process.env['PATH'] ?? '/usr/bin:/bin', cwd),
    GIT_AUTHOR_NAME: author.name,
    GIT_AUTHOR_EMAIL: author.email,
    GIT_COMMITTER_NAME: author.name,
    GIT_COMMITTER_EMAIL: author.email,
    GIT_OPTIONAL_LOCKS: refreshesIndex ? '1' : '0',
    ...(index !== undefined && { GIT_INDEX_FILE: index }),
    ...(gitDir !== undefined && { GIT_DIR: gitDir, GIT_WORK_TREE: cwd }),
    ...(objects !== undefined && { GIT_OBJECT_DIRECTORY: objects }),
    ...(alternates !== undefined && { GIT_ALTERNATE_OBJECT_DIRECTORIES: alternates }),
  }
}

export function gitFailed(message: string, cause: Error): RalphError {
  if (isDiskFull(message)) return new RalphError('DISK_FULL', message, { cause, hint: 'make space on the disk' })
  if (!message.includes('dubious ownership')) return new RalphError('GIT_FAILED', message, { cause })
  const hint = 'if you trust it: git config --global --add safe.directory <the repository>'
  return new RalphError('GIT_FAILED', 'git reads no repository that belongs to another user', { cause, hint })
}

/** Variables such as GIT_DIR would redirect every call to another repository. */
const withoutGitVariables = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('GIT_')))
