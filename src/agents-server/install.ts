import { RalphError } from '../contract/errors.ts'
import { createRedactor, findEnvSecrets } from '../contract/secrets/redact.ts'
import { runWithTimeout } from '../platform/processes/timed-run.ts'
import type { HostEnvironment } from '../host/create-ports.ts'

export type InstallOptions = {
  /** Contains `{version}`. */
  readonly command: string | undefined
  readonly env: HostEnvironment
  readonly cwd: string
  /** The version that the next start would run, read from the disk. */
  readonly installedVersion?: (() => string | undefined) | undefined
}

const installTimeoutMs = 240_000
const maxShownOutput = 1000

/** Runs only the command configured on this machine: the backend supplies a version and nothing else. */
export async function installVersion(version: string, how: InstallOptions): Promise<void> {
  const { command, env, cwd } = how
  if (command === undefined) {
    throw new RalphError('NOT_SUPPORTED', `this machine does not accept updates (ralph ${version})`, {
      hint: 'install it on the machine, or join again with --update "/opt/install-ralph {version}"',
    })
  }
  const script = `{ ${command.replaceAll('{version}', version)}\n} 2>&1`
  const job = { file: '/bin/sh', args: ['-c', script], cwd, env: definedVariables(env), timeoutMs: installTimeoutMs }
  const { code, stdout } = await runWithTimeout(job)
  const output = createRedactor(findEnvSecrets(env))(stdout.trim()).slice(-maxShownOutput)
  if (code !== 0) {
    const why = code === null ? `killed, or took longer than ${installTimeoutMs / 1000} s` : `exit code ${code}`
    throw new RalphError('MACHINE_REFUSED', `failed to install ralph ${version} (${why}): ${output}`)
  }
  const found = how.installedVersion?.() ?? version
  if (found === version) return
  const where = `this machine still runs ralph ${found}: its update command installs elsewhere`
  throw new RalphError('MACHINE_REFUSED', `ralph ${version} was installed, but ${where}. ${output}`)
}

const definedVariables = (env: HostEnvironment): Record<string, string> =>
  Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined))
