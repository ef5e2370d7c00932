import type { Context } from 'hono'
import { RalphError } from '../../contract/errors.ts'

const maxBodyBytes = 4 * 1024 * 1024

/** Stops reading at the limit, whatever the Content-Length header says. */
export async function readBodyText(c: Context): Promise<string> {
  const tooLarge = () => new RalphError('BODY_TOO_LARGE', `a body may have at most ${maxBodyBytes} bytes`)
  if (Number(c.req.header('content-length') ?? 0) > maxBodyBytes) throw tooLarge()
  const parts: Uint8Array[] = []
  let size = 0
  try {
    for await (const part of c.req.raw.body ?? []) {
      size += part.length
      if (size > maxBodyBytes) throw tooLarge()
      parts.push(part)
    }
  } catch (error) {
    // Node reports a client that leaves in the middle like a lost connection of our own.
    throw error instanceof RalphError
      ? error
      : new RalphError('INVALID_REQUEST', 'the body ended early', { cause: error })
  }
  return Buffer.concat(parts).toString()
}
