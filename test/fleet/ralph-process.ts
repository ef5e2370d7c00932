import { spawn, type ChildProcess } from 'node:child_process'
import { openSync } from 'node:fs'
import { onTestFinished } from 'vitest'
import { ralphProgram } from '../support/paths.ts'

export type Environment = Readonly<Record<string, string | undefined>>

type RalphProcessOptions = {
  /** The file for its output. */
  readonly log?: string
  /** Command prefix that runs it elsewhere, e.g. in a namespace. */
  readonly prefix?: readonly string[]
  /** Replaces the `ralph` of this checkout. */
  readonly program?: string
}

/** Runs `ralph` with its own environment: to its end, or until it is killed. */
export function createRalphProcess(
  env: Environment,
  { log, prefix = [], program = ralphProgram }: RalphProcessOptions = {},
) {
  const [file, ...words] = [...prefix, process.execPath, program]
  let running: ChildProcess | undefined
  const kill = async () => {
    const dying = running
    if (!dying || dying.exitCode !== null || dying.signalCode !== null) return
    const gone = new Promise((resolve) => dying.once('close', resolve))
    dying.kill('SIGKILL')
    await gone
  }
  onTestFinished(kill, 30_000)
  return {
    kill,
    signal: (name: NodeJS.Signals) => running?.kill(name),
    /** Its exit code, once it has exited. */
    exitCode: () => running?.exitCode,
    start: (...args: readonly string[]) => {
      const output = log === undefined ? 'ignore' : openSync(log, 'a')
      running = spawn(file, [...words, ...args], { env, stdio: ['ignore', output, output] })
    },
    /** Resolves with its output. */
    run: (...args: readonly string[]) =>
      new Promise<string>((resolve, reject) => {
        const child = spawn(file, [...words, ...args], { env })
        let [printed, failed] = ['', '']
        child.stdout.on('data', (text: Buffer) => (printed += text.toString()))
        child.stderr.on('data', (text: Buffer) => (failed += text.toString()))
        child.once('close', (code) => (code === 0 ? resolve(printed) : reject(new Error(failed))))
      }),
  }
}
