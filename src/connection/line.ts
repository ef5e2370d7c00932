import { errorMessage } from '../contract/errors.ts'
import { createCallRegistry, createReply, unreachableError } from './calls.ts'
import { lineTypes } from './frame.ts'
import type { Mailbox } from './mailbox.ts'
import type { FrameSeal } from './seal.ts'
import {
  createLineSession,
  sessionCapacity,
  advanceSession,
  type ReceivedMessage,
  type SessionInput,
  type SessionOutput,
} from './session.ts'
import type { Transport } from './transport.ts'
import { coalesce, serialize } from '../platform/async.ts'

export type LineOptions = {
  readonly transport: Transport
  readonly seal: FrameSeal
  readonly mailbox: Mailbox
  readonly epoch: number
  /** Answers a live request; a rejection fails the call on the other side. */
  readonly answer: (request: ReceivedMessage) => Promise<unknown>
  /** Called once per durable message, after it is stored. Must not throw. */
  readonly onReceived: (message: ReceivedMessage) => void
  /** Called whenever anything arrives from the other side. */
  readonly onActivity?: () => void
  readonly timing?: Partial<Timing>
}

export type Timing = { readonly pingMs: number; readonly silenceMs: number; readonly tickMs: number }

/**
 * A link that a router dropped stays silent. These intervals let machines reconnect within 10 s after the network
 * recovers.
 */
const defaultTiming: Timing = { pingMs: 2000, silenceMs: 6000, tickMs: 1000 }
/** Closes the line after this many invalid frames. */
const maxRefusals = 1000
/** Stops reading the outbox while more than this is waiting to be sent. */
const maxUnsentBytes = 4 * 1024 * 1024
/** Maximum number of requests answered concurrently. */
const maxConcurrentRequests = 256

type LineCounts = { sent: number; received: number; refused: number; answering: number }

/** One end of a connection, active until it is closed. */
export interface Line {
  /** Resolves with the result; rejects with MACHINE_UNREACHABLE when the line closes or the deadline passes first. */
  readonly call: (type: string, body: unknown, deadlineMs: number) => Promise<unknown>
  /** Looks for new messages in the outbox. */
  readonly wake: () => void
  /** Whether the other end answers within this time. */
  readonly answers: (withinMs: number) => Promise<boolean>
  readonly close: (reason: string) => void
  /** Resolves with the reason. */
  readonly closed: Promise<string>
  readonly counts: Readonly<LineCounts>
}

/** Drives a session over a transport and a mailbox. */
export function openLine(options: LineOptions): Line {
  const { transport } = options
  const timing = { ...defaultTiming, ...options.timing }
  const calls = createCallRegistry()
  const lifecycle = createLifecycle(transport)
  const io = createLineIo(options, calls, lifecycle)
  const call = (type: string, body: unknown, deadlineMs: number) =>
    lifecycle.isOver()
      ? Promise.reject(unreachableError('the line is closed'))
      : calls.add(deadlineMs, (id) => io.say({ id, type, body, deadlineMs }))
  const answers = (withinMs: number) => call(lineTypes.ping, null, withinMs).then(yes, no)

  const ticking = setInterval(() => {
    io.look()
    if (performance.now() - io.activeAt() > timing.silenceMs)
      return lifecycle.close('the other side was silent for too long')
    io.feed({ type: 'tick', at: performance.now() })
  }, timing.tickMs)
  const pinging = setInterval(() => void answers(timing.silenceMs), timing.pingMs)
  lifecycle.onClose((reason) => {
    clearInterval(ticking)
    clearInterval(pinging)
    calls.end(reason)
  })
  transport.onClose(lifecycle.close)
  transport.onText(io.onText)
  io.wake()
  return { call, wake: io.wake, answers, close: lifecycle.close, closed: lifecycle.closed, counts: io.counts }
}

const yes = () => true
const no = () => false

function createLifecycle(transport: Transport) {
  let isOver = false
  const closeHandlers: ((reason: string) => void)[] = []
  const closed = new Promise<string>((resolve) => void closeHandlers.push(resolve))
  return {
    closed,
    onClose: (notifyClosed: (reason: string) => void) => void closeHandlers.push(notifyClosed),
    isOver: () => isOver,
    close: (reason: string) => {
      if (isOver) return
      isOver = true
      transport.close(reason)
      for (const onClose of closeHandlers) onClose(reason)
    },
  }
}

type Lifecycle = ReturnType<typeof createLifecycle>
type CallRegistry = ReturnType<typeof createCallRegistry>

function createLineIo(
  { transport, seal, mailbox, ...options }: LineOptions,
  calls: CallRegistry,
  lifecycle: Lifecycle,
) {
  const counts: LineCounts = { sent: 0, received: 0, refused: 0, answering: 0 }
  const broken = (error: unknown) => lifecycle.close(`the mailbox failed: ${errorMessage(error)}`)
  const enqueue = serialize()
  const storing = (work: () => Promise<void>) => void enqueue(work).catch(broken)
  const wake = coalesce(readOutbox, broken)
  const silence = trackSilence(transport)
  /** The outbox was not emptied, because the send buffer was full. */
  let mayHaveMore = false
  let session = createLineSession(options.epoch, silence.activeAt())

  function apply(input: SessionInput): void {
    if (lifecycle.isOver()) return
    const next = advanceSession(session, input)
    session = next.session
    next.outputs.forEach(execute)
    const isFreed = next.outputs.some(({ type }) => type === 'acked')
    if (input.type === 'tick' || (isFreed && mayHaveMore)) wake()
  }
  function execute(output: SessionOutput): void {
    if (output.type === 'send') {
      counts.sent++
      transport.send(seal.close(output.frame))
    } else if (output.type === 'store') {
      storing(async () => {
        if ((await mailbox.store(output.message)) === 'new') options.onReceived(output.message)
        apply({ type: 'stored', seq: output.seq })
      })
    } else if (output.type === 'acked') storing(() => mailbox.acked(output.position))
    else if (output.type === 'deliver') deliver(output.message)
    else refuse(output.reason)
  }
  async function readOutbox(): Promise<void> {
    const room = sessionCapacity(session)
    mayHaveMore ||= room === 0
    if (lifecycle.isOver() || room === 0 || transport.unsentBytes() > maxUnsentBytes) return
    const messages = await mailbox.pending(session.sentPosition, room)
    mayHaveMore = messages.length === room
    if (messages.length > 0) apply({ type: 'pending', messages, at: performance.now() })
  }
  const sendFrame = (message: ReceivedMessage) => apply({ type: 'say', message })
  const deliver = createDelivery({ counts, calls, answer: options.answer, say: sendFrame, refuse })
  function refuse(reason: string): void {
    if (++counts.refused > maxRefusals) lifecycle.close(`too many invalid frames, last: ${reason}`)
  }
  function onText(text: string): void {
    const opened = seal.open(text)
    if ('refused' in opened) return refuse(opened.refused)
    counts.received++
    silence.end()
    options.onActivity?.()
    apply({ type: 'frame', frame: opened.frame, at: silence.activeAt() })
  }
  return { feed: apply, say: sendFrame, wake, look: silence.check, onText, counts, activeAt: silence.activeAt }
}

/** A long text on a slow link may take longer to arrive than `silenceMs` allows, so bytes count as well as frames. */
function trackSilence(transport: LineOptions['transport']) {
  let activeAt = performance.now()
  let receivedBytes = 0
  const end = () => void (activeAt = performance.now())
  const check = () => {
    const now = transport.receivedBytes()
    if (now !== receivedBytes) end()
    receivedBytes = now
  }
  return { activeAt: () => activeAt, end, check }
}

type DeliveryOptions = Pick<LineOptions, 'answer'> & {
  readonly counts: LineCounts
  readonly calls: CallRegistry
  readonly say: (message: ReceivedMessage) => void
  readonly refuse: (reason: string) => void
}

/** Handles a live message: answers a request, or settles one of our calls. */
function createDelivery({ counts, calls, answer, say, refuse }: DeliveryOptions): (message: ReceivedMessage) => void {
  const answerIt = async (message: ReceivedMessage) => {
    counts.answering++
    const body = await createReply(message, answer)
    counts.answering--
    say({ id: message.id, type: lineTypes.reply, body })
  }
  return (message) => {
    const { id, type } = message
    if (type === lineTypes.ping) return say({ id, type: lineTypes.pong, body: null })
    if (type === lineTypes.pong || type === lineTypes.reply) return calls.settle(message)
    if (counts.answering >= maxConcurrentRequests) return refuse('too many requests at once')
    void answerIt(message)
  }
}
