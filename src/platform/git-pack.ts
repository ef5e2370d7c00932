import { once } from 'node:events'
import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { gitFailed, spawnGit, type GitOptions } from './git.ts'

export type ObjectCopy = {
  readonly from: GitOptions
  readonly to: GitOptions
  /** What `git pack-objects` selects: `--revs` and its input, or ids. */
  readonly args: readonly string[]
  readonly input: string
}

/** Git keeps fewer new objects than this as files of their own. */
const looseObjects = 100

/** A pack begins with `PACK`, a version, and the number of its objects. */
const headerBytes = 12

/**
 * Copies objects from one object store to another as a stream. The receiving git computes every id again, so an object that was
 * forged in the source does not arrive. Resolves with the number of objects.
 */
export async function copyObjects({ from, to, args, input }: ObjectCopy): Promise<number> {
  const sender = spawnGit(from, 'pack-objects', '--quiet', '--delta-base-offset', '--window=0', ...args, '--stdout')
  const sent = watchEnd(sender, 'pack-objects')
  sender.stdin.on('error', () => {})
  sender.stdin.end(input)
  const header = await readHeader(sender)
  const count = header.length < headerBytes ? 0 : header.readUInt32BE(8)
  if (count === 0) {
    sender.stdout.resume()
    await sent
    return 0
  }
  const command = count < looseObjects ? ['unpack-objects', '-q'] : ['index-pack', '--stdin']
  const receiver = spawnGit(to, ...command)
  const received = watchEnd(receiver, command[0] ?? '')
  receiver.stdin.on('error', () => sender.kill())
  receiver.stdout.resume()
  receiver.stdin.write(header)
  sender.stdout.pipe(receiver.stdin)
  await Promise.all([sent, received])
  return count
}

/** The first bytes of the output; fewer if it ends before. */
async function readHeader({ stdout }: ChildProcessWithoutNullStreams): Promise<Buffer> {
  for (;;) {
    const found: unknown = stdout.read(headerBytes)
    if (Buffer.isBuffer(found)) return found
    if (stdout.readableEnded || stdout.destroyed) return Buffer.alloc(0)
    await Promise.race([once(stdout, 'readable'), once(stdout, 'end'), once(stdout, 'close')])
  }
}

function watchEnd(child: ChildProcessWithoutNullStreams, command: string): Promise<void> {
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    if (stderr.length < 10_000) stderr += text
  })
  const ended = new Promise<void>((resolve, reject) => {
    child.once('error', (error) => reject(gitFailed(`git ${command}: ${error.message}`, error)))
    child.once('close', (code) => {
      if (code === 0) resolve()
      else reject(gitFailed(`git ${command}: ${stderr.trim() || `exit code ${code}`}`, new Error(stderr)))
    })
  })
  // Awaited later; an early failure must not end the process.
  ended.catch(() => {})
  return ended
}
