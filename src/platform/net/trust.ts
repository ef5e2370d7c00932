import { X509Certificate } from 'node:crypto'
import { connect, rootCertificates, type PeerCertificate } from 'node:tls'
import { RalphError } from '../../contract/errors.ts'
import { readTextSyncIfExists } from '../files/files.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Where Linux distributions and macOS keep the certificates that their administrators trust. */
const systemBundles = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/ca-bundle.pem',
  '/etc/ssl/cert.pem',
]

export type TrustOptions = {
  readonly env: Environment
  /** The value of `--ca`; default: RALPH_CA. */
  readonly ca?: string | undefined
}

/** Certificates to trust: those of Node, of the system, of NODE_EXTRA_CA_CERTS, and of `--ca` or RALPH_CA. */
export function readTrustedCertificates({ env, ca }: TrustOptions): string[] {
  const system = [env['SSL_CERT_FILE'], ...systemBundles].find((path) => path && readTextSyncIfExists(path))
  const extra = env['NODE_EXTRA_CA_CERTS']
  const own = ca ?? env['RALPH_CA']
  return [
    ...rootCertificates,
    ...(system ? splitPem(readTextSyncIfExists(system) ?? '') : []),
    ...(extra ? splitPem(readTextSyncIfExists(extra) ?? '') : []),
    ...(own ? readCertificateFile(own, ca === undefined ? 'RALPH_CA' : '--ca') : []),
  ]
}

/** Every certificate of a PEM file, each checked. `source` is the option or variable that names the file. */
function readCertificateFile(path: string, source: string): string[] {
  const text = readTextSyncIfExists(path)
  if (text === undefined)
    throw new RalphError('FILE_NOT_FOUND', `${source} names a file that does not exist`, { place: { file: path } })
  const found = splitPem(text)
  if (found.length === 0 || !found.every(isCertificate)) {
    throw new RalphError('CERTIFICATE_INVALID', `${source} names a file without certificates`, {
      place: { file: path },
      hint: 'it must hold certificates as PEM: -----BEGIN CERTIFICATE-----',
    })
  }
  return found
}

const splitPem = (text: string): string[] =>
  text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).subject !== null
  } catch {
    return false
  }
}

/** The reasons for which Node refuses a certificate. */
const certificateErrors: ReadonlySet<string> = new Set([
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'CERT_REVOKED',
  'CERT_SIGNATURE_FAILURE',
  'CERT_UNTRUSTED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'INVALID_CA',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
])

/**
 * Explains why a TLS connection failed: names the certificate, the reason and the variable. Undefined if the failure has
 * another cause. Asks the server for its certificate again, without trusting it.
 */
export async function explainTlsFailure(failure: unknown, url: URL, now: number): Promise<RalphError | undefined> {
  const code = findErrorCode(failure)
  const address = url.host
  if (code === 'EPROTO' || code === 'ERR_SSL_WRONG_VERSION_NUMBER') {
    return new RalphError('CERTIFICATE_INVALID', `${address} does not speak TLS`, {
      hint: `it may serve http: try http://${address}`,
      cause: failure,
    })
  }
  if (code === undefined || !certificateErrors.has(code)) return undefined
  const shown = await readServerCertificate(url).catch(() => undefined)
  const { reason, hint } = describeRefusal(code, { url, shown, now })
  const name = shown ? ` (${describeCertificate(shown)})` : ''
  return new RalphError('CERTIFICATE_INVALID', `the certificate of ${address}${name} ${reason}`, {
    hint,
    cause: failure,
  })
}

function findErrorCode(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  if ('code' in error && typeof error.code === 'string') return error.code
  return findErrorCode(error.cause)
}

type Refusal = { readonly reason: string; readonly hint: string }
type ShownCertificate = Pick<PeerCertificate, 'subject' | 'issuer' | 'valid_from' | 'valid_to' | 'subjectaltname'>

const clockHint = (now: number): string => `this computer's clock says ${new Date(now).toISOString()}`

function describeRefusal(
  code: string,
  about: { readonly url: URL; readonly shown: ShownCertificate | undefined; readonly now: number },
): Refusal {
  const { url, shown, now } = about
  switch (code) {
    case 'CERT_HAS_EXPIRED':
      return {
        reason: shown ? `expired on ${formatDay(shown.valid_to)}` : 'has expired',
        hint: `renew it: ralph serve reads --tls-cert again by itself; ${clockHint(now)}`,
      }
    case 'CERT_NOT_YET_VALID':
      return {
        reason: `is not valid yet${shown ? `, but from ${formatDay(shown.valid_from)}` : ''}`,
        hint: `set the clock right: ${clockHint(now)}`,
      }
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return {
        reason: `is not for ${url.hostname}${shown?.subjectaltname ? ` but for ${shown.subjectaltname}` : ''}`,
        hint: 'use one of those names in the address, or a certificate with this name',
      }
    default:
      return {
        reason: 'is signed by an authority that this computer does not trust',
        hint: "name the authority's certificate with --ca FILE or RALPH_CA=FILE, or add it to the system's store",
      }
  }
}

const describeCertificate = ({ subject, issuer }: ShownCertificate): string =>
  `${formatName(subject)}, issued by ${formatName(issuer)}`

const formatName = ({ CN, O }: PeerCertificate['subject']): string => {
  const name = CN || O
  return (Array.isArray(name) ? name[0] : name) ?? 'a nameless one'
}

const formatDay = (text: string): string => new Date(text).toISOString().slice(0, 10)

/** Only after a failure, and on a busy computer a handshake takes seconds. */
const probeTimeoutMs = 15_000

/** The certificate that a server shows, trusted or not. */
export function readServerCertificate(url: URL): Promise<PeerCertificate & { readonly protocol: string | null }> {
  return new Promise((resolve, reject) => {
    const port = url.port === '' ? 443 : Number(url.port)
    const host = url.hostname.replace(/^\[|\]$/g, '')
    const servername = /^[\d.]+$|:/.test(host) ? {} : { servername: host }
    // Only reads the certificate: no data is sent.
    const socket = connect({ host, port, ...servername, rejectUnauthorized: false }, () => {
      const certificate = { ...socket.getPeerCertificate(), protocol: socket.getProtocol() }
      socket.destroy()
      resolve(certificate)
    })
    socket.setTimeout(probeTimeoutMs, () => socket.destroy(new Error('no answer')))
    socket.on('error', reject)
  })
}
