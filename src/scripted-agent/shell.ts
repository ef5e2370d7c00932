// oxlint-disable-next-line no-restricted-imports -- a program of its own, which starts its tools itself, as any agent does
import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { signal } from '../platform/processes/process-table.ts'

export type CommandEnd = { readonly exitCode: number; readonly output: string }

/** As much output of a command as Claude Code passes to the model. */
const longestOutput = 30_000

/** How long to wait for output after the command exits: a background process can keep the pipe open for ever. */
const trailMs = 100

let running: number | undefined

/** Runs a command to its end, in a process group of its own, like the tools of Claude Code. */
export async function runInShell(command: string, cwd: string): Promise<CommandEnd> {
  const child = spawn(command, { cwd, shell: true, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  running = child.pid
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      if (output.length < longestOutput) output = (output + text).slice(0, longestOutput)
    })
  }
  const closed = new Promise((resolve) => child.once('close', resolve))
  const exitCode = await exitOf(child)
  running = undefined
  await Promise.race([closed, sleep(trailMs)])
  return { exitCode, output }
}

/** Kills the running command and its process group. */
export function killRunning(): void {
  if (running !== undefined) signal(-running, 'SIGKILL')
}

function exitOf(child: ReturnType<typeof spawn>): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, by) => resolve(code ?? 128 + (by === null ? 0 : constants.signals[by])))
  })
}
