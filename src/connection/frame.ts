import { z } from 'zod'

const counter = z.int().min(0).max(Number.MAX_SAFE_INTEGER)

/**
 * One frame on the wire. `seq` numbers the durable frames of one connection from 1 without gaps; live frames have 0.
 * `ack` is the highest `seq` that the sender of this frame has stored.
 */
export const Frame = z.strictObject({
  v: z.literal(1),
  /** Identifies the connection; frames of another connection are refused. */
  epoch: counter.min(1),
  seq: counter,
  ack: counter,
  /** Stays the same when a message is sent again. */
  id: z.string().min(1).max(400),
  type: z.string().min(1).max(60),
  /** For a message in parts: this part of its JSON text. */
  body: z.unknown(),
  part: z.strictObject({ index: counter, of: z.int().min(2).max(1024) }).optional(),
  /** The caller ignores answers that arrive later than this. */
  deadlineMs: z.int().min(1).max(86_400_000).optional(),
})
export type Frame = z.output<typeof Frame>

/** Frame types used by the line itself and hidden from the layers above. */
export const lineTypes = { ack: 'ack', resend: 'resend', ping: 'ping', pong: 'pong', reply: 'reply' } as const

/** Maximum number of characters of body text per frame. */
const partLength = 128 * 1024

/** Splits a message into frame bodies: the body itself, or its JSON text in parts. */
export function splitBody(body: unknown): Pick<Frame, 'body' | 'part'>[] {
  const text = JSON.stringify(body) ?? 'null'
  if (text.length <= partLength) return [{ body }]
  const of = Math.ceil(text.length / partLength)
  return Array.from({ length: of }, (_, index) => ({
    body: text.slice(index * partLength, (index + 1) * partLength),
    part: { index, of },
  }))
}

export type Assembly = { readonly id: string; readonly of: number; readonly parts: readonly string[] }

/** The complete body, an incomplete message, or the reason why its parts were refused. */
export type FrameAssembly =
  | { readonly kind: 'whole'; readonly body: unknown }
  | { readonly kind: 'more'; readonly assembly: Assembly }
  | { readonly kind: 'refused'; readonly reason: string }

/** Joins the parts of a message, which arrive in order. */
export function assembleParts(before: Assembly | undefined, frame: Frame, longest: number): FrameAssembly {
  const { id, part, body } = frame
  if (!part) return { kind: 'whole', body }
  if (typeof body !== 'string') return refusedAssembly('a part is not text')
  const assembly: Assembly = part.index === 0 ? { id, of: part.of, parts: [] } : (before ?? { id, of: 0, parts: [] })
  if (assembly.id !== id || assembly.of !== part.of || assembly.parts.length !== part.index)
    return refusedAssembly('a part is out of order')
  const parts = [...assembly.parts, body]
  if (part.of * partLength > longest * 2 || totalLength(parts) > longest)
    return refusedAssembly('the message is too long')
  if (parts.length < part.of) return { kind: 'more', assembly: { ...assembly, parts } }
  try {
    return { kind: 'whole', body: JSON.parse(parts.join('')) }
  } catch {
    return refusedAssembly('the parts are not valid JSON')
  }
}

const refusedAssembly = (reason: string): FrameAssembly => ({ kind: 'refused', reason })
const totalLength = (parts: readonly string[]): number => parts.reduce((sum, part) => sum + part.length, 0)
