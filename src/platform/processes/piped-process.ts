import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'

/** A program with piped stdin and stdout; it inherits our stderr. */
export type PipedProcess = {
  readonly stdin: Writable
  readonly stdout: Readable
  /** How it ended, as text. */
  readonly exited: Promise<string>
  /** End of input, then TERM, then KILL, with a grace period after each. */
  readonly end: (graceMs: number) => Promise<void>
}

/** Rejects with ENOENT or EACCES if the program cannot be started. */
export async function startPipedProcess(file: string, args: readonly string[], cwd: string): Promise<PipedProcess> {
  const child = spawn(file, args, { cwd, stdio: ['pipe', 'pipe', 'inherit'] })
  // The exit reports a dead program; writing to it must not fail in addition.
  child.stdin.on('error', () => {})
  await once(child, 'spawn')
  const exited = once(child, 'exit').then(([code, signal]) => String(signal ?? `exit code ${code}`))
  const hasExitedWithin = (ms: number) => Promise.race([exited.then(() => true), sleep(ms, false, { ref: false })])
  return {
    stdin: child.stdin,
    stdout: child.stdout,
    exited,
    end: async (graceMs) => {
      child.stdin.end()
      for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
        if (await hasExitedWithin(graceMs)) return
        child.kill(signal)
      }
      await hasExitedWithin(graceMs)
    },
  }
}
