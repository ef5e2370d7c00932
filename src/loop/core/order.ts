import type { SprintEvent } from '../../contract/events.ts'
import type { SprintStatus } from '../../contract/progress.ts'
import type { Sprint } from './sprint.ts'

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

/** The next state of a sprint and what to do about it. */
export type Decision = { readonly sprint: Sprint; readonly orders: readonly Order[] }

export const emitEvent = (event: SprintEvent): Order => ({ type: 'tell', event })

export const createNote = (level: 'info' | 'warning', text: string): Order => emitEvent({ type: 'note', level, text })

/** Prepends orders to a decision. */
export const andThen = (orders: readonly Order[], next: Decision): Decision => ({
  sprint: next.sprint,
  orders: [...orders, ...next.orders],
})
