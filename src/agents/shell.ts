import { join } from 'node:path'
import { exists } from '../platform/files.ts'
import { superviseProcess, type Ended } from '../platform/supervised-process.ts'
import type { ShellRunner } from '../runtime/ports.ts'
import { attemptFolder, markOf, type Place } from './supervisor.ts'

/** What is kept of the output in state and prompts; the whole is in the attempt's folder. */
const keptBytes = 16 * 1024
const outputCapBytes = 1024 ** 3

export type ShellOptions = Place & { readonly env: Readonly<Record<string, string | undefined>> }

/** Runs checks and `run:` hooks, with the user's own environment, under the same supervisor as agents. */
export const superviseShell = ({ sprintDir, cwd, env }: ShellOptions): ShellRunner => ({
  async run({ attempt, transcript, command, timeoutMs, env: extra = {} }, signal) {
    const name = freeName(sprintDir, attempt)
    const folder = await attemptFolder(sprintDir, name, transcript)
    const tail = keepTail()
    const started = performance.now()
    const { code, ended, lost } = await superviseProcess({
      folder,
      file: '/bin/sh',
      args: ['-c', `exec 2>&1\n${command}`],
      cwd,
      env: { ...defined(env), ...extra },
      stdin: '',
      files: {},
      mark: markOf(sprintDir, name),
      onOutput: tail.push,
      overdue: (bytes) => {
        if (bytes > outputCapBytes) return 'output-cap'
        return performance.now() - started > timeoutMs ? 'attempt' : undefined
      },
      signal,
    })
    const error = whyNot(ended, lost, timeoutMs)
    return { exitCode: code, output: tail.text(), durationMs: performance.now() - started, ...(error && { error }) }
  },
})

function whyNot(ended: Ended | undefined, lost: boolean, timeoutMs: number): string | undefined {
  if (ended === 'attempt') return `timed out after ${timeoutMs / 1000} s`
  if (ended === 'output-cap') return 'printed more than 1 GiB'
  if (ended !== undefined) return ended
  return lost ? 'was killed' : undefined
}

/** Checks and hooks can run again for the same iteration; their folders are never used twice. */
function freeName(sprintDir: string, attempt: string): string {
  for (let n = 1; ; n++) {
    const name = n === 1 ? attempt : `${attempt}.${n}`
    if (!exists(join(sprintDir, 'attempts', name))) return name
  }
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
