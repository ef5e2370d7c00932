import { webcrypto } from 'node:crypto'
import { loadX509 } from '../../src/connection/x509.ts'

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const
const dayMs = 86_400_000

export type TestCertificate = { readonly cert: string; readonly key: string }

export type TestAuthority = {
  readonly ca: string
  /** A certificate for a DNS name; valid since yesterday and until tomorrow unless given. */
  readonly issue: (
    name: string,
    validity?: { readonly from?: number; readonly until?: number },
  ) => Promise<TestCertificate>
}

/** An authority as a company runs one: no system trusts it. */
export async function createTestAuthority(name = 'Example Corp Root'): Promise<TestAuthority> {
  const { BasicConstraintsExtension, SubjectAlternativeNameExtension, X509CertificateGenerator } = await loadX509()
  const keys = await generateKeys()
  const validity = { notBefore: new Date(Date.now() - dayMs), notAfter: new Date(Date.now() + 365 * dayMs) }
  const own = await X509CertificateGenerator.createSelfSigned({
    name: `CN=${name}`,
    keys,
    ...validity,
    serialNumber: '01',
    signingAlgorithm: algorithm,
    extensions: [new BasicConstraintsExtension(true, 1, true)],
  })
  let serial = 1
  return {
    ca: own.toString('pem'),
    issue: async (host, { from = Date.now() - dayMs, until = Date.now() + dayMs } = {}) => {
      const leaf = await generateKeys()
      const made = await X509CertificateGenerator.create({
        subject: `CN=${host}`,
        issuer: own.subject,
        signingKey: keys.privateKey,
        publicKey: leaf.publicKey,
        notBefore: new Date(from),
        notAfter: new Date(until),
        serialNumber: `0${++serial}`,
        signingAlgorithm: algorithm,
        extensions: [new SubjectAlternativeNameExtension([{ type: 'dns', value: host }])],
      })
      const key = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', leaf.privateKey)).toString('base64')
      return {
        cert: `${made.toString('pem')}\n`,
        key: `-----BEGIN PRIVATE KEY-----\n${key.replaceAll(/.{64}/g, '$&\n')}\n-----END PRIVATE KEY-----\n`,
      }
    },
  }
}

const generateKeys = () => webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
