import { generateKeyPairSync, sign } from 'node:crypto'

/** Creates a key and a certificate for `localhost` that only the test trusts. */
export function createTestCertificate(): { readonly key: string; readonly cert: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const name = sequence(tlv(0x31, sequence(oid('550403'), tlv(0x0c, Buffer.from('localhost')))))
  const validity = sequence(utcTime('200101000000Z'), utcTime('491231235959Z'))
  const names = sequence(tlv(0x82, Buffer.from('localhost')), tlv(0x87, Buffer.from([127, 0, 0, 1])))
  const subjectAltName = sequence(oid('551d11'), tlv(0x04, names))
  const isCa = sequence(
    oid('551d13'),
    tlv(0x01, Buffer.from([0xff])),
    tlv(0x04, sequence(tlv(0x01, Buffer.from([0xff])))),
  )
  const body = sequence(
    tlv(0xa0, integer(2)),
    integer(1),
    ecdsaWithSha256,
    name,
    validity,
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    tlv(0xa3, sequence(subjectAltName, isCa)),
  )
  const signature = tlv(0x03, Buffer.concat([Buffer.from([0]), sign('sha256', body, privateKey)]))
  const lines = sequence(body, ecdsaWithSha256, signature).toString('base64').replaceAll(/.{64}/g, '$&\n')
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
  }
}

/** ASN.1, DER: tag, length, value. */
function tlv(tag: number, value: Buffer): Buffer {
  const length = value.length
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), value])
}

const sequence = (...parts: readonly Buffer[]): Buffer => tlv(0x30, Buffer.concat(parts))
const oid = (hex: string): Buffer => tlv(0x06, Buffer.from(hex, 'hex'))
const integer = (value: number): Buffer => tlv(0x02, Buffer.from([value]))
const utcTime = (text: string): Buffer => tlv(0x17, Buffer.from(text))
const ecdsaWithSha256 = sequence(oid('2a8648ce3d040302'))
