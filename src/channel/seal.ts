import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import { Frame } from './frame.ts'

/** A frame read from the line, or the reason why it was refused. The reason never quotes the input. */
export type Opened = { readonly frame: Frame } | { readonly refused: string }

export interface Seal {
  readonly close: (frame: Frame) => string
  readonly open: (text: string) => Opened
}

export type Side = 'backend' | 'machine'

const macLength = 22

/**
 * Binds each frame to its connection and direction. The secret comes from the TLS handshake, so frames that were
 * recorded elsewhere, reflected, or modified behind the TLS endpoint are refused.
 */
export function sealWith(secret: Buffer, side: Side): Seal {
  const ours = keyOf(secret, side)
  const theirs = keyOf(secret, side === 'backend' ? 'machine' : 'backend')
  return {
    close: (frame) => {
      const json = JSON.stringify(frame)
      return `${mac(ours, json).toString('base64url')} ${json}`
    },
    open: (text) => {
      const json = text.slice(macLength + 1)
      const given = Buffer.from(text.slice(0, macLength), 'base64url')
      const wanted = mac(theirs, json)
      if (text[macLength] !== ' ' || given.length !== wanted.length || !timingSafeEqual(given, wanted)) {
        return { refused: 'invalid signature' }
      }
      return parse(json)
    },
  }
}

function parse(json: string): Opened {
  try {
    const parsed = Frame.safeParse(JSON.parse(json))
    return parsed.success ? { frame: parsed.data } : { refused: 'not a frame' }
  } catch {
    return { refused: 'not JSON' }
  }
}

const keyOf = (secret: Buffer, from: Side): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, '', `ralph line, frames of the ${from}`, 32))

const mac = (key: Buffer, json: string): Buffer => createHmac('sha256', key).update(json).digest().subarray(0, 16)
