import { expect, it } from 'vitest'
import { createLineSession, advanceSession, type DurableMessage, type LineSession } from './session.ts'

it('acknowledges a message only after it is stored: until then the sender keeps it', () => {
  const message: DurableMessage = { position: 1, id: 'm-1', type: 'prompt', body: { text: 'work' } }
  const sending = advanceSession(createLineSession(1, 0), { type: 'pending', messages: [message], at: 0 })
  const [sent] = sending.outputs.flatMap((output) => (output.type === 'send' ? [output.frame] : []))
  if (!sent) throw new Error('nothing was sent')

  const received = advanceSession(createLineSession(1, 0), { type: 'frame', frame: sent, at: 0 })
  const stored = advanceSession(received.session, { type: 'stored', seq: sent.seq })

  expect(received.outputs.map(({ type }) => type)).toEqual(['store'])
  expect(listAcks(received)).toEqual([])
  expect(listAcks(stored)).toEqual([sent.seq])
})

const listAcks = ({ outputs }: ReturnType<typeof advanceSession> & { readonly session: LineSession }): number[] =>
  outputs.flatMap((output) => (output.type === 'send' ? [output.frame.ack] : []))
