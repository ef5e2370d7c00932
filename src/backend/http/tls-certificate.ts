import { X509Certificate, createPrivateKey } from 'node:crypto'
import { createSecureContext } from 'node:tls'
import { errorMessage, RalphError } from '../../contract/errors.ts'

export type TlsFiles = { readonly certificate: string; readonly key: string }

export type TlsSource = TlsFiles & {
  /** Reads the files again, so that a renewed certificate is served without a restart. */
  readonly read?: (() => TlsFiles) | undefined
}

/** Throws CERTIFICATE_INVALID unless the key belongs to the certificate and both can be used. */
export function assertUsableCertificate({ certificate, key }: TlsFiles): X509Certificate {
  try {
    const first = new X509Certificate(certificate)
    if (!first.checkPrivateKey(createPrivateKey(key))) throw new Error('the key belongs to another certificate')
    createSecureContext({ cert: certificate, key })
    return first
  } catch (cause) {
    throw new RalphError('CERTIFICATE_INVALID', `--tls-cert and --tls-key cannot be used: ${errorMessage(cause)}`, {
      hint: 'both must be PEM: the certificate first, then its chain; and the key without a password',
      cause,
    })
  }
}

export const certificateExpiry = ({ certificate }: TlsFiles): number =>
  Date.parse(new X509Certificate(certificate).validTo)

/** What is wrong with the period of a certificate now; undefined if browsers and commands accept it. */
export function findPeriodProblem({ certificate }: TlsFiles, now: number): string | undefined {
  const { validFrom, validTo } = new X509Certificate(certificate)
  const clock = `this computer's clock says ${new Date(now).toISOString()}`
  const refused = 'browsers and commands refuse it; replace the file, which is read again within 10 s'
  if (now > Date.parse(validTo))
    return `the certificate of --tls-cert expired on ${formatDay(validTo)}: ${refused} (${clock})`
  if (now >= Date.parse(validFrom)) return undefined
  return `the certificate of --tls-cert is valid only from ${formatDay(validFrom)}: ${refused} (${clock})`
}

const formatDay = (text: string): string => new Date(text).toISOString().slice(0, 10)

const rereadIntervalMs = 10_000

type CertificateHandlers = {
  readonly onRenewed: (files: TlsFiles) => void
  /** The new files cannot be used; the previous certificate stays in use. */
  readonly onRefused: (error: unknown) => void
  readonly everyMs?: number | undefined
}

/** Looks for renewed files. Both may be replaced one after the other, so a pair that does not match is tried again. */
export function watchCertificate(source: TlsSource, handlers: CertificateHandlers): { readonly stop: () => void } {
  const { read } = source
  if (!read) return { stop: () => {} }
  let current: TlsFiles = source
  let refused = ''
  const look = (): void => {
    try {
      const next = read()
      if (next.certificate === current.certificate && next.key === current.key) return
      assertUsableCertificate(next)
      current = next
      refused = ''
      handlers.onRenewed(next)
    } catch (error) {
      if (errorMessage(error) !== refused) handlers.onRefused(error)
      refused = errorMessage(error)
    }
  }
  const timer = setInterval(look, handlers.everyMs ?? rereadIntervalMs).unref()
  return { stop: () => clearInterval(timer) }
}
