import { RalphError } from '../contract/errors.ts'
import type { LiveIteration, Progress } from '../contract/progress.ts'
import type { Order } from '../loop/order.ts'
import type { Ports } from './ports.ts'

export type Work = Exclude<Order, { type: 'tell' } | { type: 'abort' }>
export type Doing<T extends Work['type']> = Extract<Work, { type: T }>
/** What an order is carried out with: the progress as it was when it was given. */
export type Context = { readonly progress: Progress; readonly ports: Ports; readonly signal: AbortSignal }

export function liveOf(progress: Progress, iteration: number): LiveIteration {
  const live = progress.live.find(({ number }) => number === iteration)
  if (!live) throw new RalphError('INTERNAL', `iteration ${iteration} is not under way`)
  return live
}
