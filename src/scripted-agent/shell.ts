// oxlint-disable-next-line no-restricted-imports -- a program of its own, which starts its tools itself, as any agent does
import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { sendSignal } from '../platform/processes/process-table.ts'

export type CommandResult = { readonly exitCode: number; readonly output: string }

/** As much output of a command as Claude Code passes to the model. */
const maxOutputLength = 30_000

/** How long to wait for output after the command exits: a background process can keep the pipe open forever. */
const drainMs = 100

/** The scripted agent runs one command at a time; its signal handler ends that one. */
let runningPid: number | undefined

/** Runs a command to its end, in a process group of its own, like the tools of Claude Code. */
export async function runInShell(command: string, cwd: string): Promise<CommandResult> {
  const child = spawn(command, { cwd, shell: true, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  runningPid = child.pid
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      if (output.length < maxOutputLength) output = (output + text).slice(0, maxOutputLength)
    })
  }
  const closed = new Promise((resolve) => child.once('close', resolve))
  const exitCode = await waitForExit(child)
  runningPid = undefined
  await Promise.race([closed, sleep(drainMs)])
  return { exitCode, output }
}

/** Kills the running command and its process group. */
export function killRunning(): void {
  if (runningPid !== undefined) sendSignal(-runningPid, 'SIGKILL')
}

function waitForExit(child: ReturnType<typeof spawn>): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, by) => resolve(code ?? 128 + (by === null ? 0 : constants.signals[by])))
  })
}
