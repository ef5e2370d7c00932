import { RalphError } from '../contract/errors.ts'
import type { LiveIteration, Progress } from '../contract/progress.ts'
import type { Order } from '../loop/order.ts'
import type { Ports } from './ports.ts'

export type Work = Exclude<Order, { type: 'tell' } | { type: 'abort' }>
export type Doing<T extends Work['type']> = Extract<Work, { type: T }>
/** What an order needs to run: `progress` is the state when the loop issued the order. */
export type Context = { readonly progress: Progress; readonly ports: Ports; readonly signal: AbortSignal }

export function liveOf(progress: Progress, iteration: number): LiveIteration {
  const live = progress.live.find(({ number }) => number === iteration)
  if (!live) throw new RalphError('INTERNAL', `iteration ${iteration} is not running`)
  return live
}
