import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Frame } from './frame.ts'
import { createSeal } from './seal.ts'
import {
  createLineSession,
  sessionCapacity,
  advanceSession,
  type SessionInput,
  type DurableMessage,
  type LineSession,
} from './session.ts'

const secret = Buffer.alloc(32, 7)
const seals = { backend: createSeal(secret, 'backend'), machine: createSeal(secret, 'machine') }

/** A network fault applied to one text. */
type Fault = 'pass' | 'drop' | 'double' | 'hold' | 'tamper' | 'truncate' | 'foreign'

/** One end with its mailbox, driven as the line drives it, without time or I/O. */
function createTestEnd(side: 'backend' | 'machine', outbox: readonly DurableMessage[], epoch = 1) {
  let session: LineSession = createLineSession(epoch, 0)
  let acked = 0
  let refused = 0
  const seen = new Set<string>()
  const effects: string[] = []
  const sent: string[] = []
  const feed = (input: SessionInput): void => {
    const next = advanceSession(session, input)
    session = next.session
    for (const output of next.outputs) {
      if (output.type === 'send') sent.push(seals[side].close(output.frame))
      if (output.type === 'acked') acked = Math.max(acked, output.position)
      if (output.type === 'refused') refused++
      if (output.type === 'store') {
        if (!seen.has(output.message.id)) effects.push(output.message.id)
        seen.add(output.message.id)
        feed({ type: 'stored', seq: output.seq })
      }
    }
  }
  return {
    feed,
    effects,
    acked: () => acked,
    refused: () => refused,
    takeSent: () => sent.splice(0),
    fetch: (at: number) => {
      const pending = outbox.filter(({ position }) => position > Math.max(acked, session.sentPosition))
      feed({ type: 'pending', messages: pending.slice(0, sessionCapacity(session)), at })
    },
    receive: (text: string, at: number) => {
      const opened = seals[side].open(text)
      if ('refused' in opened) refused++
      else feed({ type: 'frame', frame: opened.frame, at })
    },
    reconnect: (next: number, at: number) => (session = createLineSession(next, at)),
    outbox,
  }
}

/** With `isLong`, one of them is long enough to be sent in parts. */
const createMessages = (side: string, count: number, isLong = false): DurableMessage[] =>
  Array.from({ length: count }, (_, index) => ({
    position: index + 1,
    id: `${side}-${index + 1}`,
    type: 'prompt',
    body: isLong && index === 3 ? { text: 'x'.repeat(140_000) } : { text: `${index}` },
  }))

function mutate(text: string, fault: Fault, at: number): string {
  if (fault === 'truncate') return text.slice(0, at % text.length)
  if (fault === 'foreign') return `${'A'.repeat(22)} {"v":1}`
  const place = at % text.length
  return `${text.slice(0, place)}${text[place] === 'x' ? 'y' : 'x'}${text.slice(place + 1)}`
}

/** Connects both ends over a network with these faults, reconnecting from time to time, then heals the network. */
function converse(faults: readonly (readonly [Fault, number])[], count: number) {
  const isLong = faults.length % 10 === 0
  const ends = [
    createTestEnd('backend', createMessages('b', count, isLong)),
    createTestEnd('machine', createMessages('m', count, isLong)),
  ] as const
  const queue = [...faults]
  const held: (readonly [number, string])[] = []
  let mutations = 0
  let epoch = 1
  let at = 0
  const carry = (to: number, text: string): void => {
    const [fault, place] = queue.shift() ?? ['pass', 0]
    if (fault !== 'pass') mutations++
    if (fault === 'drop') return
    if (fault === 'hold') return void held.push([to, text])
    const carried = ['tamper', 'truncate', 'foreign'].includes(fault) ? mutate(text, fault, place) : text
    ends[to]?.receive(carried, at)
    if (fault === 'double') ends[to]?.receive(carried, at)
  }
  const isOver = () => ends.every((end) => end.acked() === count) && queue.length === 0
  for (let round = 0; round < 3000 && !isOver(); round++) {
    at += 1000
    for (const [index, end] of ends.entries()) {
      end.feed({ type: 'tick', at })
      end.fetch(at)
      for (const text of end.takeSent()) carry(1 - index, text)
    }
    for (const [to, text] of held.splice(0)) ends[to]?.receive(text, at)
    if (queue.length > 0 && round % 11 === 10) {
      epoch++
      for (const end of ends) end.reconnect(epoch, at)
    }
    if (queue.length > 0 && ends.every((end) => end.acked() === count)) queue.length = 0
  }
  return { ends, mutations }
}

describe('a session', () => {
  it('applies every message exactly once and in order, whatever happens to 10,000 frames on the way', () => {
    const fault = fc.constantFrom<Fault>('pass', 'drop', 'double', 'hold', 'tamper', 'truncate', 'foreign')
    let mutations = 0
    let refused = 0
    const property = fc.property(fc.array(fc.tuple(fault, fc.nat()), { minLength: 100, maxLength: 400 }), (faults) => {
      const count = 40
      const run = converse(faults, count)
      mutations += run.mutations
      const ids = (side: string) => createMessages(side, count).map(({ id }) => id)
      refused += run.ends[0].refused() + run.ends[1].refused()
      expect(run.ends.map((end) => end.acked())).toEqual([count, count])
      expect(run.ends[0].effects).toEqual(ids('m'))
      expect(run.ends[1].effects).toEqual(ids('b'))
    })
    fc.assert(property, { numRuns: 100, seed: 9 })
    expect(mutations).toBeGreaterThan(10_000)
    expect(refused).toBeGreaterThan(1000)
  })

  it('refuses a frame of another connection, an invalid acknowledgement, and a message that is too long', () => {
    const session = createLineSession(5, 0)
    const frame: Frame = { v: 1, epoch: 5, seq: 1, ack: 0, id: 'a', type: 'prompt', body: null }
    const reasons = [
      { ...frame, epoch: 4 },
      { ...frame, ack: 1 },
      { ...frame, body: 'x', part: { index: 0, of: 1000 } },
      { ...frame, body: 'x', part: { index: 1, of: 2 } },
    ].map((bad) => advanceSession(session, { type: 'frame', frame: bad, at: 0 }).outputs)
    expect(reasons).toEqual([
      [{ type: 'refused', reason: 'it belongs to another connection' }],
      [{ type: 'refused', reason: 'it acknowledges frames that were never sent' }],
      [{ type: 'refused', reason: 'the message is too long' }],
      [{ type: 'refused', reason: 'a part is out of order' }],
    ])
  })

  it('limits what it sends ahead of acknowledgements', () => {
    const end = createTestEnd('backend', createMessages('b', 500))
    for (let n = 0; n < 100; n++) end.fetch(0)
    const frames = end.takeSent().length
    expect(frames).toBeGreaterThan(20)
    expect(frames).toBeLessThan(128)
  })
})

describe('a seal', () => {
  it('refuses a frame reflected to its sender', () => {
    const frame: Frame = { v: 1, epoch: 1, seq: 1, ack: 0, id: 'a', type: 'prompt', body: null }
    const text = seals.backend.close(frame)
    expect(seals.backend.open(text)).toEqual({ refused: 'invalid signature' })
    expect(seals.machine.open(text)).toEqual({ frame })
  })
})
