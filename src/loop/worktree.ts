import type { Fact } from './core/fact.ts'
import { createNote, type Order, type Decision } from './core/order.ts'
import { setHistory, type Sprint } from './core/sprint.ts'

/** Removes the worktree of a completed sprint once nothing runs in it. */
export function cleanUpWorktree(before: Sprint, after: Sprint, { type }: Fact): Order[] {
  if (!isCleanupDue(after) || (isCleanupDue(before) && type !== 'started')) return []
  return [{ type: 'clean-worktree' }]
}

const isCleanupDue = ({ status, plan: { worktree }, history: { worktreeState, hookTasks } }: Sprint): boolean =>
  status === 'completed' &&
  worktree !== undefined &&
  worktree.cleanup !== 'never' &&
  worktreeState !== undefined &&
  worktreeState.cleanedUp !== true &&
  !hookTasks.some((task) => task.status === 'running')

export function onWorktreeCleaned(sprint: Sprint, { kept }: Extract<Fact, { type: 'worktree-cleaned' }>): Decision {
  const { worktree } = sprint.plan
  const { worktreeState } = sprint.history
  const place = worktree?.path ?? ''
  if (kept !== undefined) return { sprint, orders: [createNote('warning', `the worktree ${place} is kept: ${kept}`)] }
  const text = `the worktree ${place} is removed; the work is on branch ${worktree?.branch ?? ''}`
  const cleaned = worktreeState && { worktreeState: { ...worktreeState, cleanedUp: true } }
  return { sprint: setHistory(sprint, { ...cleaned }), orders: [createNote('info', text)] }
}
