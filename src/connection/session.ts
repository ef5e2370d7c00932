import { maxMessageBytes } from '../contract/fleet/machine-messages.ts'
import { assembleParts, lineTypes, splitBody, type Assembly, type Frame } from './frame.ts'

/** A message that is kept until the other side has stored it. `position` orders the outbox. */
export type DurableMessage = {
  readonly position: number
  readonly id: string
  readonly type: string
  readonly body: unknown
}

/** A complete message from the other side. */
export type ReceivedMessage = Pick<Frame, 'id' | 'type' | 'body' | 'deadlineMs'>

type InFlight = {
  readonly seq: number
  readonly position: number
  readonly isLast: boolean
  readonly frame: Omit<Frame, 'ack'>
}

/** The state of one end of one connection. State that must outlive the connection belongs in the mailbox. */
export type LineSession = {
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
  readonly hasRequestedResend: boolean
}

export type SessionInput =
  | { readonly type: 'frame'; readonly frame: Frame; readonly at: number }
  /** The next messages of the outbox after `sentPosition`, in order. */
  | { readonly type: 'pending'; readonly messages: readonly DurableMessage[]; readonly at: number }
  /** The message whose last frame has this number is durable. */
  | { readonly type: 'stored'; readonly seq: number }
  | { readonly type: 'say'; readonly message: ReceivedMessage }
  | { readonly type: 'tick'; readonly at: number }

export type SessionOutput =
  | { readonly type: 'send'; readonly frame: Frame }
  /** Store these in order; `stored` must follow. */
  | { readonly type: 'store'; readonly seq: number; readonly message: ReceivedMessage }
  | { readonly type: 'deliver'; readonly message: ReceivedMessage }
  /** The other side has stored everything up to this position of the outbox. */
  | { readonly type: 'acked'; readonly position: number }
  | { readonly type: 'refused'; readonly reason: string }

export type SessionStep = { readonly session: LineSession; readonly outputs: readonly SessionOutput[] }

/** Maximum number of unacknowledged frames and messages. */
const sendWindow = { frames: 64, messages: 32 } as const
const resendAfterMs = 5000
const maxLiveAssemblies = 4

export const createLineSession = (epoch: number, at: number): LineSession => ({
  epoch,
  inFlight: [],
  sentPosition: 0,
  lastSeq: 0,
  receivedSeq: 0,
  storedSeq: 0,
  ackedAt: at,
  assembly: undefined,
  liveAssemblies: [],
  hasRequestedResend: false,
})

/** How many more messages the session accepts from the outbox. */
export function sessionCapacity({ inFlight }: LineSession): number {
  if (inFlight.length >= sendWindow.frames) return 0
  return Math.max(0, sendWindow.messages - inFlight.filter(({ isLast }) => isLast).length)
}

/** Pure: takes one input, returns the next state and the outputs. */
export function advanceSession(session: LineSession, input: SessionInput): SessionStep {
  switch (input.type) {
    case 'frame':
      return handleFrame(session, input.frame, input.at)
    case 'pending':
      return handlePending(session, input.messages, input.at)
    case 'stored':
      return handleStored(session, input.seq)
    case 'say':
      return { session, outputs: createLiveFrames(session, input.message) }
    case 'tick':
      return handleTick(session, input.at)
  }
}

function handleFrame(session: LineSession, frame: Frame, at: number): SessionStep {
  if (frame.epoch !== session.epoch) return refuseFrame(session, 'it belongs to another connection')
  if (frame.ack > session.lastSeq) return refuseFrame(session, 'it acknowledges frames that were never sent')
  const acked = handleAck(session, frame.ack, at)
  if (frame.type === lineTypes.ack) return acked
  const next = handleContent(acked.session, frame, at)
  return { session: next.session, outputs: [...acked.outputs, ...next.outputs] }
}

function handleContent(session: LineSession, frame: Frame, at: number): SessionStep {
  if (frame.type === lineTypes.resend) return resendFrames(session, at)
  return frame.seq === 0 ? handleLive(session, frame) : handleDurable(session, frame)
}

function handleAck(session: LineSession, ack: number, at: number): SessionStep {
  const done = session.inFlight.filter(({ seq }) => seq <= ack)
  if (done.length === 0) return { session, outputs: [] }
  const position = done.findLast(({ isLast }) => isLast)?.position
  return {
    session: { ...session, inFlight: session.inFlight.slice(done.length), ackedAt: at },
    outputs: position === undefined ? [] : [{ type: 'acked', position }],
  }
}

/** Acknowledges duplicates again, because the acknowledgement may have been lost. Asks for a resend after a gap. */
function handleDurable(session: LineSession, frame: Frame): SessionStep {
  const expected = session.receivedSeq + 1
  if (frame.seq < expected) return { session, outputs: [controlFrame(session, lineTypes.ack)] }
  if (frame.seq > expected) {
    if (session.hasRequestedResend) return { session, outputs: [] }
    return { session: { ...session, hasRequestedResend: true }, outputs: [controlFrame(session, lineTypes.resend)] }
  }
  const assembled = assembleParts(session.assembly, frame, maxMessageBytes)
  if (assembled.kind === 'refused') return refuseFrame(session, assembled.reason)
  const received = { ...session, receivedSeq: expected, hasAskedAgain: false, assembly: undefined }
  if (assembled.kind === 'more') return { session: { ...received, assembly: assembled.assembly }, outputs: [] }
  return {
    session: received,
    outputs: [{ type: 'store', seq: frame.seq, message: toReceivedMessage(frame, assembled.body) }],
  }
}

function handleLive(session: LineSession, frame: Frame): SessionStep {
  const others = session.liveAssemblies.filter(({ id }) => id !== frame.id)
  const before = session.liveAssemblies.find(({ id }) => id === frame.id)
  const assembled = assembleParts(before, frame, maxMessageBytes)
  if (assembled.kind === 'refused') return refuseFrame({ ...session, liveAssemblies: others }, assembled.reason)
  if (assembled.kind === 'more') {
    return {
      session: { ...session, liveAssemblies: [...others, assembled.assembly].slice(-maxLiveAssemblies) },
      outputs: [],
    }
  }
  const message = toReceivedMessage(frame, assembled.body)
  return { session: { ...session, liveAssemblies: others }, outputs: [{ type: 'deliver', message }] }
}

const toReceivedMessage = ({ id, type, deadlineMs }: Frame, body: unknown): ReceivedMessage => ({
  id,
  type,
  body,
  ...(deadlineMs !== undefined && { deadlineMs }),
})

function handlePending(session: LineSession, messages: readonly DurableMessage[], at: number): SessionStep {
  let seq = session.lastSeq
  const fresh = messages.filter(({ position }) => position > session.sentPosition)
  const added = fresh.flatMap(({ position, id, type, body }) =>
    splitBody(body).map((content, index, all): InFlight => {
      const frame = { v: 1 as const, epoch: session.epoch, seq: ++seq, id, type, ...content }
      return { seq, position, isLast: index === all.length - 1, frame }
    }),
  )
  const ackedAt = session.inFlight.length === 0 ? at : session.ackedAt
  const sentPosition = fresh.at(-1)?.position ?? session.sentPosition
  const next = { ...session, inFlight: [...session.inFlight, ...added], lastSeq: seq, sentPosition, ackedAt }
  return { session: next, outputs: added.map((item) => toSendOutput(next, item)) }
}

function handleStored(session: LineSession, seq: number): SessionStep {
  const next = { ...session, storedSeq: Math.max(session.storedSeq, seq) }
  return { session: next, outputs: [controlFrame(next, lineTypes.ack)] }
}

/** Lost frames are rare, because the transport is a stream; unacknowledged frames are sent again nevertheless. */
function handleTick(session: LineSession, at: number): SessionStep {
  const next = { ...session, hasAskedAgain: false }
  if (session.inFlight.length === 0 || at - session.ackedAt < resendAfterMs) return { session: next, outputs: [] }
  return resendFrames(next, at)
}

const resendFrames = (session: LineSession, at: number): SessionStep => ({
  session: { ...session, ackedAt: at },
  outputs: session.inFlight.map((item) => toSendOutput(session, item)),
})

const toSendOutput = ({ storedSeq }: LineSession, { frame }: InFlight): SessionOutput => ({
  type: 'send',
  frame: { ...frame, ack: storedSeq },
})

/** Frames without a body. */
function controlFrame(session: LineSession, type: string): SessionOutput {
  const { epoch, storedSeq } = session
  return { type: 'send', frame: { v: 1, epoch, seq: 0, ack: storedSeq, id: type, type, body: null } }
}

function createLiveFrames(
  { epoch, storedSeq }: LineSession,
  { id, type, body, deadlineMs }: ReceivedMessage,
): SessionOutput[] {
  const shared = {
    v: 1 as const,
    epoch,
    seq: 0,
    ack: storedSeq,
    id,
    type,
    ...(deadlineMs !== undefined && { deadlineMs }),
  }
  return splitBody(body).map((content) => ({ type: 'send', frame: { ...shared, ...content } }))
}

const refuseFrame = (session: LineSession, reason: string): SessionStep => ({
  session,
  outputs: [{ type: 'refused', reason }],
})
