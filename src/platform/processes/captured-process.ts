import { spawn } from 'node:child_process'
import { killMarked, sendSignal } from './process-table.ts'

export type CapturedJob = {
  readonly argv: readonly [string, ...string[]]
  readonly cwd: string
  /** The whole environment: nothing of ours is added. */
  readonly env: Readonly<Record<string, string>>
  readonly timeoutMs: number
  readonly signal?: AbortSignal | undefined
  /** Gives the program a pipe as descriptor 3, on which a wrapper says that what it wraps is about to begin. */
  readonly withStart?: boolean
  /** A value in `env` that all processes of the program inherit: those that left its group are killed by it. */
  readonly mark?: string
}

export type CapturedRun = {
  /** Null if it was killed or could not be started. */
  readonly exitCode: number | null
  /** Output and errors as they came, the last part of it if there is too much. */
  readonly output: string
  readonly durationMs: number
  readonly timedOut: boolean
  /** It printed more than `floodBytes`, and was killed. */
  readonly flooded?: true
  /** Whether something was written to descriptor 3. */
  readonly began: boolean
  /** Why the program could not be started. */
  readonly failure?: string
}

const maxBytes = 8 * 1024 * 1024
const floodBytes = 1024 ** 3
/** A process that is left over may hold the pipe open. */
const lastWordsMs = 200

/** Runs a program in a process group of its own, which is killed when the program has ended. Never rejects. */
export async function runCaptured(job: CapturedJob): Promise<CapturedRun> {
  const start = performance.now()
  const [file, ...args] = job.argv
  const fourth = job.withStart === true ? ('pipe' as const) : ('ignore' as const)
  const stdio = ['ignore' as const, 'pipe' as const, 'pipe' as const, fourth]
  const child = spawn(file, args, { cwd: job.cwd, env: job.env, detached: true, stdio })
  let began = false
  child.stdio[3]?.on('data', () => (began = true))
  const output = lastBytes(maxBytes)
  const kill = () => void (child.pid !== undefined && sendSignal(-child.pid, 'SIGKILL'))
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (bytes: Buffer) => {
      output.add(bytes)
      if (output.seen() > floodBytes) kill()
    })
  let timedOut = false
  const timer = setTimeout(() => {
    timedOut = true
    kill()
  }, job.timeoutMs)
  job.signal?.addEventListener('abort', kill, { once: true })
  if (job.signal?.aborted) kill()
  const failure = await new Promise<string | undefined>((done) => {
    child.once('error', (error) => done(error.message))
    child.once('close', () => done(undefined))
    child.once('exit', () => setTimeout(done, lastWordsMs, undefined))
  })
  clearTimeout(timer)
  job.signal?.removeEventListener('abort', kill)
  kill()
  if (job.mark !== undefined) killMarked(job.mark)
  for (const stream of [child.stdout, child.stderr, child.stdio[3]]) stream?.destroy()
  return {
    exitCode: failure === undefined ? child.exitCode : null,
    output: output.text(),
    durationMs: performance.now() - start,
    timedOut,
    began,
    ...(output.seen() > floodBytes && { flooded: true as const }),
    ...(failure !== undefined && { failure }),
  }
}

function lastBytes(most: number) {
  const parts: Buffer[] = []
  let length = 0
  let seen = 0
  return {
    add: (bytes: Buffer): void => {
      seen += bytes.length
      parts.push(bytes)
      length += bytes.length
      for (let first = parts[0]; first && length - first.length >= most; first = parts[0]) {
        length -= first.length
        parts.shift()
      }
    },
    seen: (): number => seen,
    text: (): string => Buffer.concat(parts).toString('utf8'),
  }
}
