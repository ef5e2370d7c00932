import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { ralphProgram } from '../support/paths.ts'
import { claude } from './real-agents.ts'
import { installed, type RealSprint } from './real-sprint.ts'

/** A user of the real claude with `ralph` on PATH. `more`: folders that come first. */
export async function createUser(sprint: RealSprint, more: readonly string[] = []) {
  const folder = await installed('claude')
  await sprint.write('../path/ralph', `#!/bin/sh\nexec '${process.execPath}' '${ralphProgram}' "$@"\n`)
  await chmod(sprint.at('../path/ralph'), 0o755)
  const env = {
    PATH: [...more, sprint.at('../path'), folder, dirname(process.execPath), '/usr/bin', '/bin'].join(':'),
    HOME: sprint.at('../home'),
    TMPDIR: sprint.at('../tmp'),
    IS_SANDBOX: '1',
    ...claude.env?.(sprint.model.url),
  }
  return { program: join(folder, 'claude'), options: { cwd: sprint.at(), env } }
}

type ProgramOptions = { readonly cwd: string; readonly env: Readonly<Record<string, string>> }

/** Starts the real claude as a user would. */
export async function startClaude(sprint: RealSprint, ...args: readonly string[]) {
  const { program, options } = await createUser(sprint)
  return startProgram(program, args, options)
}

export async function startProgram(program: string, args: readonly string[], options: ProgramOptions) {
  const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { exitCode: child.exitCode, stdout, stderr }
}
