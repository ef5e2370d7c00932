import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import { Frame } from './frame.ts'

/** A frame read from the line, or the reason why it was refused. The reason never quotes the input. */
export type OpenedFrame = { readonly frame: Frame } | { readonly refused: string }

export interface FrameSeal {
  readonly close: (frame: Frame) => string
  readonly open: (text: string) => OpenedFrame
}

export type Side = 'backend' | 'machine'

const macLength = 22

/**
 * Binds each frame to its connection and direction. The secret comes from the TLS handshake, so frames that were
 * recorded elsewhere, reflected, or modified behind the TLS endpoint are refused.
 */
export function createSeal(secret: Buffer, side: Side): FrameSeal {
  const ours = deriveKey(secret, side)
  const theirs = deriveKey(secret, side === 'backend' ? 'machine' : 'backend')
  return {
    close: (frame) => {
      const json = JSON.stringify(frame)
      return `${computeMac(ours, json).toString('base64url')} ${json}`
    },
    open: (text) => {
      const json = text.slice(macLength + 1)
      const actualMac = Buffer.from(text.slice(0, macLength), 'base64url')
      const expectedMac = computeMac(theirs, json)
      if (
        text[macLength] !== ' ' ||
        actualMac.length !== expectedMac.length ||
        !timingSafeEqual(actualMac, expectedMac)
      ) {
        return { refused: 'invalid signature' }
      }
      return parseFrame(json)
    },
  }
}

function parseFrame(json: string): OpenedFrame {
  try {
    const parsed = Frame.safeParse(JSON.parse(json))
    return parsed.success ? { frame: parsed.data } : { refused: 'not a frame' }
  } catch {
    return { refused: 'not JSON' }
  }
}

const deriveKey = (secret: Buffer, from: Side): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, '', `ralph line, frames of the ${from}`, 32))

const computeMac = (key: Buffer, json: string): Buffer =>
  createHmac('sha256', key).update(json).digest().subarray(0, 16)
