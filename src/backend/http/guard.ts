import { RalphError } from '../../contract/errors.ts'

/** What of a request tells whether it may have been sent by a page of somebody else. */
export type Asked = {
  readonly method: string
  readonly host: string | undefined
  readonly origin: string | undefined
  /** Sec-Fetch-Site: browsers always send it, and scripts cannot forge it. */
  readonly site: string | undefined
  readonly contentType: string | undefined
  /** A link to the page itself, which shows nothing that was not asked for by the page then. */
  readonly opensPage: boolean
}

export type Addresses = {
  /** `host:port` as a browser of ours would say it. */
  readonly hosts: ReadonlySet<string>
  readonly origins: ReadonlySet<string>
}

/**
 * Stands in front of every request, also those for events and files: a name that we do not have is DNS rebinding, an origin
 * that is not ours is another page, and anything but JSON is a form.
 */
export function guard(asked: Asked, { hosts, origins }: Addresses): void {
  if (asked.host === undefined || !hosts.has(asked.host.toLowerCase())) {
    throw new RalphError('HOST_REFUSED', 'this name is not served here', { hint: 'see `ralph serve --help`, --origin' })
  }
  if (asked.origin !== undefined && !origins.has(asked.origin.toLowerCase())) {
    throw new RalphError('ORIGIN_REFUSED', 'requests from other pages are refused')
  }
  if (asked.site !== undefined && asked.site !== 'same-origin' && asked.site !== 'none' && !asked.opensPage) {
    throw new RalphError('ORIGIN_REFUSED', 'requests from other sites are refused')
  }
  if (asked.site === 'none' && changes(asked.method)) {
    throw new RalphError('ORIGIN_REFUSED', 'a change cannot be asked for by an address alone')
  }
  if (changes(asked.method) && !isJson(asked.contentType)) {
    throw new RalphError('NOT_JSON', 'send application/json')
  }
}

const changes = (method: string): boolean => method !== 'GET' && method !== 'HEAD'

const isJson = (type: string | undefined): boolean => type !== undefined && /^application\/json\s*(;|$)/i.test(type)

/** The names under which a server on this port can be reached from this machine. */
export function loopbackAddresses(port: number): Addresses {
  const hosts = ['127.0.0.1', 'localhost', '[::1]'].map((name) => `${name}:${port}`)
  return { hosts: new Set(hosts), origins: new Set(hosts.map((host) => `http://${host}`)) }
}

/** The same for an address that people use: `https://ralph.example.com`. */
export function addressesOf(origin: string): Addresses {
  const { host } = new URL(origin)
  return { hosts: new Set([host]), origins: new Set([new URL(origin).origin]) }
}
