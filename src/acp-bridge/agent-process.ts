import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { Readable, Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { ndJsonStream, type Stream } from '@agentclientprotocol/sdk'

export type AgentProcess = {
  readonly stream: Stream
  /** How it ended, in words. */
  readonly exited: Promise<string>
  /** End of input, then TERM, then KILL, with a grace in between. */
  readonly end: (graceMs: number) => Promise<void>
}

/** Rejects with ENOENT or EACCES if the program cannot be started. */
export async function startAgent(command: readonly [string, ...string[]], cwd: string): Promise<AgentProcess> {
  const [program, ...args] = command
  const child: ChildProcessByStdio<Writable, Readable, null> = spawn(program, args, {
    cwd,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  // Writing to an agent that is gone must not end us before it is told.
  child.stdin.on('error', () => {})
  await once(child, 'spawn')
  const exited = once(child, 'exit').then(([code, signal]) => `the agent ended with ${signal ?? `exit code ${code}`}`)
  return {
    stream: ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout)),
    exited,
    end: async (graceMs) => {
      child.stdin.end()
      for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
        if (await within(exited, graceMs)) return
        child.kill(signal)
      }
      await within(exited, graceMs)
    },
  }
}

const within = async (done: Promise<unknown>, ms: number): Promise<boolean> =>
  await Promise.race([done.then(() => true), sleep(ms, false, { ref: false })])
