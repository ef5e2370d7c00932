import { openCalls, replyTo, unreachable } from './calls.ts'
import { lineTypes } from './frame.ts'
import type { Mailbox } from './mailbox.ts'
import type { Seal } from './seal.ts'
import { openSession, roomIn, step, type Arrived, type Input, type Output } from './session.ts'
import type { Transport } from './transport.ts'
import { inTurn, onceAtATime } from './turns.ts'

export type LineOptions = {
  readonly transport: Transport
  readonly seal: Seal
  readonly mailbox: Mailbox
  readonly epoch: number
  /** Answers a live request; a rejection fails the call on the other side. */
  readonly answer: (request: Arrived) => Promise<unknown>
  /** Called once per durable message, after it is stored. Must not throw. */
  readonly received: (message: Arrived) => void
  /** Called whenever anything arrives from the other side. */
  readonly heard?: () => void
  readonly timing?: Partial<Timing>
}

export type Timing = { readonly pingMs: number; readonly silenceMs: number; readonly tickMs: number }

/**
 * A link that a router dropped stays silent. These intervals let machines reconnect within 10 s after the network
 * recovers.
 */
const usual: Timing = { pingMs: 2000, silenceMs: 6000, tickMs: 1000 }
/** Closes the line after this many invalid frames. */
const mostRefusals = 1000
/** Stops reading the outbox while more than this is waiting to be sent. */
const mostUnsentBytes = 4 * 1024 * 1024
/** Maximum number of requests answered concurrently. */
const mostAnswers = 256

type Counts = { sent: number; received: number; refused: number; answering: number }

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
  readonly counts: Readonly<Counts>
}

/** Drives a session over a transport and a mailbox. */
export function openLine(options: LineOptions): Line {
  const { transport } = options
  const timing = { ...usual, ...options.timing }
  const calls = openCalls()
  const life = lifeOf(transport)
  const work = workOf(options, calls, life)
  const call = (type: string, body: unknown, deadlineMs: number) =>
    life.isOver()
      ? Promise.reject(unreachable('the line is closed'))
      : calls.add(deadlineMs, (id) => work.say({ id, type, body, deadlineMs }))
  const answers = (withinMs: number) => call(lineTypes.ping, null, withinMs).then(yes, no)

  const ticking = setInterval(() => {
    work.look()
    if (performance.now() - work.heardAt() > timing.silenceMs)
      return life.close('the other side was silent for too long')
    work.feed({ type: 'tick', at: performance.now() })
  }, timing.tickMs)
  const pinging = setInterval(() => void answers(timing.silenceMs), timing.pingMs)
  life.onClose((reason) => {
    clearInterval(ticking)
    clearInterval(pinging)
    calls.end(reason)
  })
  transport.onClose(life.close)
  transport.onText(work.onText)
  work.wake()
  return { call, wake: work.wake, answers, close: life.close, closed: life.closed, counts: work.counts }
}

const yes = () => true
const no = () => false

function lifeOf(transport: Transport) {
  let isOver = false
  const told: ((reason: string) => void)[] = []
  const closed = new Promise<string>((resolve) => void told.push(resolve))
  return {
    closed,
    onClose: (tell: (reason: string) => void) => void told.push(tell),
    isOver: () => isOver,
    close: (reason: string) => {
      if (isOver) return
      isOver = true
      transport.close(reason)
      for (const tell of told) tell(reason)
    },
  }
}

type Life = ReturnType<typeof lifeOf>
type Calls = ReturnType<typeof openCalls>

function workOf({ transport, seal, mailbox, ...options }: LineOptions, calls: Calls, life: Life) {
  const counts: Counts = { sent: 0, received: 0, refused: 0, answering: 0 }
  const broken = (error: unknown) =>
    life.close(`the mailbox failed: ${error instanceof Error ? error.message : String(error)}`)
  const storing = inTurn(broken)
  const wake = onceAtATime(fetch, broken)
  let heardAt = performance.now()
  let receivedBytes = 0
  /** The outbox was not emptied, because the send buffer was full. */
  let mayHaveMore = false
  let session = openSession(options.epoch, heardAt)

  function feed(input: Input): void {
    if (life.isOver()) return
    const next = step(session, input)
    session = next.session
    next.outputs.forEach(carryOut)
    const isFreed = next.outputs.some(({ type }) => type === 'acked')
    if (input.type === 'tick' || (isFreed && mayHaveMore)) wake()
  }
  function carryOut(output: Output): void {
    if (output.type === 'send') {
      counts.sent++
      transport.send(seal.close(output.frame))
    } else if (output.type === 'store') storing(() => store(output.seq, output.message))
    else if (output.type === 'acked') storing(() => mailbox.acked(output.position))
    else if (output.type === 'deliver') deliver(output.message)
    else refuse(output.reason)
  }
  async function store(seq: number, message: Arrived): Promise<void> {
    if ((await mailbox.store(message)) === 'new') options.received(message)
    feed({ type: 'stored', seq })
  }
  async function fetch(): Promise<void> {
    const room = roomIn(session)
    mayHaveMore ||= room === 0
    if (life.isOver() || room === 0 || transport.unsentBytes() > mostUnsentBytes) return
    const messages = await mailbox.pending(session.sentPosition, room)
    mayHaveMore = messages.length === room
    if (messages.length > 0) feed({ type: 'pending', messages, at: performance.now() })
  }
  const say = (message: Arrived) => feed({ type: 'say', message })
  const deliver = delivery({ counts, calls, answer: options.answer, say, refuse })
  function refuse(reason: string): void {
    if (++counts.refused > mostRefusals) life.close(`too many invalid frames, last: ${reason}`)
  }
  function onText(text: string): void {
    const opened = seal.open(text)
    if ('refused' in opened) return refuse(opened.refused)
    counts.received++
    heardAt = performance.now()
    options.heard?.()
    feed({ type: 'frame', frame: opened.frame, at: heardAt })
  }
  /** A long text on a slow link may take longer to arrive than `silenceMs` allows. */
  function look(): void {
    const now = transport.receivedBytes()
    if (now !== receivedBytes) heardAt = performance.now()
    receivedBytes = now
  }
  return { feed, say, wake, look, onText, counts, heardAt: () => heardAt }
}

type Delivery = Pick<LineOptions, 'answer'> & {
  readonly counts: Counts
  readonly calls: Calls
  readonly say: (message: Arrived) => void
  readonly refuse: (reason: string) => void
}

/** Handles a live message: answers a request, or settles one of our calls. */
function delivery({ counts, calls, answer, say, refuse }: Delivery): (message: Arrived) => void {
  const answerIt = async (message: Arrived) => {
    counts.answering++
    const body = await replyTo(message, answer)
    counts.answering--
    say({ id: message.id, type: lineTypes.reply, body })
  }
  return (message) => {
    const { id, type } = message
    if (type === lineTypes.ping) return say({ id, type: lineTypes.pong, body: null })
    if (type === lineTypes.pong || type === lineTypes.reply) return calls.settle(message)
    if (counts.answering >= mostAnswers) return refuse('too many requests at once')
    void answerIt(message)
  }
}
