import { noUsage } from '../../contract/outcome.ts'
import type { LiveIteration } from '../../contract/progress.ts'
import { emitEvent, type Decision, type Order } from './order.ts'
import { setStats, type Sprint } from './sprint.ts'

type IterationOpening = Pick<LiveIteration, 'mode' | 'step' | 'work' | 'agent'> & {
  readonly stepPrompt?: string
  /** Delay of its first attempt. */
  readonly wait?: { readonly until: number; readonly reason: string }
}

/** Opens the iteration with the next number and its first attempt. */
export function openIteration(
  sprint: Sprint,
  { stepPrompt, wait, ...opening }: IterationOpening,
  at: number,
): Decision {
  const added = addIteration(
    sprint,
    { ...opening, stage: wait ? 'waiting' : 'agent', attempt: 1, ...(!wait && { promptedAt: at }) },
    at,
  )
  const { number: iteration } = added.live
  const { mode, step, work } = opening
  const started = emitEvent({ type: 'iteration-started', iteration, mode, step, stepPrompt, ...(work && { work }) })
  const order: Order = wait ? { type: 'wait', iteration, ...wait } : { type: 'run-attempt', iteration, attempt: 1 }
  return { sprint: added.sprint, orders: [started, order] }
}

type NewIteration = Omit<LiveIteration, 'number' | 'startedAt' | 'costUsd' | 'usage'>

export function addIteration(sprint: Sprint, fields: NewIteration, at: number) {
  const number = sprint.stats.currentIteration + 1
  const live: LiveIteration = { number, ...fields, startedAt: at, costUsd: 0, usage: noUsage }
  return { live, sprint: { ...setStats(sprint, { currentIteration: number }), live: [...sprint.live, live] } }
}
