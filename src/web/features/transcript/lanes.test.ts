import { expect, it } from 'vitest'
import type { SprintEvent } from '../../../contract/events.ts'
import { createLanes } from './lanes.ts'

const id = '0198b6a0-0000-7000-8000-000000000001'
const at = (seconds: number, event: SprintEvent) => ({
  id: `${seconds}`,
  agentId: id,
  seq: seconds,
  at: seconds * 1000,
  event,
})
const tool = (phase: 'start' | 'end', call: string): SprintEvent => ({
  type: 'agent',
  iteration: 1,
  attempt: 1,
  event: { kind: 'tool', phase, id: call },
})
const begin: SprintEvent = { type: 'attempt-started', iteration: 1, attempt: 1, agent: 'claude' }
const terminal: SprintEvent = { type: 'agent', iteration: 1, attempt: 1, event: { kind: 'terminal', ok: true } }

it('assigns the time between tools to the model; parallel tools are one stretch', () => {
  const events = [
    at(0, begin),
    at(10, tool('start', 'a')),
    at(12, tool('start', 'b')),
    at(20, tool('end', 'a')),
    at(25, tool('end', 'b')),
    at(30, terminal),
  ]
  expect(createLanes(events, 99_000)).toEqual({
    from: 0,
    to: 30_000,
    model: [
      { from: 0, to: 10_000 },
      { from: 25_000, to: 30_000 },
    ],
    tools: [{ from: 10_000, to: 25_000 }],
    modelMs: 15_000,
    toolsMs: 15_000,
  })
})

it('ends running work at the current time', () => {
  expect(createLanes([at(0, begin), at(10, tool('start', 'a'))], 15_000)).toMatchObject({
    to: 15_000,
    modelMs: 10_000,
    toolsMs: 5000,
  })
})

it('shows nothing without an attempt', () => {
  expect(createLanes([], 0)).toBeUndefined()
})
