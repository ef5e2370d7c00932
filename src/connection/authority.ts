import type { Pkcs10CertificateRequest } from '@peculiar/x509'
import { createHash, createPrivateKey, randomBytes, webcrypto, X509Certificate } from 'node:crypto'
import { RalphError } from '../contract/errors.ts'
import { loadX509 } from './x509.ts'

/** Certificate and private key, as PEM. */
export type Credentials = { readonly certificate: string; readonly key: string }

/**
 * The name in the backend's certificate, the same for every backend: machines trust the backend's authority, not its
 * address.
 */
export const backendName = 'backend.ralph.internal'

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const
const minuteMs = 60_000
const dayMs = 86_400_000
/**
 * Certificates are valid from slightly before now, because clocks differ. A machine whose clock is wrong must still
 * reach the backend and learn about it.
 */
const backdatingMs = { machine: 5 * minuteMs, backend: dayMs } as const
const lifetimes = { authority: 3650 * dayMs, backend: 90 * dayMs, machine: dayMs } as const

const machineUri = (machineId: string): string => `spiffe://ralph/machine/${machineId}`

/** Signs the certificates of one backend and its machines. */
export interface Authority {
  readonly certificate: string
  /** SHA-256 of its public key, as carried by a join token. */
  readonly pin: string
  readonly issueForBackend: (now: number) => Promise<Credentials>
  /** Certifies the key that signed the request; ignores the name in the request. */
  readonly issueForMachine: (csr: string, machineId: string, now: number) => Promise<IssuedCertificate>
}

export type IssuedCertificate = { readonly certificate: string; readonly serial: string; readonly expiresAt: number }

export async function createAuthority(now: number): Promise<Credentials> {
  const { BasicConstraintsExtension, KeyUsageFlags, KeyUsagesExtension, X509CertificateGenerator } = await loadX509()
  const keys = await generateKeys()
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: `CN=Ralph authority ${randomBytes(4).toString('hex')}`,
    keys,
    ...validity(now, lifetimes.authority, backdatingMs.backend),
    serialNumber: generateSerial(),
    signingAlgorithm: algorithm,
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
    ],
  })
  return { certificate: toPem(certificate), key: await exportKeyPem(keys) }
}

/** Loads the certificate library only when a certificate is signed. */
export function openAuthority({ certificate, key }: Credentials): Authority {
  const issuer = new X509Certificate(certificate)
  const sign = async (
    publicKey: Pkcs10CertificateRequest['publicKey'] | webcrypto.CryptoKey,
    options: CertificateOptions,
  ) => {
    const x509 = await loadX509()
    const { usage, alternative } = options
    const made = await x509.X509CertificateGenerator.create({
      serialNumber: generateSerial(),
      subject: `CN=${options.name}`,
      issuer: issuerName(issuer),
      ...validity(options.now, options.lifeMs, options.backDated),
      signingKey: await importSigningKey(key),
      publicKey,
      signingAlgorithm: algorithm,
      extensions: [
        new x509.BasicConstraintsExtension(false, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
        new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage[usage]], true),
        new x509.SubjectAlternativeNameExtension([alternative]),
      ],
    })
    return { certificate: toPem(made), serial: made.serialNumber, expiresAt: made.notAfter.getTime() }
  }
  return {
    certificate,
    pin: certificatePin(certificate),
    issueForBackend: async (now) => {
      const keys = await generateKeys()
      const alternative = { type: 'dns', value: backendName } as const
      const options = {
        ...certificateDefaults('backend', now),
        name: backendName,
        usage: 'serverAuth',
        alternative,
      } as const
      const made = await sign(keys.publicKey, options)
      return { certificate: made.certificate, key: await exportKeyPem(keys) }
    },
    issueForMachine: async (csr, machineId, now) => {
      const request = await parseCertificateRequest(csr)
      const alternative = { type: 'url', value: machineUri(machineId) } as const
      const options = {
        ...certificateDefaults('machine', now),
        name: machineId,
        usage: 'clientAuth',
        alternative,
      } as const
      return sign(request.publicKey, options)
    },
  }
}

type CertificateOptions = {
  readonly name: string
  readonly now: number
  readonly lifeMs: number
  readonly backDated: number
  readonly usage: 'serverAuth' | 'clientAuth'
  readonly alternative: { readonly type: 'dns' | 'url'; readonly value: string }
}

const certificateDefaults = (whom: 'backend' | 'machine', now: number) => ({
  now,
  lifeMs: lifetimes[whom],
  backDated: backdatingMs[whom],
})

/** A new private key, which leaves this process only as `key`, and a certificate request for it. */
export async function createKeyAndRequest(name: string): Promise<{ readonly key: string; readonly csr: string }> {
  const { Pkcs10CertificateRequestGenerator } = await loadX509()
  const keys = await generateKeys()
  const csr = await Pkcs10CertificateRequestGenerator.create({
    name: [{ CN: [name] }],
    keys,
    signingAlgorithm: algorithm,
  })
  return { key: await exportKeyPem(keys), csr: csr.toString('pem') }
}

/** Throws unless the request is signed by its own key, which proves that the sender holds it. */
async function parseCertificateRequest(csr: string): Promise<Pkcs10CertificateRequest> {
  try {
    const x509 = await loadX509()
    const request = new x509.Pkcs10CertificateRequest(csr)
    if (await request.verify()) return request
  } catch (cause) {
    throw invalidRequestError(cause)
  }
  throw invalidRequestError()
}

const invalidRequestError = (cause?: unknown): RalphError =>
  new RalphError('JOIN_REFUSED', 'the certificate request is unreadable or not signed by its own key', { cause })

/** SHA-256 of the public key of a request or a certificate. */
export const certificateRequestPin = async (csr: string): Promise<string> =>
  sha256(Buffer.from((await parseCertificateRequest(csr)).publicKey.rawData))

export const certificatePin = (certificate: string | Buffer): string =>
  sha256(new X509Certificate(certificate).publicKey.export({ type: 'spki', format: 'der' }))

/** The machine ID in a certificate; undefined if the certificate belongs to no machine. */
export function readMachineId(certificate: X509Certificate): string | undefined {
  const [, machineId] = /^URI:spiffe:\/\/ralph\/machine\/([0-9a-f-]{36})$/.exec(certificate.subjectAltName ?? '') ?? []
  return machineId
}

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('base64url')

const generateKeys = () => webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])

const validity = (now: number, lifeMs: number, backDated: number) => ({
  notBefore: new Date(now - backDated),
  notAfter: new Date(now + lifeMs),
})

/** Positive and of the maximum length. */
const generateSerial = (): string => `01${randomBytes(15).toString('hex')}`

const issuerName = (certificate: X509Certificate): string => certificate.subject.split('\n').join(', ')

const toPem = (certificate: { toString: (format: 'pem') => string }): string => `${certificate.toString('pem')}\n`

const exportKeyPem = async ({ privateKey }: webcrypto.CryptoKeyPair): Promise<string> => {
  const der = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', privateKey))
  return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
    .export({ type: 'pkcs8', format: 'pem' })
    .toString()
}

const importSigningKey = (pem: string): Promise<webcrypto.CryptoKey> =>
  webcrypto.subtle.importKey(
    'pkcs8',
    createPrivateKey(pem).export({ type: 'pkcs8', format: 'der' }),
    algorithm,
    false,
    ['sign'],
  )
