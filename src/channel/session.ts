import { longestMessage } from '../contract/fleet/channel.ts'
import { assemble, lineTypes, partsOf, type Assembly, type Frame } from './frame.ts'

/** A message that is kept until the other side has stored it. `position` orders the outbox. */
export type KeptMessage = {
  readonly position: number
  readonly id: string
  readonly type: string
  readonly body: unknown
}

/** A complete message from the other side. */
export type Arrived = Pick<Frame, 'id' | 'type' | 'body' | 'deadlineMs'>

type InFlight = {
  readonly seq: number
  readonly position: number
  readonly isLast: boolean
  readonly frame: Omit<Frame, 'ack'>
}

/** The state of one end of one connection. State that must outlive the connection belongs in the mailbox. */
export type Session = {
  readonly epoch: number
  readonly inFlight: readonly InFlight[]
  /** Position in the outbox; messages after it were not sent on this connection. */
  readonly sentPosition: number
  readonly lastSeq: number
  /** Highest number received without a gap, and highest number stored. */
  readonly receivedSeq: number
  readonly storedSeq: number
  readonly ackedAt: number
  readonly assembly: Assembly | undefined
  /** Incomplete live messages by ID, limited to a few. */
  readonly liveAssemblies: readonly Assembly[]
  readonly hasAskedAgain: boolean
}

export type Input =
  | { readonly type: 'frame'; readonly frame: Frame; readonly at: number }
  /** The next messages of the outbox after `sentPosition`, in order. */
  | { readonly type: 'pending'; readonly messages: readonly KeptMessage[]; readonly at: number }
  /** The message whose last frame has this number is durable. */
  | { readonly type: 'stored'; readonly seq: number }
  | { readonly type: 'say'; readonly message: Arrived }
  | { readonly type: 'tick'; readonly at: number }

export type Output =
  | { readonly type: 'send'; readonly frame: Frame }
  /** Store these in order; `stored` must follow. */
  | { readonly type: 'store'; readonly seq: number; readonly message: Arrived }
  | { readonly type: 'deliver'; readonly message: Arrived }
  /** The other side has stored everything up to this position of the outbox. */
  | { readonly type: 'acked'; readonly position: number }
  | { readonly type: 'refused'; readonly reason: string }

export type Step = { readonly session: Session; readonly outputs: readonly Output[] }

/** Maximum number of unacknowledged frames and messages. */
const window = { frames: 64, messages: 32 } as const
const resendAfterMs = 5000
const mostLiveAssemblies = 4

export const openSession = (epoch: number, at: number): Session => ({
  epoch,
  inFlight: [],
  sentPosition: 0,
  lastSeq: 0,
  receivedSeq: 0,
  storedSeq: 0,
  ackedAt: at,
  assembly: undefined,
  liveAssemblies: [],
  hasAskedAgain: false,
})

/** How many more messages the session accepts from the outbox. */
export function roomIn({ inFlight }: Session): number {
  if (inFlight.length >= window.frames) return 0
  return Math.max(0, window.messages - inFlight.filter(({ isLast }) => isLast).length)
}

/** Pure: takes one input, returns the next state and the outputs. */
export function step(session: Session, input: Input): Step {
  switch (input.type) {
    case 'frame':
      return onFrame(session, input.frame, input.at)
    case 'pending':
      return onPending(session, input.messages, input.at)
    case 'stored':
      return onStored(session, input.seq)
    case 'say':
      return { session, outputs: liveFrames(session, input.message) }
    case 'tick':
      return onTick(session, input.at)
  }
}

function onFrame(session: Session, frame: Frame, at: number): Step {
  if (frame.epoch !== session.epoch) return refuse(session, 'it belongs to another connection')
  if (frame.ack > session.lastSeq) return refuse(session, 'it acknowledges frames that were never sent')
  const acked = onAck(session, frame.ack, at)
  if (frame.type === lineTypes.ack) return acked
  const next = onContent(acked.session, frame, at)
  return { session: next.session, outputs: [...acked.outputs, ...next.outputs] }
}

function onContent(session: Session, frame: Frame, at: number): Step {
  if (frame.type === lineTypes.resend) return sendAgain(session, at)
  return frame.seq === 0 ? onLive(session, frame) : onKept(session, frame)
}

function onAck(session: Session, ack: number, at: number): Step {
  const done = session.inFlight.filter(({ seq }) => seq <= ack)
  if (done.length === 0) return { session, outputs: [] }
  const position = done.findLast(({ isLast }) => isLast)?.position
  return {
    session: { ...session, inFlight: session.inFlight.slice(done.length), ackedAt: at },
    outputs: position === undefined ? [] : [{ type: 'acked', position }],
  }
}

/** Acknowledges duplicates again, because the acknowledgement may have been lost. Asks for a resend after a gap. */
function onKept(session: Session, frame: Frame): Step {
  const expected = session.receivedSeq + 1
  if (frame.seq < expected) return { session, outputs: [control(session, lineTypes.ack)] }
  if (frame.seq > expected) {
    if (session.hasAskedAgain) return { session, outputs: [] }
    return { session: { ...session, hasAskedAgain: true }, outputs: [control(session, lineTypes.resend)] }
  }
  const assembled = assemble(session.assembly, frame, longestMessage)
  if (assembled.kind === 'refused') return refuse(session, assembled.reason)
  const received = { ...session, receivedSeq: expected, hasAskedAgain: false, assembly: undefined }
  if (assembled.kind === 'more') return { session: { ...received, assembly: assembled.assembly }, outputs: [] }
  return { session: received, outputs: [{ type: 'store', seq: frame.seq, message: arrived(frame, assembled.body) }] }
}

function onLive(session: Session, frame: Frame): Step {
  const others = session.liveAssemblies.filter(({ id }) => id !== frame.id)
  const before = session.liveAssemblies.find(({ id }) => id === frame.id)
  const assembled = assemble(before, frame, longestMessage)
  if (assembled.kind === 'refused') return refuse({ ...session, liveAssemblies: others }, assembled.reason)
  if (assembled.kind === 'more') {
    return {
      session: { ...session, liveAssemblies: [...others, assembled.assembly].slice(-mostLiveAssemblies) },
      outputs: [],
    }
  }
  const message = arrived(frame, assembled.body)
  return { session: { ...session, liveAssemblies: others }, outputs: [{ type: 'deliver', message }] }
}

const arrived = ({ id, type, deadlineMs }: Frame, body: unknown): Arrived => ({
  id,
  type,
  body,
  ...(deadlineMs !== undefined && { deadlineMs }),
})

function onPending(session: Session, messages: readonly KeptMessage[], at: number): Step {
  let seq = session.lastSeq
  const fresh = messages.filter(({ position }) => position > session.sentPosition)
  const added = fresh.flatMap(({ position, id, type, body }) =>
    partsOf(body).map((content, index, all): InFlight => {
      const frame = { v: 1 as const, epoch: session.epoch, seq: ++seq, id, type, ...content }
      return { seq, position, isLast: index === all.length - 1, frame }
    }),
  )
  const ackedAt = session.inFlight.length === 0 ? at : session.ackedAt
  const sentPosition = fresh.at(-1)?.position ?? session.sentPosition
  const next = { ...session, inFlight: [...session.inFlight, ...added], lastSeq: seq, sentPosition, ackedAt }
  return { session: next, outputs: added.map((item) => sending(next, item)) }
}

function onStored(session: Session, seq: number): Step {
  const next = { ...session, storedSeq: Math.max(session.storedSeq, seq) }
  return { session: next, outputs: [control(next, lineTypes.ack)] }
}

/** Lost frames are rare, because the transport is a stream; unacknowledged frames are sent again nevertheless. */
function onTick(session: Session, at: number): Step {
  const asked = { ...session, hasAskedAgain: false }
  if (session.inFlight.length === 0 || at - session.ackedAt < resendAfterMs) return { session: asked, outputs: [] }
  return sendAgain(asked, at)
}

const sendAgain = (session: Session, at: number): Step => ({
  session: { ...session, ackedAt: at },
  outputs: session.inFlight.map((item) => sending(session, item)),
})

const sending = ({ storedSeq }: Session, { frame }: InFlight): Output => ({
  type: 'send',
  frame: { ...frame, ack: storedSeq },
})

/** Frames without a body. */
function control(session: Session, type: string): Output {
  const { epoch, storedSeq } = session
  return { type: 'send', frame: { v: 1, epoch, seq: 0, ack: storedSeq, id: type, type, body: null } }
}

function liveFrames({ epoch, storedSeq }: Session, { id, type, body, deadlineMs }: Arrived): Output[] {
  const shared = {
    v: 1 as const,
    epoch,
    seq: 0,
    ack: storedSeq,
    id,
    type,
    ...(deadlineMs !== undefined && { deadlineMs }),
  }
  return partsOf(body).map((content) => ({ type: 'send', frame: { ...shared, ...content } }))
}

const refuse = (session: Session, reason: string): Step => ({ session, outputs: [{ type: 'refused', reason }] })
