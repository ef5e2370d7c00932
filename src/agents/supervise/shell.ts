import type { AttemptState, Ended } from '../../platform/processes/attempt-folder.ts'
import { attentiveClock } from '../../platform/clock.ts'
import { superviseProcess } from '../../platform/processes/supervised-process.ts'
import type { ShellRunner } from '../../runtime/ports.ts'
import type { Sandbox } from '../cells/sandbox.ts'
import { takeAttempt, type Place } from './attempt.ts'

/** What is kept of the output in state and prompts; the whole is in the attempt's folder. */
const keptBytes = 16 * 1024
const outputCapBytes = 1024 ** 3

export type ShellOptions = Place & {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Around every command, if there is one: checks and hooks run what an agent has written. */
  readonly cell?: Sandbox | undefined
}

/** Runs checks and `run:` hooks, with the user's own environment, under the same supervisor as agents. */
export const superviseShell = ({ sprintDir, cwd, env, cell }: ShellOptions): ShellRunner => ({
  async run({ timeoutMs, command, env: extra = {}, ...request }, signal) {
    const { folder, mark, showAgain } = await takeAttempt(sprintDir, request, leftTo[request.ifBegun ?? 'nobody'])
    const tail = keepTail()
    const now = attentiveClock()
    let started = now()
    const bare = { file: '/bin/sh', args: ['-c', `exec 2>&1\n${command}`], env: { ...defined(env), ...extra } }
    const program = (await cell?.around(bare, { folder, sprintDir, cwd })) ?? bare
    const { code, ended, lost } = await superviseProcess({
      folder,
      ...program,
      cwd,
      stdin: '',
      files: {},
      mark,
      onOutput: tail.push,
      onJoined: (ranMs) => (started -= ranMs),
      overdue: (bytes) => {
        if (bytes > outputCapBytes) return 'output-cap'
        return now() - started > timeoutMs ? 'attempt' : undefined
      },
      signal,
    })
    await cell?.clear({ folder, sprintDir })
    showAgain()
    const error = whyNot(ended, lost, timeoutMs)
    return { exitCode: code, output: tail.text(), durationMs: now() - started, ...(error && { error }) }
  },
})

/** The states of an earlier attempt that are followed by a new one; in all others it is joined. */
const leftTo: Readonly<Record<'nobody' | 'join' | 'repeat', readonly AttemptState[]>> = {
  nobody: ['never-started', 'running', 'ended', 'aborted', 'lost'],
  join: ['never-started', 'aborted'],
  repeat: ['never-started', 'aborted', 'lost'],
}

function whyNot(ended: Ended | undefined, lost: boolean, timeoutMs: number): string | undefined {
  if (ended === 'attempt') return `timed out after ${timeoutMs / 1000} s`
  if (ended === 'output-cap') return 'printed more than 1 GiB'
  if (ended !== undefined) return ended
  return lost ? 'was killed' : undefined
}

function keepTail() {
  let kept = Buffer.alloc(0)
  return {
    push: (chunk: Buffer) => {
      const all = Buffer.concat([kept, chunk])
      kept = all.length > keptBytes * 4 ? all.subarray(-keptBytes) : all
    },
    text: () => kept.subarray(-keptBytes).toString(),
  }
}

const defined = (env: ShellOptions['env']): Record<string, string> =>
  Object.fromEntries(Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))
