import { request } from 'node:https'
import { connect, type DetailedPeerCertificate } from 'node:tls'
import { X509Certificate } from 'node:crypto'
import { z } from 'zod'
import { RalphError } from '../contract/errors.ts'
import { resourceName } from '../contract/fleet/page.ts'
import { backendName, certificatePin } from './authority.ts'
import type { JoinToken } from './join-token.ts'
import type { BackendAddress } from './web-socket.ts'

export const joinPath = '/join'

/** Sent by a machine that wants to join, after it has verified that the backend matches its token. */
export const JoinRequest = z.strictObject({
  id: z.uuid(),
  secret: z.string().length(43),
  csr: z.string().max(10_000),
  name: resourceName,
  labels: z.array(resourceName).max(50),
  /** The machine agrees to run agents of other users than its owner. */
  shared: z.boolean().optional(),
  version: z
    .string()
    .max(100)
    .regex(/^[\x20-\x7E]*$/),
})
export type JoinRequest = z.output<typeof JoinRequest>

/** The machine has joined, or an admin must approve it first: ask again with the same token and key. */
export const JoinResponse = z.union([
  z.object({ machineId: z.uuid(), certificate: z.string(), authorities: z.string() }),
  z.object({ pending: z.literal(true) }),
  z.object({ refused: z.string() }),
])
export type JoinResponse = z.output<typeof JoinResponse>

const joinTimeoutMs = 10_000
const maxReplyBytes = 100_000

/**
 * Asks the backend to admit this machine. The secret is sent only to a backend whose authority matches the pin in the
 * token.
 */
export async function requestJoin(
  address: BackendAddress,
  token: JoinToken,
  about: Omit<JoinRequest, 'id' | 'secret'>,
) {
  const authority = await fetchAuthority(address)
  if (certificatePin(authority) !== token.pin) {
    throw new RalphError('JOIN_REFUSED', 'this backend did not create the token; nothing was sent to it', {
      hint: 'check the address; if it is correct, the connection is being intercepted',
    })
  }
  const body = JSON.stringify({ id: token.id, secret: token.secret, ...about })
  const answer = JoinResponse.safeParse(await postJoinRequest(address, authority, body))
  if (!answer.success) throw joinUnreachable('malformed reply')
  return { answer: answer.data, authority }
}

/** Reads the authority certificate that the backend presents, without trusting it yet. */
function fetchAuthority({ host, port }: BackendAddress): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, servername: backendName, minVersion: 'TLSv1.3', rejectUnauthorized: false })
    const fail = (why: string) => {
      socket.destroy()
      reject(joinUnreachable(why))
    }
    socket.setTimeout(joinTimeoutMs, () => fail('no answer'))
    socket.once('error', (error) => fail(error.message))
    socket.once('secureConnect', () => {
      const top = findRootCertificate(socket.getPeerCertificate(true))
      if (top === undefined) return fail('it presents no authority certificate')
      socket.destroy()
      resolve(top)
    })
  })
}

function findRootCertificate(certificate: DetailedPeerCertificate): string | undefined {
  let top = certificate
  for (let depth = 0; depth < 5 && top.issuerCertificate && top.issuerCertificate !== top; depth++)
    top = top.issuerCertificate
  return top === certificate || !top.raw ? undefined : new X509Certificate(top.raw).toString()
}

/** Posts over TLS, trusting only this authority. */
function postJoinRequest({ host, port }: BackendAddress, authority: string, body: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const call = request(
      {
        host,
        port,
        path: joinPath,
        method: 'POST',
        ca: authority,
        servername: backendName,
        minVersion: 'TLSv1.3',
        headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
        timeout: joinTimeoutMs,
        agent: false,
      },
      (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (part: string) => {
          text += part
          if (text.length > maxReplyBytes) call.destroy(new Error('the reply is too long'))
        })
        response.on('end', () => {
          try {
            resolve(JSON.parse(text))
          } catch {
            reject(joinUnreachable('the reply is not JSON'))
          }
        })
      },
    )
    call.on('timeout', () => call.destroy(new Error('no answer')))
    call.on('error', (error) => reject(joinUnreachable(error.message)))
    call.end(body)
  })
}

const joinUnreachable = (why: string): RalphError =>
  new RalphError('MACHINE_UNREACHABLE', `the backend is unreachable: ${why}`, {
    hint: 'check the address, and that "ralph serve" runs with a machine port',
  })
