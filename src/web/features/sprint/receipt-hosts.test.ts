import { expect, it } from 'vitest'
import { listHostLines } from './receipt-hosts.ts'

it('lists the hosts that the agent reached, and each one that Ralph refused with the setting that allows it', () => {
  const refused = ['evil.test:443', 'db.test:5432']
  expect(
    listHostLines({ hosts: { allowed: ['a.test:443', 'b.test:80'], refused, private: ['db.test:5432'] } }),
  ).toEqual([
    { name: 'hosts reached', text: 'a.test:443, b.test:80' },
    { name: 'refused host', text: 'evil.test:443', setting: 'network: {allow: ["evil.test"]}' },
    { name: 'refused host', text: 'db.test:5432', setting: 'network: {private: ["db.test:5432"]}' },
  ])
})

it('has no line if the agent asked for no host', () => {
  expect([listHostLines({}), listHostLines({ hosts: {} })]).toEqual([[], []])
})
