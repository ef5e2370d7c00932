import { setTimeout as sleep } from 'node:timers/promises'
import { join } from 'node:path'
import { RalphError } from '../../contract/errors.ts'
import { readTail } from '../../platform/files/files.ts'
import { startDetached, type DetachedProcess } from '../../platform/processes/detached-process.ts'
import { readSprintOwner } from '../../storage/state/sprint-lock.ts'
import { displayPath } from '../io/display-path.ts'
import type { Io } from '../io/io.ts'

/** Flags of `ralph run` by name; undefined ones are not passed. */
export type RunFlags = Readonly<Record<string, string | number | boolean | undefined>>

export type BackgroundRun =
  | { readonly folder: string; readonly running: true; readonly pid: number; readonly log: string }
  | { readonly folder: string; readonly running: false; readonly exitCode: number; readonly output: string }

const startTimeoutMs = 10_000

/** Runs a sprint in a process of its own that outlives this one. Resolves once the sprint is running or has already ended. */
export async function startInBackground(sprintDir: string, flags: RunFlags, io: Io): Promise<BackgroundRun> {
  const owner = readSprintOwner(sprintDir)
  if (owner !== undefined) {
    throw new RalphError('SPRINT_LOCKED', `the sprint is running (${owner})`, {
      hint: 'watch it with: ralph watch <sprint>; stop it with: ralph stop <sprint>',
    })
  }
  const log = join(sprintDir, 'run.log')
  const [, program = ''] = process.argv
  const args = [program, 'run', '--plain', ...formatFlags(flags), '--', sprintDir]
  const run = await startDetached({ file: process.execPath, args, cwd: io.cwd, env: io.env, log })
  await waitUntilStarted(run, sprintDir)
  const exitCode = run.exitCode()
  const folder = displayPath(sprintDir, io)
  if (exitCode === undefined) return { folder, running: true, pid: run.pid, log: displayPath(log, io) }
  return { folder, running: false, exitCode, output: await readTail(log, 2000) }
}

const formatFlags = (flags: RunFlags): string[] =>
  Object.entries(flags).flatMap(([name, value]) => {
    if (value === undefined || value === false) return []
    return value === true ? [`--${name}`] : [`--${name}=${value}`]
  })

async function waitUntilStarted(run: DetachedProcess, sprintDir: string): Promise<void> {
  const deadline = performance.now() + startTimeoutMs
  while (run.exitCode() === undefined && readSprintOwner(sprintDir) === undefined && performance.now() < deadline)
    await sleep(50)
}
