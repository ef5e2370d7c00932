import { z } from 'zod'

const count = z.int().min(0).max(Number.MAX_SAFE_INTEGER)

/**
 * One frame of the line. `seq` counts the kept frames of one connection, without gaps, from 1; a live frame has 0. `ack`: up to
 * this number the sender has stored what it was sent.
 */
export const Frame = z.strictObject({
  v: z.literal(1),
  /** Of the connection: a frame of another one is refused. */
  epoch: count.min(1),
  seq: count,
  ack: count,
  /** The same message has the same id, however often it is sent. */
  id: z.string().min(1).max(400),
  type: z.string().min(1).max(60),
  /** Of a message in parts: this part of its JSON text. */
  body: z.unknown(),
  part: z.strictObject({ index: count, of: z.int().min(2).max(1024) }).optional(),
  /** An answer that comes later than this is of no use to the one who asks. */
  deadlineMs: z.int().min(1).max(86_400_000).optional(),
})
export type Frame = z.output<typeof Frame>

/** Frames that the line itself needs; nobody above sees them. */
export const lineTypes = { ack: 'ack', resend: 'resend', ping: 'ping', pong: 'pong', reply: 'reply' } as const

/** The text of a body is cut into parts of at most this many characters. */
const partLength = 128 * 1024

/** What goes into the frames of a message: its body, or its text in parts. */
export function partsOf(body: unknown): Pick<Frame, 'body' | 'part'>[] {
  const text = JSON.stringify(body) ?? 'null'
  if (text.length <= partLength) return [{ body }]
  const of = Math.ceil(text.length / partLength)
  return Array.from({ length: of }, (_, index) => ({
    body: text.slice(index * partLength, (index + 1) * partLength),
    part: { index, of },
  }))
}

export type Assembly = { readonly id: string; readonly of: number; readonly parts: readonly string[] }

/** A whole body, a message that is not whole yet, or the reason why it cannot become one. */
export type Assembled =
  | { readonly kind: 'whole'; readonly body: unknown }
  | { readonly kind: 'more'; readonly assembly: Assembly }
  | { readonly kind: 'refused'; readonly reason: string }

/** Puts the parts of a message together; they come in order. */
export function assemble(before: Assembly | undefined, frame: Frame, longest: number): Assembled {
  const { id, part, body } = frame
  if (!part) return { kind: 'whole', body }
  if (typeof body !== 'string') return refused('a part is no text')
  const begun: Assembly = part.index === 0 ? { id, of: part.of, parts: [] } : (before ?? { id, of: 0, parts: [] })
  if (begun.id !== id || begun.of !== part.of || begun.parts.length !== part.index) return refused('a part out of turn')
  const parts = [...begun.parts, body]
  if (part.of * partLength > longest * 2 || lengthOf(parts) > longest) return refused('the message is too long')
  if (parts.length < part.of) return { kind: 'more', assembly: { ...begun, parts } }
  try {
    return { kind: 'whole', body: JSON.parse(parts.join('')) }
  } catch {
    return refused('the parts make no JSON')
  }
}

const refused = (reason: string): Assembled => ({ kind: 'refused', reason })
const lengthOf = (parts: readonly string[]): number => parts.reduce((sum, part) => sum + part.length, 0)
