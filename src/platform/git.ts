import { execFile } from 'node:child_process'

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
]
const author = {
  GIT_AUTHOR_NAME: 'Ralph',
  GIT_AUTHOR_EMAIL: 'ralph@localhost',
  GIT_COMMITTER_NAME: 'Ralph',
  GIT_COMMITTER_EMAIL: 'ralph@localhost',
}

export type GitOptions = {
  readonly cwd: string
  /** A private index, so that the user's stays untouched. */
  readonly index?: string
  /** Another git folder for this work tree; `cwd` is then the root of the work tree. */
  readonly gitDir?: string
  /** Where `gitDir` reads and writes objects. */
  readonly objects?: string
  readonly input?: string
  /** For commands that use the network: git is killed after this time. */
  readonly timeoutMs?: number
}

/** Resolves with the output of git, without the last newline; rejects with its error message. */
export function git(options: GitOptions, ...args: readonly string[]): Promise<string> {
  const { cwd, index, gitDir, objects, input, timeoutMs = 0 } = options
  const env = {
    ...withoutGitVariables(process.env),
    ...author,
    GIT_OPTIONAL_LOCKS: '0',
    ...(index !== undefined && { GIT_INDEX_FILE: index }),
    ...(gitDir !== undefined && { GIT_DIR: gitDir, GIT_WORK_TREE: cwd }),
    ...(objects !== undefined && { GIT_OBJECT_DIRECTORY: objects }),
  }
  return new Promise((resolve, reject) => {
    const child = execFile(
      'git',
      [...ownConfig, ...args],
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

/** Variables such as GIT_DIR would redirect every call to another repository. */
const withoutGitVariables = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('GIT_')))
