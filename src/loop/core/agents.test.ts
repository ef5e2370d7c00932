import { describe, expect, it } from 'vitest'
import {
  after,
  buildProgress,
  fails,
  noon,
  reports,
  started,
  emittedEvents,
  waitEnds,
  workOrders,
} from '../../../test/support/builders.ts'
import { chooseAgent, addAgentLimit } from './agents.ts'
import { fromProgress } from '../progress-codec.ts'

const hour = 3_600_000
const both = started({ agents: ['claude', 'codex'] })
const limited = (hours: number, at = noon) => fails({ class: 'usage_limit', resetsAt: noon + hours * hour }, at)
const notes = (orders: Parameters<typeof emittedEvents>[0]) =>
  emittedEvents(orders).flatMap((event) => (event.type === 'note' ? [event.text] : []))

describe('the agent that works', () => {
  const agents = { runAgents: ['claude', 'codex'] }

  it('is the first choice', () => {
    expect(chooseAgent(fromProgress(buildProgress(agents)), noon)).toEqual({ agent: 'claude' })
  })

  it('is the next one while the first is limited, up to the exact reset time', () => {
    const progress = buildProgress({ ...agents, agentLimits: [{ agent: 'claude', until: noon + 1 }] })

    expect(chooseAgent(fromProgress(progress), noon)).toEqual({ agent: 'codex' })
    expect(chooseAgent(fromProgress(progress), noon + 1)).toEqual({ agent: 'claude' })
  })

  it('is the one that is free first, if all are limited', () => {
    const agentLimits = [
      { agent: 'claude', until: noon + 5 },
      { agent: 'codex', until: noon + 3 },
      { agent: 'gemini', until: noon + 1 },
    ]

    expect(chooseAgent(fromProgress(buildProgress({ ...agents, agentLimits })), noon)).toEqual({
      agent: 'codex',
      until: noon + 3,
    })
  })

  it('is undefined if no agents are configured', () => {
    expect(chooseAgent(fromProgress(buildProgress()), noon)).toEqual({})
  })
})

it('a limit replaces the previous one of the same agent, and expired limits are dropped', () => {
  const agentLimits = [
    { agent: 'claude', until: noon + 5 },
    { agent: 'codex', until: noon - 5 },
  ]

  expect(
    addAgentLimit(fromProgress(buildProgress({ agentLimits })), 'claude', noon + 9, noon).history.agentLimits,
  ).toEqual([{ agent: 'claude', until: noon + 9 }])
})

describe('a switch', () => {
  it('is reported, there and back', () => {
    const there = after(buildProgress(), both, limited(5))
    const back = after(there.progress, reports({}, noon + 6 * hour))

    expect(notes(there.orders)).toEqual(['claude has reached its usage limit; codex takes over'])
    expect(back.progress.live).toMatchObject([{ number: 2, agent: 'claude' }])
    expect(notes(back.orders)).toEqual(['claude takes over from codex'])
  })

  it('is not reported if the agent stays the same', () => {
    expect(notes(after(buildProgress(), both, reports()).orders)).toEqual([])
  })
})

describe('a limit that another sprint has reported', () => {
  const known = fails({ class: 'usage_limit', resetsAt: noon + hour, notStarted: true })

  it('parks the sprint without starting an agent', () => {
    const { progress } = after(buildProgress(), started({ agents: ['claude'] }), known)

    expect(progress).toMatchObject({ status: 'parked', parked: { until: noon + hour }, live: [{ attempt: 1 }] })
    expect(progress).not.toHaveProperty('failedStarts')
    expect(after(progress, waitEnds(noon + hour), reports()).progress.iterations).toMatchObject([{ attempts: 1 }])
  })

  it('also makes a fallback take over', () => {
    const { progress, orders } = after(buildProgress(), both, known)

    expect(progress.live).toMatchObject([{ agent: 'codex', attempt: 1 }])
    expect(workOrders(orders)).toEqual([{ type: 'run-attempt', iteration: 1, attempt: 1 }])
  })
})

describe('the next run of a parked sprint', () => {
  const parked = after(buildProgress(), started({ agents: ['claude'] }), limited(5)).progress

  it('continues to wait, and reports until when', () => {
    const { progress, orders } = after(parked, started({ at: noon + hour, agents: ['claude'] }))

    expect(progress.status).toBe('parked')
    expect(workOrders(orders)).toMatchObject([{ type: 'wait', until: noon + 5 * hour }])
    expect(notes(orders)).toEqual(['waits until 2026-01-18T17:00:00.000Z: exit code 1'])
  })

  it('does not wait if another agent is available', () => {
    const { progress, orders } = after(parked, started({ at: noon + hour, agents: ['codex'] }))

    expect(progress).toMatchObject({ status: 'in-progress', live: [{ number: 1, agent: 'codex' }] })
    expect(progress).not.toHaveProperty('parked')
    expect(workOrders(orders)).toMatchObject([{ type: 'wait', until: 0 }])
  })
})
