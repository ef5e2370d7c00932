import { describe, expect, it } from 'vitest'
import {
  after,
  buildHook,
  buildProgress,
  hookEnds,
  noon,
  reports,
  started,
  emittedEvents,
  workOrders,
} from '../../test/support/builders.ts'
import type { Progress } from '../contract/progress.ts'

const worktree: Progress['worktree'] = { enabled: true, branch: 'sprint/S', path: '../S', cleanup: 'on-complete' }
const inWorktree = (overrides: Partial<Progress> = {}) => buildProgress({ worktree, ...overrides })
const begins = started({ worktree: { createdAt: noon } })
const claims = reports({ status: 'goal-complete' })

describe('the worktree of a completed sprint', () => {
  it('is removed', () => {
    const { progress, orders } = after(inWorktree(), begins, claims)

    expect(progress).toMatchObject({ status: 'completed', worktreeState: { createdAt: noon } })
    expect(workOrders(orders)).toEqual([{ type: 'clean-worktree' }])
  })

  it('is kept while hooks still run in it', () => {
    const hooked = inWorktree({ perIterationHooks: [buildHook({ parallel: true })] })
    const completed = after(hooked, begins, claims)

    expect(workOrders(completed.orders)).toEqual([{ type: 'run-hook', iteration: 1, hookId: 'lint' }])
    expect(workOrders(after(completed.progress, hookEnds()).orders)).toEqual([{ type: 'clean-worktree' }])
  })

  it('is checked again by the next run if it was kept, but not once it is removed', () => {
    const completed = after(inWorktree(), begins, claims).progress
    const kept = after(completed, { type: 'worktree-cleaned', at: noon, kept: 'not merged' })
    const removed = after(completed, { type: 'worktree-cleaned', at: noon }).progress

    expect(emittedEvents(kept.orders)).toEqual([
      { type: 'note', level: 'warning', text: 'the worktree ../S is kept: not merged' },
    ])
    expect(workOrders(kept.orders)).toEqual([])
    expect(workOrders(after(kept.progress, begins).orders)).toEqual([{ type: 'clean-worktree' }])
    expect(removed.worktreeState).toEqual({ createdAt: noon, cleanedUp: true })
    expect(workOrders(after(removed, begins).orders)).toEqual([])
  })

  it('stays with cleanup: never', () => {
    expect(
      workOrders(after(inWorktree({ worktree: { ...worktree, cleanup: 'never' } }), begins, claims).orders),
    ).toEqual([])
  })
})
