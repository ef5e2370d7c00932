import { expect, it } from 'vitest'
import type { AgentEvent } from '../../contract/events.ts'
import { createEventFilter, type EventFilter } from './event-filter.ts'

const start = (id: string, name: string): AgentEvent => ({ kind: 'tool', phase: 'start', id, name })
const end = (id: string, ok: boolean): AgentEvent => ({ kind: 'tool', phase: 'end', id, ok })
const text: AgentEvent = { kind: 'text', text: 'hello' }
const retry: AgentEvent = { kind: 'retry', reason: 'overloaded' }
const turn = (ok: boolean): AgentEvent => ({ kind: 'terminal', ok })

const all = [
  text,
  start('1', 'Bash'),
  start('2', 'Edit'),
  end('2', true),
  end('1', false),
  start('3', 'Bash'),
  end('3', true),
  retry,
  turn(false),
]

const filterEvents = (criteria: EventFilter): AgentEvent[] => {
  const shown: AgentEvent[] = []
  const filter = createEventFilter(criteria, (event) => shown.push(event))
  for (const event of all) filter(event)
  return shown
}

it('passes everything without a filter', () => {
  expect(filterEvents({})).toEqual(all)
})

it('shows the calls of one tool, ignoring case, each with its result', () => {
  expect(filterEvents({ tool: 'bash' })).toEqual([
    start('1', 'Bash'),
    end('1', false),
    start('3', 'Bash'),
    end('3', true),
  ])
})

it('shows failed calls with their input, retries and failed turns', () => {
  expect(filterEvents({ errors: true })).toEqual([start('1', 'Bash'), end('1', false), retry, turn(false)])
})

it('shows the failed calls of one tool and no others', () => {
  expect(filterEvents({ tool: 'Bash', errors: true })).toEqual([start('1', 'Bash'), end('1', false)])
  expect(filterEvents({ tool: 'Edit', errors: true })).toEqual([])
})
