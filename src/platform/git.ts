import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Nothing of the user's own configuration and no hook of a repository has a say in what Ralph does with git. */
const ours = [
  '-c',
  'core.hooksPath=/dev/null',
  '-c',
  'commit.gpgSign=false',
  '-c',
  'user.name=Ralph',
  '-c',
  'user.email=ralph@localhost',
]

/** Resolves with what git printed; rejects with what it complained about. */
export async function git(cwd: string, ...args: readonly string[]): Promise<string> {
  const { stdout } = await run('git', [...ours, ...args], { cwd, maxBuffer: 64 * 1024 * 1024 })
  return stdout
}
