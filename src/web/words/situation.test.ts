import { describe, expect, it } from 'vitest'
import { buildGlance, buildMachine, buildAgentRow } from '../../../test/support/fake-fleet.ts'
import { sortByNeed, describeSituation } from './situation.ts'

const now = Date.now()
const machine = buildMachine('vm-1')
const lost = buildMachine('vm-2', { reachable: false })

describe('the situation of an agent', () => {
  it('is unknown, not failed, when its machine stops responding while it works', () => {
    const row = buildAgentRow('infra', lost, { sprint: buildGlance('Upgrade') })
    expect(describeSituation(row, now)).toEqual({
      group: 'resting',
      tone: 'bad',
      label: 'Unknown: vm-2 is not responding',
      unknown: true,
    })
  })

  it('is a question before anything else', () => {
    const question = { id: machine.id, reason: 'Postgres or Redis?', askedAt: now }
    const row = buildAgentRow('api', lost, { sprint: buildGlance('Build', { question }) })
    expect(describeSituation(row, now)).toMatchObject({
      group: 'needs-you',
      label: 'asks: Postgres or Redis?',
      asks: true,
    })
  })

  it('stops being failed after a while', () => {
    const failed = (updatedAt: number) =>
      buildAgentRow('a', machine, { sprint: buildGlance('x', { status: 'failed', updatedAt }) })
    expect([
      describeSituation(failed(now), now).label,
      describeSituation(failed(now - 2 * 86_400_000), now).label,
    ]).toEqual(['Failed', 'Idle'])
  })

  it("distinguishes a user's own prompt from a sprint", () => {
    expect(describeSituation(buildAgentRow('a', machine, { agent: { state: 'running' } }), now).label).toBe(
      'Running · your prompt',
    )
  })
})

it('sorts by urgency: questions, failures, unknown, parked, running, the rest', () => {
  const question = { id: machine.id, reason: 'Which?', askedAt: now - 1000 }
  const rows = [
    buildAgentRow('idle', machine),
    buildAgentRow('runs', machine, { sprint: buildGlance('r') }),
    buildAgentRow('parked', machine, { sprint: buildGlance('p', { status: 'parked' }) }),
    buildAgentRow('unknown', lost, { sprint: buildGlance('u') }),
    buildAgentRow('failed', machine, { sprint: buildGlance('f', { status: 'failed' }) }),
    buildAgentRow('asks', machine, { sprint: buildGlance('q', { question }) }),
    buildAgentRow('asks longer', machine, {
      sprint: buildGlance('q2', { question: { ...question, askedAt: now - 9000 } }),
    }),
  ]
  expect(sortByNeed(rows, now).map(({ agent }) => agent.name)).toEqual([
    'asks longer',
    'asks',
    'failed',
    'unknown',
    'parked',
    'runs',
    'idle',
  ])
})
