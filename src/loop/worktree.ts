import type { Progress } from '../contract/progress.ts'
import type { Fact } from './core/fact.ts'
import { emitEvent, type Order, type Transition } from './core/order.ts'

/** Removes the worktree of a completed sprint once nothing runs in it. */
export function cleanUpWorktree(before: Progress, after: Progress, { type }: Fact): Order[] {
  if (!isCleanupDue(after) || (isCleanupDue(before) && type !== 'started')) return []
  return [{ type: 'clean-worktree' }]
}

const isCleanupDue = ({ status, worktree, worktreeState, hookTasks }: Progress): boolean =>
  status === 'completed' &&
  worktree !== undefined &&
  worktree.cleanup !== 'never' &&
  worktreeState !== undefined &&
  worktreeState.cleanedUp !== true &&
  !hookTasks.some((task) => task.status === 'running')

export function onWorktreeCleaned(
  progress: Progress,
  { kept }: Extract<Fact, { type: 'worktree-cleaned' }>,
): Transition {
  const { worktree, worktreeState } = progress
  const place = worktree?.path ?? ''
  if (kept !== undefined) {
    const text = `the worktree ${place} is kept: ${kept}`
    return { progress, orders: [emitEvent({ type: 'note', level: 'warning', text })] }
  }
  const cleaned = worktreeState && { worktreeState: { ...worktreeState, cleanedUp: true } }
  const text = `the worktree ${place} is removed; the work is on branch ${worktree?.branch ?? ''}`
  return { progress: { ...progress, ...cleaned }, orders: [emitEvent({ type: 'note', level: 'info', text })] }
}
