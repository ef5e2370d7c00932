import { RalphError } from '../contract/errors.ts'
import { redactor, secretsIn } from '../contract/redact.ts'
import { runShortly } from '../platform/short-run.ts'
import type { Environment } from './agent-ports.ts'

type Place = { readonly command: string | undefined; readonly env: Environment; readonly cwd: string }

const mostMs = 240_000
const mostShown = 1000

/** Only in the way that was chosen on this machine: the backend names a version and nothing else. */
export async function install(version: string, { command, env, cwd }: Place): Promise<void> {
  if (command === undefined) {
    throw new RalphError('NOT_SUPPORTED', `this machine does not let others install ralph ${version}`, {
      hint: 'install it there, or join again with --update "npm install --global ralph-mode@{version}"',
    })
  }
  const given = Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  )
  const script = `{ ${command.replaceAll('{version}', version)}\n} 2>&1`
  const job = { file: '/bin/sh', args: ['-c', script], cwd, env: given, timeoutMs: mostMs }
  const { code, stdout } = await runShortly(job)
  if (code === 0) return
  const why = code === null ? `it took longer than ${mostMs / 1000} s` : `exit code ${code}`
  const said = redactor(secretsIn(env))(stdout.trim().slice(-mostShown))
  throw new RalphError('MACHINE_REFUSED', `ralph ${version} could not be installed there (${why}): ${said}`)
}
