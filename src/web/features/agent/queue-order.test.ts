import { expect, it } from 'vitest'
import { aPrompt, idOf } from '../../../../test/support/fake-fleet.ts'
import { beforeWhich, ordered } from './queue-order.ts'

const agent = idOf('agent')
const queued = ['a', 'b', 'c'].map((text, position) => aPrompt(agent, text, { id: text, position }))

it('shows the running prompt, then the queue in order, then finished prompts, newest first', () => {
  const all = [
    aPrompt(agent, 'old', { id: 'old', status: 'finished', endedAt: 1 }),
    ...queued.toReversed(),
    aPrompt(agent, 'new', { id: 'new', status: 'failed', endedAt: 2 }),
    aPrompt(agent, 'runs', { id: 'runs', status: 'running' }),
  ]
  const ids = Object.values(ordered(all)).map((prompts) => prompts.map(({ id }) => id))
  expect(ids).toEqual([['runs'], ['a', 'b', 'c'], ['new', 'old']])
})

it('moves a prompt by one place, and not beyond the ends', () => {
  expect([
    beforeWhich(queued, 'b', 'up'),
    beforeWhich(queued, 'a', 'down'),
    beforeWhich(queued, 'b', 'down'),
    beforeWhich(queued, 'a', 'up'),
    beforeWhich(queued, 'c', 'down'),
    beforeWhich(queued, 'gone', 'up'),
  ]).toEqual(['a', 'c', null, undefined, undefined, undefined])
})
