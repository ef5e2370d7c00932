import { isIP, isIPv6 } from 'node:net'
import { isInternalAddress } from './internal-addresses.ts'

/** The receiver answered with a status that is no success. */
export class HttpRefusal extends Error {
  readonly status: number
  constructor(status: number) {
    super(`it answered ${status}`)
    this.status = status
  }
}

export type PublicPost = {
  readonly body: string | Buffer
  readonly headers: Readonly<Record<string, string>>
}

export type PublicPostOptions = {
  /** Whether this address may be called. */
  readonly allows?: ((address: string) => boolean) | undefined
  /** Limit for the whole call, not between two bytes. */
  readonly timeoutMs?: number | undefined
  /** Certificates to trust; default: those of Node. */
  readonly ca?: readonly string[] | undefined
}

/**
 * Posts to an address that a user has given. Resolves the name once, calls exactly the address that was checked, and follows no
 * redirect. Rejects with a reason for the user.
 */
export async function postPublicly(
  url: string,
  { body, headers }: PublicPost,
  { ca, allows = (address) => !isInternalAddress(address), timeoutMs = 5000 }: PublicPostOptions = {},
): Promise<void> {
  const target = new URL(url)
  if (target.protocol !== 'https:') throw new Error(`only https URLs are allowed, not ${target.protocol}`)
  // Loaded with the first call: a run without a webhook needs no TLS, and its modules take memory and time.
  const [{ request }, { lookup }] = await Promise.all([import('node:https'), import('node:dns/promises')])
  const host = target.hostname.replace(/^\[|\]$/g, '')
  const addresses = isIP(host) ? [{ address: host, family: isIPv6(host) ? 6 : 4 }] : await lookup(host, { all: true })
  const refused = addresses.find(({ address }) => !allows(address))
  const [first] = addresses
  if (refused || !first) throw new Error(`${host} is an internal address (${refused?.address ?? 'none'})`)
  await new Promise<void>((resolve, reject) => {
    const call = request(target, {
      method: 'POST',
      headers: { ...headers, 'content-length': Buffer.byteLength(body) },
      ...(ca && { ca: [...ca] }),
      // All of them are checked. A machine may have no route to the first, such as an IPv6 address.
      lookup: (_name, options, done) => {
        if (options.all) done(null, addresses)
        else done(null, first.address, first.family)
      },
    })
    const late = setTimeout(() => call.destroy(new Error(`no answer in ${timeoutMs / 1000} s`)), timeoutMs)
    call.on('response', ({ statusCode = 0 }) => {
      if (statusCode >= 200 && statusCode < 300) resolve()
      else reject(new HttpRefusal(statusCode))
      // The rest of the response may never end, and would keep the process alive.
      call.destroy()
    })
    call.on('error', reject)
    call.on('close', () => clearTimeout(late))
    call.end(body)
  })
}
