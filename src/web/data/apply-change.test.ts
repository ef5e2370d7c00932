import { QueryClient } from '@tanstack/react-query'
import { expect, it } from 'vitest'
import {
  buildGlance,
  buildMachine,
  buildAgentRow,
  buildQuestion,
  buildSprint,
} from '../../../test/support/fake-fleet.ts'
import { applyChanges } from './apply-change.ts'
import { keys } from './queries.ts'

const row = buildAgentRow('api', buildMachine('vm-1'), { sprint: buildGlance('Build') })
const sprint = buildSprint('Build', row.agent.id)

it('updates rows that pages have loaded, and adds none that no page has loaded', () => {
  const cache = new QueryClient()
  cache.setQueryData(keys.agents, [row])
  cache.setQueryData(keys.questions, [])
  const next = { ...row, queued: 3 }
  const question = buildQuestion(sprint, 'api')
  applyChanges(cache, [
    { type: 'agent', row: next },
    { type: 'question', question },
    { type: 'machine', machine: buildMachine('vm-9') },
  ])
  expect([keys.agents, keys.questions, keys.machines].map((key) => cache.getQueryData(key))).toEqual([
    [next],
    [question],
    undefined,
  ])
  applyChanges(cache, [{ type: 'agent-gone', agentId: row.agent.id }])
  expect(cache.getQueryData(keys.agents)).toEqual([])
})

it("appends events to their transcript and updates the sprint's freshness", () => {
  const cache = new QueryClient()
  const event = { type: 'note', level: 'info', text: 'hi' } as const
  const stored = { id: '7', agentId: row.agent.id, sprintId: sprint.id, seq: 1, at: 77, event }
  const open = { events: [], detached: false, cut: false }
  cache.setQueryData(keys.sprint(sprint.id), sprint)
  cache.setQueryData([...keys.events(sprint.id), {}], open)
  cache.setQueryData([...keys.events(sprint.id), { iteration: 4 }], open)
  applyChanges(cache, [{ type: 'event', event: stored }])
  expect(cache.getQueryData([...keys.events(sprint.id), {}])).toEqual({ ...open, events: [stored] })
  expect(cache.getQueryData([...keys.events(sprint.id), { iteration: 4 }])).toEqual(open)
  expect(cache.getQueryData(keys.sprint(sprint.id))).toEqual({ ...sprint, lastEventAt: 77 })
})

it('refetches a sprint only for a newer revision', () => {
  const cache = new QueryClient()
  cache.setQueryData(keys.sprint(sprint.id), { ...sprint, rev: 5 })
  const stale = () => cache.getQueryState(keys.sprint(sprint.id))?.isInvalidated
  applyChanges(cache, [{ type: 'sprint', sprintId: sprint.id, agentId: row.agent.id, rev: 5 }])
  expect(stale()).toBe(false)
  applyChanges(cache, [{ type: 'sprint', sprintId: sprint.id, agentId: row.agent.id, rev: 6 }])
  expect(stale()).toBe(true)
})

it('refetches everything when too much was missed', () => {
  const cache = new QueryClient()
  cache.setQueryData(keys.agents, [row])
  applyChanges(cache, [{ type: 'start-over' }])
  expect(cache.getQueryState(keys.agents)?.isInvalidated).toBe(true)
})
