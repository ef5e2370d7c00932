import { expect, it } from 'vitest'
import { listHostLines } from './receipt-hosts.ts'

it('lists the hosts that the agent reached and those that Ralph refused', () => {
  expect(listHostLines({ hosts: { allowed: ['a.test:443', 'b.test:80'], refused: ['evil.test:443'] } })).toEqual([
    { name: 'hosts reached', text: 'a.test:443, b.test:80' },
    { name: 'hosts refused', text: 'evil.test:443' },
  ])
})

it('has no line if the agent asked for no host', () => {
  expect([listHostLines({}), listHostLines({ hosts: {} })]).toEqual([[], []])
})
