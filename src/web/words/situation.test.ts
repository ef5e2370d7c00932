import { describe, expect, it } from 'vitest'
import { aGlance, aMachine, anAgentRow } from '../../../test/support/fake-fleet.ts'
import { byNeed, situationOf } from './situation.ts'

const now = Date.now()
const machine = aMachine('vm-1')
const lost = aMachine('vm-2', { reachable: false })

describe('the situation of an agent', () => {
  it('is unknown, not failed, when its machine stops responding while it works', () => {
    const row = anAgentRow('infra', lost, { sprint: aGlance('Upgrade') })
    expect(situationOf(row, now)).toEqual({
      group: 'resting',
      tone: 'bad',
      label: 'Unknown: vm-2 is not responding',
      unknown: true,
    })
  })

  it('is a question before anything else', () => {
    const question = { id: machine.id, reason: 'Postgres or Redis?', askedAt: now }
    const row = anAgentRow('api', lost, { sprint: aGlance('Build', { question }) })
    expect(situationOf(row, now)).toMatchObject({ group: 'needs-you', label: 'asks: Postgres or Redis?', asks: true })
  })

  it('stops being failed after a while', () => {
    const failed = (updatedAt: number) =>
      anAgentRow('a', machine, { sprint: aGlance('x', { status: 'failed', updatedAt }) })
    expect([situationOf(failed(now), now).label, situationOf(failed(now - 2 * 86_400_000), now).label]).toEqual([
      'Failed',
      'Idle',
    ])
  })

  it("distinguishes a user's own prompt from a sprint", () => {
    expect(situationOf(anAgentRow('a', machine, { agent: { state: 'running' } }), now).label).toBe(
      'Running · your prompt',
    )
  })
})

it('sorts by urgency: questions, failures, unknown, parked, running, the rest', () => {
  const question = { id: machine.id, reason: 'Which?', askedAt: now - 1000 }
  const rows = [
    anAgentRow('idle', machine),
    anAgentRow('runs', machine, { sprint: aGlance('r') }),
    anAgentRow('parked', machine, { sprint: aGlance('p', { status: 'parked' }) }),
    anAgentRow('unknown', lost, { sprint: aGlance('u') }),
    anAgentRow('failed', machine, { sprint: aGlance('f', { status: 'failed' }) }),
    anAgentRow('asks', machine, { sprint: aGlance('q', { question }) }),
    anAgentRow('asks longer', machine, { sprint: aGlance('q2', { question: { ...question, askedAt: now - 9000 } }) }),
  ]
  expect(byNeed(rows, now).map(({ agent }) => agent.name)).toEqual([
    'asks longer',
    'asks',
    'failed',
    'unknown',
    'parked',
    'runs',
    'idle',
  ])
})
