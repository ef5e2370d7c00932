import type { AttemptState, EndReason } from '../../platform/processes/attempt-folder.ts'
import { createActivityClock } from '../../platform/clock.ts'
import { superviseProcess } from '../../platform/processes/supervised-process.ts'
import type { ShellRunner } from '../../runtime/ports.ts'
import type { WallsUse } from '../../contract/cell.ts'
import { noWalls, type Sandbox } from '../cells/sandbox.ts'
import { claimAttemptFolder, type AttemptLocation } from './attempt.ts'
import { buildCommandEnv } from './environment.ts'

/** How much of the output state and prompts keep; the attempt's folder has all of it. */
const tailBytes = 16 * 1024
const outputCapBytes = 1024 ** 3

export type ShellOptions = AttemptLocation & {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Variables that SPRINT.yaml adds to the allow-list of a cell. */
  readonly pass?: readonly string[]
  /** Encloses every command, if there is one: checks and hooks run what an agent wrote. */
  readonly cell?: Sandbox | undefined
  readonly onNote?: ((text: string) => void) | undefined
}

/**
 * Runs checks, gates and `run:` hooks under the same supervisor as agents: in the cell of the sprint with an allow-list of
 * variables, or as the user with all of them where there is no cell.
 */
export const superviseShell = (options: ShellOptions): ShellRunner => ({
  async run({ timeoutMs, command, env: extra = {}, cell: chosen, onStart, ...request }, signal) {
    const { sprintDir, cwd, env, onNote, pass = [] } = options
    const cell = chosen === 'none' ? undefined : options.cell
    const { folder, mark, showAgain } = await claimAttemptFolder(
      sprintDir,
      request,
      restartStates[request.ifBegun ?? 'restart'],
    )
    const tail = createOutputTail()
    const now = createActivityClock()
    let started = now()
    const args = ['-c', `exec 2>&1\n${command}`]
    const variables = cell ? buildCommandEnv(env, pass) : definedShellVariables(env)
    const bare = { file: '/bin/sh', args, env: { ...variables, ...extra } }
    const program = (await cell?.around(bare, { folder, sprintDir, cwd, onNote })) ?? bare
    const { code, ended, lost } = await superviseProcess({
      folder,
      ...program,
      cwd,
      stdin: '',
      files: {},
      mark,
      onStart,
      onOutput: tail.push,
      onJoined: (ranMs) => (started -= ranMs),
      overdue: (bytes) => {
        if (bytes > outputCapBytes) return 'output-cap'
        if (cell?.isDiskOver(folder)) return 'disk'
        return now() - started > timeoutMs ? 'attempt' : undefined
      },
      signal,
    })
    const walls: WallsUse = (await cell?.clear({ folder, sprintDir, onNote })) ?? noWalls
    showAgain()
    const error = describeShellFailure(ended, lost, timeoutMs)
    return { exitCode: code, output: tail.text(), durationMs: now() - started, walls, ...(error && { error }) }
  },
})

/** States of an earlier attempt after which a new one starts; in all other states it is joined. */
const restartStates: Readonly<Record<'restart' | 'join', readonly AttemptState[]>> = {
  restart: ['never-started', 'running', 'ended', 'aborted', 'lost'],
  join: ['never-started', 'aborted'],
}

function describeShellFailure(ended: EndReason | undefined, lost: boolean, timeoutMs: number): string | undefined {
  if (ended === 'attempt') return `timed out after ${timeoutMs / 1000} s`
  if (ended === 'output-cap') return 'printed more than 1 GiB'
  if (ended === 'disk') return 'wrote more than the disk limit of its cell allows'
  if (ended !== undefined) return ended
  return lost ? 'was killed' : undefined
}

function createOutputTail() {
  let tail = Buffer.alloc(0)
  return {
    push: (chunk: Buffer) => {
      const all = Buffer.concat([tail, chunk])
      tail = all.length > tailBytes * 4 ? all.subarray(-tailBytes) : all
    },
    text: () => tail.subarray(-tailBytes).toString(),
  }
}

const definedShellVariables = (env: ShellOptions['env']): Record<string, string> =>
  Object.fromEntries(Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))
