import { describe, expect, it, onTestFinished } from 'vitest'
import { openLine, type LineOptions } from './line.ts'
import { createSeal } from './seal.ts'
import type { ReceivedMessage, DurableMessage } from './session.ts'
import { createTransportPair, type Transport } from './transport.ts'

const secret = Buffer.alloc(32, 1)

type LineOverrides = Partial<Pick<LineOptions, 'answer' | 'timing' | 'mailbox' | 'transport'>>

/** Both ends of a line in one process. */
function createTestLine(backend: LineOverrides = {}, machine: LineOverrides = {}) {
  const received: ReceivedMessage[] = []
  const open = (transport: Transport, side: 'backend' | 'machine', overrides: LineOverrides) =>
    openLine({
      transport,
      seal: createSeal(secret, side),
      epoch: 1,
      mailbox: { pending: async () => [], acked: async () => {}, store: async () => 'new' },
      answer: async ({ body }) => body,
      onReceived: (message) => void received.push(message),
      ...overrides,
    })
  const [near, far] = createTransportPair(secret)
  const lines = { backend: open(near, 'backend', backend), machine: open(far, 'machine', machine) }
  onTestFinished(() => lines.backend.close('the test is over'))
  return { ...lines, received, cut: () => near.close('cut') }
}

/** An outbox with `count` messages, and those that remain in it. */
function createTestOutbox(count: number) {
  let left: DurableMessage[] = Array.from({ length: count }, (_, index) => {
    const position = index + 1
    return { position, id: `m-${position}`, type: 'prompt', body: position }
  })
  return {
    pending: async (after: number, limit: number) => left.filter(({ position }) => position > after).slice(0, limit),
    acked: async (upTo: number) => void (left = left.filter(({ position }) => position > upTo)),
    store: async () => 'new' as const,
    left: () => left.length,
  }
}

describe('a line', () => {
  it('carries requests and replies of any size up to the limit', async () => {
    const { backend, machine } = createTestLine()
    const long = { text: 'é"\n'.repeat(300_000) }
    expect(await backend.call('echo', long, 20_000)).toEqual(long)
    expect(await machine.call('echo', 'short', 20_000)).toBe('short')
  })

  it('fails a call when the reply is late or the line closes, and says which', async () => {
    const { backend, cut } = createTestLine({}, { answer: () => new Promise(() => {}) })
    await expect(backend.call('never', null, 20)).rejects.toThrow('no answer within 20 ms')
    const open = backend.call('never', null, 20_000)
    cut()
    await expect(open).rejects.toThrow('cut')
    await expect(backend.call('never', null, 20_000)).rejects.toMatchObject({ code: 'MACHINE_UNREACHABLE' })
  })

  it('closes when the other side is silent for too long', async () => {
    const timing = { pingMs: 10_000, silenceMs: 50, tickMs: 20 }
    const { machine } = createTestLine({}, { timing })
    expect(await machine.closed).toBe('the other side was silent for too long')
  })

  it('stays open while a long text is still arriving', async () => {
    const timing = { pingMs: 10_000, silenceMs: 50, tickMs: 20 }
    const [near] = createTransportPair(secret)
    let looks = 0
    const slow = { ...near, receivedBytes: () => Math.min(++looks, 20) }
    const { machine } = createTestLine({}, { timing, transport: slow })
    await machine.closed
    expect(looks).toBeGreaterThan(20)
  })

  it('empties an outbox of thousands in order, without reading it all at once', async () => {
    const outbox = createTestOutbox(3000)
    const { received } = createTestLine({ mailbox: outbox })
    await expect.poll(outbox.left, { timeout: 20_000 }).toBe(0)
    expect(received.map(({ body }) => body)).toEqual(Array.from({ length: 3000 }, (_, index) => index + 1))
  })

  it('closes when the mailbox fails, so that nothing unstored is acknowledged', async () => {
    const full = { ...createTestOutbox(0), store: () => Promise.reject(new Error('the disk is full')) }
    const { machine, backend } = createTestLine({ mailbox: createTestOutbox(1) }, { mailbox: full })
    expect(await machine.closed).toBe('the mailbox failed: the disk is full')
    expect(await backend.closed).toBe('the mailbox failed: the disk is full')
  })
})
