import { createDecipheriv, createECDH, createPublicKey, hkdfSync, randomBytes, verify } from 'node:crypto'
import { z } from 'zod'

type PushCall = { readonly headers: Readonly<Record<string, unknown>>; readonly body: Buffer }

/** A browser and its push service, written from RFC 8188, 8291 and 8292 and not from the sender. */
export function createPushReceiver(keys: { readonly privateKey?: string; readonly auth?: string } = {}) {
  const pair = createECDH('prime256v1')
  if (keys.privateKey === undefined) pair.generateKeys()
  else pair.setPrivateKey(Buffer.from(keys.privateKey, 'base64url'))
  const auth = keys.auth === undefined ? randomBytes(16) : Buffer.from(keys.auth, 'base64url')
  const derive = (secret: Buffer, salt: Buffer, about: Buffer, length: number) =>
    Buffer.from(hkdfSync('sha256', secret, salt, about, length))
  return {
    p256dh: pair.getPublicKey().toString('base64url'),
    auth: auth.toString('base64url'),
    decrypt: (body: Buffer): string => {
      const [salt, idLength] = [body.subarray(0, 16), body[20] ?? 0]
      const sender = body.subarray(21, 21 + idLength)
      const sealed = body.subarray(21 + idLength)
      const about = Buffer.concat([Buffer.from('WebPush: info\0'), pair.getPublicKey(), sender])
      const secret = derive(pair.computeSecret(sender), auth, about, 32)
      const key = derive(secret, salt, Buffer.from('Content-Encoding: aes128gcm\0'), 16)
      const nonce = derive(secret, salt, Buffer.from('Content-Encoding: nonce\0'), 12)
      const decipher = createDecipheriv('aes-128-gcm', key, nonce, { authTagLength: 16 })
      decipher.setAuthTag(sealed.subarray(-16))
      const plain = Buffer.concat([decipher.update(sealed.subarray(0, -16)), decipher.final()])
      return plain.subarray(0, plain.lastIndexOf(2)).toString()
    },
    /** The claims of the sender; throws if its signature is wrong. */
    identify: ({ headers }: PushCall, publicKey: string) => {
      const [, token = '', key = ''] = /^vapid t=(\S+), k=(\S+)$/.exec(String(headers['authorization'])) ?? []
      if (key !== publicKey) throw new Error('another key')
      const point = Buffer.from(key, 'base64url')
      const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((part) => part.toString('base64url'))
      const jwk = { kty: 'EC', crv: 'P-256', x: x ?? '', y: y ?? '' }
      const [head = '', claims = '', signature = ''] = token.split('.')
      const signed = Buffer.from(`${head}.${claims}`)
      const by = { key: createPublicKey({ key: jwk, format: 'jwk' }), dsaEncoding: 'ieee-p1363' as const }
      if (!verify('sha256', signed, by, Buffer.from(signature, 'base64url'))) throw new Error('wrong signature')
      return z
        .object({ aud: z.string(), exp: z.number(), sub: z.string() })
        .parse(JSON.parse(Buffer.from(claims, 'base64url').toString()))
    },
  }
}
