import type { SprintEvent } from '../contract/events.ts'
import type { Progress, SprintStatus } from '../contract/progress.ts'

/** What the runtime must do next. Every order except `tell` and `abort` results in one fact. A run ends when no order is open. */
export type Order =
  | { readonly type: 'run-attempt'; readonly iteration: number; readonly attempt: number }
  /** Iteration 0 is the baseline, before any change. */
  | { readonly type: 'run-checks'; readonly iteration: number; readonly names: readonly string[] }
  | { readonly type: 'run-gate'; readonly iteration: number }
  | { readonly type: 'run-review'; readonly iteration: number }
  | { readonly type: 'make-checkpoint'; readonly iteration: number }
  | { readonly type: 'run-hook'; readonly iteration: number; readonly hookId: string }
  | { readonly type: 'wait'; readonly iteration: number; readonly until: number; readonly reason: string }
  | { readonly type: 'clean-worktree' }
  | { readonly type: 'notify'; readonly about: SprintStatus; readonly text: string }
  | { readonly type: 'abort'; readonly what: 'waits' | 'attempts' | 'all' }
  | { readonly type: 'tell'; readonly event: SprintEvent }

export type Transition = { readonly progress: Progress; readonly orders: readonly Order[] }

export const emitEvent = (event: SprintEvent): Order => ({ type: 'tell', event })

/** Prepends orders to a transition. */
export const andThen = (orders: readonly Order[], next: Transition): Transition => ({
  progress: next.progress,
  orders: [...orders, ...next.orders],
})
