import { RalphError } from '../contract/errors.ts'
import type { LiveIteration, Progress } from '../contract/progress.ts'
import type { Fact } from '../loop/core/fact.ts'
import type { Order } from '../loop/core/order.ts'
import type { Ports } from './ports.ts'

export type RunnableOrder = Exclude<Order, { type: 'tell' } | { type: 'abort' }>
export type OrderByType<T extends RunnableOrder['type']> = Extract<RunnableOrder, { type: T }>
/** What an order needs to run: `progress` is the state when the loop issued the order. */
export type OrderContext = {
  readonly progress: Progress
  readonly ports: Ports
  readonly signal: AbortSignal
  /** Reports something that happens while the order runs; absent: only its end is reported. */
  readonly send?: (fact: Fact) => void
}

export function requireLiveIteration(progress: Progress, iteration: number): LiveIteration {
  const live = progress.live.find(({ number }) => number === iteration)
  if (!live) throw new RalphError('INTERNAL', `iteration ${iteration} is not running`)
  return live
}
