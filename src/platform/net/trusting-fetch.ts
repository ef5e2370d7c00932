import { request as plainRequest, type ClientRequest, type IncomingMessage } from 'node:http'
import { request as secureRequest } from 'node:https'
import { Readable } from 'node:stream'
import { RalphError, errorMessage } from '../../contract/errors.ts'
import { explainTlsFailure } from './trust.ts'

export type TrustingFetchOptions = {
  /** Reads the certificates to trust when the first https call needs them. */
  readonly ca: () => readonly string[]
}

/**
 * `fetch` with certificates of our choice, which the fetch of Node 20 cannot take. A refused certificate and an address that
 * cannot be reached become errors that say why. Follows no redirect.
 */
export function createTrustingFetch({ ca: readCa }: TrustingFetchOptions): typeof fetch {
  let ca: readonly string[] | undefined
  return async (input, init) => {
    const request = new Request(input, init)
    const url = new URL(request.url)
    const isSecure = url.protocol === 'https:'
    if (isSecure) ca ??= readCa()
    const body = request.body === null ? undefined : Buffer.from(await request.arrayBuffer())
    const headers = { ...Object.fromEntries(request.headers), ...(body && { 'content-length': `${body.length}` }) }
    const options = { method: request.method, headers, signal: request.signal }
    // A certificate that is not an authority's own counts too: the file that the backend itself serves.
    const secure = { ...options, ca: [...(ca ?? [])], allowPartialTrustChain: true }
    const call = isSecure ? secureRequest(url, secure) : plainRequest(url, options)
    const answer = await send(call, body).catch(async (error: unknown) => {
      if (error instanceof Error && error.name === 'AbortError') throw error
      const explained = isSecure ? await explainTlsFailure(error, url, Date.now()) : undefined
      throw explained ?? unreachableAddress(url, error)
    })
    return toResponse(answer)
  }
}

function send(call: ClientRequest, body: Buffer | undefined): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    call.on('response', resolve)
    call.on('error', reject)
    call.end(body)
  })
}

const statusesWithoutBody: ReadonlySet<number> = new Set([204, 205, 304])

function toResponse(answer: IncomingMessage): Response {
  const { statusCode: status = 500, headers } = answer
  const copied = new Headers()
  for (const [name, value] of Object.entries(headers)) {
    for (const one of Array.isArray(value) ? value : [value]) if (one !== undefined) copied.append(name, one)
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- two declarations of the same web stream
  const body = statusesWithoutBody.has(status) ? null : (Readable.toWeb(answer) as unknown as ReadableStream)
  return new Response(body, { status, headers: copied })
}

function unreachableAddress(url: URL, cause: unknown): RalphError {
  const inner = cause instanceof AggregateError ? cause.errors[0] : cause
  return new RalphError('BACKEND_UNREACHABLE', `${url.origin} is unreachable: ${errorMessage(inner)}`, {
    hint: 'check that the backend runs there, and the address',
    cause,
  })
}
