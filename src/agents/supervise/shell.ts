import type { AttemptState, Ended } from '../../platform/processes/attempt-folder.ts'
import { attentiveClock } from '../../platform/clock.ts'
import { superviseProcess } from '../../platform/processes/supervised-process.ts'
import type { ShellRunner } from '../../runtime/ports.ts'
import { takeAttempt, type Place } from './attempt.ts'

/** How much of the output state and prompts keep; the attempt's folder has all of it. */
const keptBytes = 16 * 1024
const outputCapBytes = 1024 ** 3

export type ShellOptions = Place & { readonly env: Readonly<Record<string, string | undefined>> }

/** Runs checks and `run:` hooks in the user's environment, under the same supervisor as agents. */
export const superviseShell = ({ sprintDir, cwd, env }: ShellOptions): ShellRunner => ({
  async run({ timeoutMs, command, env: extra = {}, ...request }, signal) {
    const { folder, mark, showAgain } = await takeAttempt(sprintDir, request, leftTo[request.ifBegun ?? 'restart'])
    const tail = keepTail()
    const now = attentiveClock()
    let started = now()
    const { code, ended, lost } = await superviseProcess({
      folder,
      file: '/bin/sh',
      args: ['-c', `exec 2>&1\n${command}`],
      cwd,
      env: { ...defined(env), ...extra },
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
    showAgain()
    const error = whyNot(ended, lost, timeoutMs)
    return { exitCode: code, output: tail.text(), durationMs: now() - started, ...(error && { error }) }
  },
})

/** States of an earlier attempt after which a new one starts; in all other states it is joined. */
const leftTo: Readonly<Record<'restart' | 'join' | 'repeat', readonly AttemptState[]>> = {
  restart: ['never-started', 'running', 'ended', 'aborted', 'lost'],
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
