import { expect, it } from 'vitest'
import { describeProof } from './proof-sentences.ts'

it('groups the tests of a proof by what they show, and leaves out empty groups', () => {
  const tests = { fixed: ['a.test.ts > adds'], added: [], stillRed: ['a.test.ts > divides'], missing: [] }
  expect(describeProof({ verdict: 'refused', room: 'clean', labels: ['weak proof'], tests })).toEqual({
    tone: 'bad',
    sentence: 'Refused: the claim does not hold',
    room: "in a clean copy at the project's own path, which no agent has touched",
    labels: ['weak proof'],
    groups: [
      { title: 'Red at the start, green now', tone: 'ok', names: ['a.test.ts > adds'] },
      { title: 'Still red', tone: 'bad', names: ['a.test.ts > divides'] },
    ],
  })
})
