import { spawn } from 'node:child_process'
import { identifyProcess, sendSignal, killMarked } from './process-table.ts'

export type TimedRun = {
  readonly file: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly timeoutMs: number
  readonly signal?: AbortSignal | undefined
}

const maxCharacters = 64 * 1024
/** The last output may arrive after the program exits. */
const drainMs = 100

/**
 * Runs a program that answers at once: no input, no terminal, and every process it leaves behind after its exit, the timeout or
 * the signal is killed. Never rejects; the code is null if the program could not be started or was killed.
 */
export async function runWithTimeout(
  job: TimedRun,
): Promise<{ readonly code: number | null; readonly stdout: string }> {
  const mark = `ralph-asks-${process.pid}-${performance.now()}`
  const env = { ...job.env, RALPH_ATTEMPT: mark }
  const child = spawn(job.file, job.args, { cwd: job.cwd, env, detached: true, stdio: ['ignore', 'pipe', 'ignore'] })
  const id = child.pid === undefined ? undefined : identifyProcess(child.pid)
  let stdout = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    if (stdout.length < maxCharacters) stdout += text
  })
  await new Promise<void>((done) => {
    const stop = AbortSignal.any([AbortSignal.timeout(job.timeoutMs), ...(job.signal ? [job.signal] : [])])
    stop.addEventListener('abort', () => done(), { once: true })
    if (stop.aborted) done()
    child.once('error', () => done())
    child.once('close', () => done())
    child.once('exit', () => setTimeout(done, drainMs))
  })
  if (id) {
    sendSignal(-id.pid, 'SIGKILL')
    killMarked(mark, id.pid)
  }
  child.stdout.destroy()
  return { code: id ? child.exitCode : null, stdout }
}
