import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { open } from 'node:fs/promises'
import { unwritableFile } from '../files/files.ts'

export type DetachedProcess = {
  readonly pid: number
  /** Undefined while it runs. */
  readonly exitCode: () => number | undefined
}

type DetachedJob = {
  readonly file: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** Output is appended to this file. */
  readonly log: string
}

/** Starts a program that keeps running after Ralph exits. */
export async function startDetached({ file, args, cwd, env, log }: DetachedJob): Promise<DetachedProcess> {
  const output = await open(log, 'a', 0o600).catch((error: unknown) => {
    throw unwritableFile(log, error)
  })
  try {
    const child = spawn(file, args, { cwd, env, detached: true, stdio: ['ignore', output.fd, output.fd] })
    await once(child, 'spawn')
    child.unref()
    return {
      pid: child.pid ?? 0,
      exitCode: () => child.exitCode ?? (child.signalCode === null ? undefined : 130),
    }
  } finally {
    await output.close()
  }
}
