import { expect, it } from 'vitest'
import { buildPrompt, createFakeId } from '../../../../test/support/fake-fleet.ts'
import { findMoveTarget, orderPrompts } from './queue-order.ts'

const agent = createFakeId('agent')
const queued = ['a', 'b', 'c'].map((text, position) => buildPrompt(agent, text, { id: text, position }))

it('shows the running prompt, then the queue in order, then finished prompts, newest first', () => {
  const all = [
    buildPrompt(agent, 'old', { id: 'old', status: 'finished', endedAt: 1 }),
    ...queued.toReversed(),
    buildPrompt(agent, 'new', { id: 'new', status: 'failed', endedAt: 2 }),
    buildPrompt(agent, 'runs', { id: 'runs', status: 'running' }),
  ]
  const ids = Object.values(orderPrompts(all)).map((prompts) => prompts.map(({ id }) => id))
  expect(ids).toEqual([['runs'], ['a', 'b', 'c'], ['new', 'old']])
})

it('moves a prompt by one place, and not beyond the ends', () => {
  expect([
    findMoveTarget(queued, 'b', 'up'),
    findMoveTarget(queued, 'a', 'down'),
    findMoveTarget(queued, 'b', 'down'),
    findMoveTarget(queued, 'a', 'up'),
    findMoveTarget(queued, 'c', 'down'),
    findMoveTarget(queued, 'gone', 'up'),
  ]).toEqual(['a', 'c', null, undefined, undefined, undefined])
})
