import { RalphError } from '../../contract/errors.ts'

/** The parts of a request that show whether another site may have sent it. */
export type GuardedRequest = {
  readonly method: string
  readonly host: string | undefined
  readonly origin: string | undefined
  /** Sec-Fetch-Site: always sent by browsers, and scripts cannot forge it. */
  readonly site: string | undefined
  readonly contentType: string | undefined
  /** A navigation to the page itself, which contains no data. */
  readonly opensPage: boolean
}

export type Addresses = {
  /** `host:port` as browsers send it. */
  readonly hosts: ReadonlySet<string>
  readonly origins: ReadonlySet<string>
}

/**
 * Checks every request, including those for events and files: an unknown host name is DNS rebinding, a foreign origin
 * is another site, and a body that is not JSON is a form.
 */
export function assertSameSite(request: GuardedRequest, { hosts, origins }: Addresses): void {
  if (request.host === undefined || !hosts.has(request.host.toLowerCase())) {
    throw new RalphError('HOST_REFUSED', 'this host name is not served here', {
      hint: 'see `ralph serve --help`, --origin',
    })
  }
  if (request.origin !== undefined && !origins.has(request.origin.toLowerCase())) {
    throw new RalphError('ORIGIN_REFUSED', 'requests from other pages are refused')
  }
  if (request.site !== undefined && request.site !== 'same-origin' && request.site !== 'none' && !request.opensPage) {
    throw new RalphError('ORIGIN_REFUSED', 'requests from other sites are refused')
  }
  if (request.site === 'none' && isChange(request.method)) {
    throw new RalphError('ORIGIN_REFUSED', 'changes require a request method other than GET')
  }
  if (isChange(request.method) && !isJsonType(request.contentType)) {
    throw new RalphError('NOT_JSON', 'send application/json')
  }
}

const isChange = (method: string): boolean => method !== 'GET' && method !== 'HEAD'

const isJsonType = (type: string | undefined): boolean => type !== undefined && /^application\/json\s*(;|$)/i.test(type)

/** The addresses of a server on this port, as seen from this machine. */
export function loopbackAddresses(port: number): Addresses {
  const hosts = ['127.0.0.1', 'localhost', '[::1]'].map((name) => `${name}:${port}`)
  return { hosts: new Set(hosts), origins: new Set(hosts.map((host) => `http://${host}`)) }
}

/** The addresses for a public origin such as `https://ralph.example.com`. */
export function originAddresses(origin: string): Addresses {
  const { host } = new URL(origin)
  return { hosts: new Set([host]), origins: new Set([new URL(origin).origin]) }
}
