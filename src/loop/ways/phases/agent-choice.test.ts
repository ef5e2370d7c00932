import { expect, it } from 'vitest'
import { after, noon, started, workOrders } from '../../../../test/support/builders.ts'
import { buildPhase, buildStandard, breaks, completes } from '../../../../test/support/phases.ts'
import type { Fact } from '../../core/fact.ts'
import { chooseModel } from '../../way-queries.ts'

const phases = [buildPhase('a', { model: 'opus' }), buildPhase('b', { agent: ['codex', 'gemini'], model: 'gpt' })]

/** The agent and model of the second phase. */
function worker(overrides: Partial<Extract<Fact, { type: 'started' }>>) {
  const { progress } = after(buildStandard(phases), started({ agents: ['claude'], ...overrides }), completes('a'))
  const [live] = progress.live
  return live && [live.agent, chooseModel(progress, live)]
}

it('a phase uses its own agent and model, else those of the sprint', () => {
  const { progress } = after(buildStandard(phases), started({ agents: ['claude'] }))
  const [live] = progress.live

  expect(live && [live.agent, chooseModel(progress, live)]).toEqual(['claude', 'opus'])
  expect(worker({})).toEqual(['codex', 'gpt'])
})

it('the command line overrides the phase', () => {
  expect(worker({ choice: { agent: true } })).toEqual(['claude', undefined])
  expect(worker({ choice: { agent: true, model: 'tiny' } })).toEqual(['claude', 'tiny'])
  expect(worker({ choice: { model: 'tiny' } })).toEqual(['codex', 'tiny'])
})

it('an agent that is not installed is skipped, and a fallback uses its own model', () => {
  expect(worker({ choice: { missing: ['codex'] } })).toEqual(['gemini', undefined])

  const limited = breaks('b', { class: 'usage_limit', resetsAt: noon + 1000 })
  const { progress, orders } = after(buildStandard(phases), started({ agents: ['claude'] }), completes('a'), limited)
  const [live] = progress.live
  expect(live && [live.agent, chooseModel(progress, live)]).toEqual(['gemini', undefined])
  expect(workOrders(orders)).toEqual([{ type: 'run-attempt', iteration: 2, attempt: 2 }])
})
