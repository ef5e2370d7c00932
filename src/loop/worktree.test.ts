import { describe, expect, it } from 'vitest'
import { after, aHook, aProgress, hookEnds, noon, reports, started, told, work } from '../../test/support/builders.ts'
import type { Progress } from '../contract/progress.ts'

const worktree: Progress['worktree'] = { enabled: true, branch: 'sprint/S', path: '../S', cleanup: 'on-complete' }
const inWorktree = (given: Partial<Progress> = {}) => aProgress({ worktree, ...given })
const begins = started({ worktree: { createdAt: noon } })
const claims = reports({ status: 'goal-complete' })

describe('the worktree of a completed sprint', () => {
  it('is removed', () => {
    const { progress, orders } = after(inWorktree(), begins, claims)

    expect(progress).toMatchObject({ status: 'completed', worktreeState: { createdAt: noon } })
    expect(work(orders)).toEqual([{ type: 'clean-worktree' }])
  })

  it('is kept while hooks still run in it', () => {
    const hooked = inWorktree({ perIterationHooks: [aHook({ parallel: true })] })
    const completed = after(hooked, begins, claims)

    expect(work(completed.orders)).toEqual([{ type: 'run-hook', iteration: 1, hookId: 'lint' }])
    expect(work(after(completed.progress, hookEnds()).orders)).toEqual([{ type: 'clean-worktree' }])
  })

  it('is checked again by the next run if it was kept, but not once it is removed', () => {
    const completed = after(inWorktree(), begins, claims).progress
    const kept = after(completed, { type: 'worktree-cleaned', at: noon, kept: 'not merged' })
    const removed = after(completed, { type: 'worktree-cleaned', at: noon }).progress

    expect(told(kept.orders)).toEqual([
      { type: 'note', level: 'warning', text: 'the worktree ../S is kept: not merged' },
    ])
    expect(work(kept.orders)).toEqual([])
    expect(work(after(kept.progress, begins).orders)).toEqual([{ type: 'clean-worktree' }])
    expect(removed.worktreeState).toEqual({ createdAt: noon, cleanedUp: true })
    expect(work(after(removed, begins).orders)).toEqual([])
  })

  it('stays with cleanup: never', () => {
    expect(work(after(inWorktree({ worktree: { ...worktree, cleanup: 'never' } }), begins, claims).orders)).toEqual([])
  })
})
