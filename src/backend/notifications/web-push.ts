import { createCipheriv, createECDH, createPrivateKey, hkdfSync, randomBytes, sign } from 'node:crypto'

/** A browser that receives notifications: an address of its push service, and keys that only the browser can use. */
export type PushTarget = { readonly endpoint: string; readonly p256dh: string; readonly auth: string }

/** The identity of this backend towards push services (VAPID, RFC 8292); both in base64url. */
export type PushKey = { readonly publicKey: string; readonly privateKey: string }

export type PushRequest = { readonly body: Buffer; readonly headers: Readonly<Record<string, string>> }

export function createPushKey(): PushKey {
  const pair = createECDH('prime256v1')
  const publicKey = pair.generateKeys()
  // A private key with leading zeros is shorter than its 32 bytes.
  const privateKey = Buffer.concat([Buffer.alloc(32), pair.getPrivateKey()]).subarray(-32)
  return { publicKey: publicKey.toString('base64url'), privateKey: privateKey.toString('base64url') }
}

const recordSize = 4096
/** A push service keeps a message for a browser that is switched off this long. */
const keepSeconds = 24 * 3600
const tokenSeconds = 12 * 3600

export type PushOptions = {
  readonly key: PushKey
  /** Whom the push service contacts about abuse: a mailto: or https: address. */
  readonly contact: string
  readonly now: number
}

/** The request that delivers a message: encrypted for the browser (RFC 8291), signed for its push service. */
export function createPushRequest(target: PushTarget, text: string, { key, contact, now }: PushOptions): PushRequest {
  const expires = Math.floor(now / 1000) + tokenSeconds
  const token = signToken({ aud: new URL(target.endpoint).origin, exp: expires, sub: contact }, key)
  return {
    body: encryptMessage(target, text),
    headers: {
      authorization: `vapid t=${token}, k=${key.publicKey}`,
      'content-encoding': 'aes128gcm',
      'content-type': 'application/octet-stream',
      ttl: `${keepSeconds}`,
      urgency: 'high',
    },
  }
}

function encryptMessage({ p256dh, auth }: PushTarget, text: string): Buffer {
  const receiver = Buffer.from(p256dh, 'base64url')
  const pair = createECDH('prime256v1')
  const sender = pair.generateKeys()
  const shared = pair.computeSecret(receiver)
  const about = Buffer.concat([Buffer.from('WebPush: info\0'), receiver, sender])
  const secret = derive(shared, Buffer.from(auth, 'base64url'), about, 32)
  const salt = randomBytes(16)
  const contentKey = derive(secret, salt, Buffer.from('Content-Encoding: aes128gcm\0'), 16)
  const nonce = derive(secret, salt, Buffer.from('Content-Encoding: nonce\0'), 12)
  const cipher = createCipheriv('aes-128-gcm', contentKey, nonce)
  // 2 marks the end of the last record.
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.update(Buffer.of(2)), cipher.final()])
  const size = Buffer.alloc(4)
  size.writeUInt32BE(recordSize)
  return Buffer.concat([salt, size, Buffer.of(sender.length), sender, sealed, cipher.getAuthTag()])
}

const derive = (secret: Buffer, salt: Buffer, about: Buffer, length: number): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, salt, about, length))

type TokenClaims = { readonly aud: string; readonly exp: number; readonly sub: string }

function signToken(claims: TokenClaims, { publicKey, privateKey }: PushKey): string {
  const point = Buffer.from(publicKey, 'base64url')
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((part) => part.toString('base64url'))
  const key = createPrivateKey({
    key: { kty: 'EC', crv: 'P-256', x: x ?? '', y: y ?? '', d: privateKey },
    format: 'jwk',
  })
  const parts = [{ typ: 'JWT', alg: 'ES256' }, claims].map((part) => encodePart(JSON.stringify(part)))
  const signed = parts.join('.')
  const signature = sign('sha256', Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' })
  return `${signed}.${signature.toString('base64url')}`
}

const encodePart = (text: string): string => Buffer.from(text).toString('base64url')

/** Throws if the keys of a subscription cannot be used: a browser made none of them up. */
export function assertPushTarget({ p256dh, auth }: PushTarget): void {
  const point = Buffer.from(p256dh, 'base64url')
  if (point.length !== 65 || point[0] !== 4) throw new Error('p256dh is not a point on P-256')
  if (Buffer.from(auth, 'base64url').length !== 16) throw new Error('auth does not have 16 bytes')
  const pair = createECDH('prime256v1')
  pair.generateKeys()
  pair.computeSecret(point)
}
