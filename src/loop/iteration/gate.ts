import type { LiveIteration } from '../../contract/progress.ts'
import type { Fact } from '../core/fact.ts'
import { createIllegalFact, getLiveIteration, replaceLive } from '../core/live-iteration.ts'
import { andThen, type Decision } from '../core/order.ts'
import type { Sprint } from '../core/sprint.ts'
import { getWay } from '../ways/registry.ts'
import { runHooks } from './hooks.ts'

/** Runs the gate after the agent and the checks, if one is due; otherwise continues with the hooks. */
export const startGate = (sprint: Sprint, live: LiveIteration, at: number): Decision =>
  getWay(sprint).gate?.start(sprint, live) ?? runHooks(sprint, live, at)

export function onGateEnded(sprint: Sprint, fact: Extract<Fact, { type: 'gate-ended' }>): Decision {
  const { gate } = getWay(sprint)
  const before = getLiveIteration(sprint, fact.iteration, fact)
  if (before.stage !== 'gate' || !gate) throw createIllegalFact(sprint, fact, 'no gate is running')
  const { sprint: known, live, orders } = gate.onEnded(sprint, before, fact)
  return andThen(orders, runHooks(replaceLive(known, live), live, fact.at))
}
