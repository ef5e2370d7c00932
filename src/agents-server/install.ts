import { RalphError } from '../contract/errors.ts'
import { redactor, secretsIn } from '../contract/redact.ts'
import { runShortly } from '../platform/processes/short-run.ts'
import type { Environment } from './agent-ports.ts'

export type Installing = {
  /** With `{version}` in it. */
  readonly command: string | undefined
  readonly env: Environment
  readonly cwd: string
  /** The version that the next start would run, as it lies on the disk. */
  readonly installedVersion?: (() => string | undefined) | undefined
}

const mostMs = 240_000
const mostShown = 1000

/** Only in the way that was chosen on this machine: the backend names a version and nothing else. */
export async function install(version: string, how: Installing): Promise<void> {
  const { command, env, cwd } = how
  if (command === undefined) {
    throw new RalphError('NOT_SUPPORTED', `this machine does not let others install ralph ${version}`, {
      hint: 'install it there, or join again with --update "npm install --global ralph-mode@{version}"',
    })
  }
  const script = `{ ${command.replaceAll('{version}', version)}\n} 2>&1`
  const job = { file: '/bin/sh', args: ['-c', script], cwd, env: given(env), timeoutMs: mostMs }
  const { code, stdout } = await runShortly(job)
  const said = redactor(secretsIn(env))(stdout.trim()).slice(-mostShown)
  if (code !== 0) {
    const why = code === null ? `it was killed, or took longer than ${mostMs / 1000} s` : `exit code ${code}`
    throw new RalphError('MACHINE_REFUSED', `ralph ${version} could not be installed there (${why}): ${said}`)
  }
  const found = how.installedVersion?.() ?? version
  if (found === version) return
  const where = `what this machine runs is still ralph ${found}: its command installs somewhere else`
  throw new RalphError('MACHINE_REFUSED', `ralph ${version} was installed, but ${where}. ${said}`)
}

const given = (env: Environment): Record<string, string> =>
  Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined))
