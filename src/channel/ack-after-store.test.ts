import { expect, it } from 'vitest'
import { openSession, step, type KeptMessage, type Session } from './session.ts'

it('acknowledges a message only after it is stored: until then the sender keeps it', () => {
  const message: KeptMessage = { position: 1, id: 'm-1', type: 'prompt', body: { text: 'work' } }
  const sending = step(openSession(1, 0), { type: 'pending', messages: [message], at: 0 })
  const [sent] = sending.outputs.flatMap((output) => (output.type === 'send' ? [output.frame] : []))
  if (!sent) throw new Error('nothing was sent')

  const received = step(openSession(1, 0), { type: 'frame', frame: sent, at: 0 })
  const stored = step(received.session, { type: 'stored', seq: sent.seq })

  expect(received.outputs.map(({ type }) => type)).toEqual(['store'])
  expect(acksOf(received)).toEqual([])
  expect(acksOf(stored)).toEqual([sent.seq])
})

const acksOf = ({ outputs }: ReturnType<typeof step> & { readonly session: Session }): number[] =>
  outputs.flatMap((output) => (output.type === 'send' ? [output.frame.ack] : []))
