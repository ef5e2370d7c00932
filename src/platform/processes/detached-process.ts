import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:fs'
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

/** An agent can write beside the log: a link would lead elsewhere, and a pipe that nothing reads would block. */
const appendToFile =
  constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK

/** Starts a program that keeps running after Ralph exits. */
export async function startDetached({ file, args, cwd, env, log }: DetachedJob): Promise<DetachedProcess> {
  const output = await open(log, appendToFile, 0o600).catch((error: unknown) => {
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
