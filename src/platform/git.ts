import { execFile } from 'node:child_process'

/** Nothing of the user's configuration and no hook of a repository has a say in what Ralph does with git. */
const ours = [
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
]
const author = {
  GIT_AUTHOR_NAME: 'Ralph',
  GIT_AUTHOR_EMAIL: 'ralph@localhost',
  GIT_COMMITTER_NAME: 'Ralph',
  GIT_COMMITTER_EMAIL: 'ralph@localhost',
}

export type GitOptions = {
  readonly cwd: string
  /** An index of our own: the user's is never touched. */
  readonly index?: string
  readonly input?: string
  /** For what talks to other computers: it is ended then. */
  readonly timeoutMs?: number
}

/** Resolves with what git printed, without the last newline; rejects with what it complained about. */
export function git({ cwd, index, input, timeoutMs = 0 }: GitOptions, ...args: readonly string[]): Promise<string> {
  const env = {
    ...withoutGit(process.env),
    ...author,
    GIT_OPTIONAL_LOCKS: '0',
    ...(index !== undefined && { GIT_INDEX_FILE: index }),
  }
  return new Promise((resolve, reject) => {
    const child = execFile(
      'git',
      [...ours, ...args],
      { cwd, env, maxBuffer: 256 * 1024 * 1024, timeout: timeoutMs },
      (error, stdout, stderr) => {
        if (error?.killed) reject(new Error(`git ${args[0]}: no answer within ${timeoutMs / 1000} s`, { cause: error }))
        else if (error) reject(new Error(`git ${args[0]}: ${stderr.trim() || error.message}`, { cause: error }))
        else resolve(stdout.replace(/\n$/, ''))
      },
    )
    child.stdin?.on('error', () => {})
    child.stdin?.end(input ?? '')
  })
}

/** Variables such as GIT_DIR would point every call at another repository. */
const withoutGit = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('GIT_')))
