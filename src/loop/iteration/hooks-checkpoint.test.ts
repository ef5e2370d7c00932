import { expect, it } from 'vitest'
import {
  after,
  buildHook,
  buildProgress,
  hookEnds,
  interrupted,
  noon,
  reports,
  started,
  workOrders,
} from '../../../test/support/builders.ts'
import type { Fact } from '../core/fact.ts'

const kept = (commit?: string): Fact => ({ type: 'checkpoint-made', at: noon, iteration: 1, commit })
const sequential = buildHook({ id: 'first' })
const parallel = buildHook({ id: 'background', parallel: true })
const sprint = buildProgress({ checkpoint: true, perIterationHooks: [parallel, sequential] })
const keeping = after(sprint, started(), reports(), hookEnds('first'))

it('a checkpoint is made after the sequential hooks and before the parallel ones', () => {
  const { progress, orders } = after(keeping.progress, kept('c0ffee'))

  expect(workOrders(keeping.orders)).toEqual([{ type: 'make-checkpoint', iteration: 1 }])
  expect(workOrders(orders)).toEqual([
    { type: 'run-hook', iteration: 1, hookId: 'background' },
    { type: 'run-attempt', iteration: 2, attempt: 1 },
  ])
  expect(progress.iterations).toMatchObject([{ number: 1, checkpoint: 'c0ffee' }])
})

it('an iteration without changes has no checkpoint', () => {
  expect(after(keeping.progress, kept()).progress.iterations[0]).not.toHaveProperty('checkpoint')
})

it('no checkpoint is made if checkpoints are disabled', () => {
  const { orders } = after(buildProgress({ checkpoint: false }), started(), reports())

  expect(workOrders(orders)).toEqual([{ type: 'run-attempt', iteration: 2, attempt: 1 }])
})

it('a checkpoint is made again after a crash', () => {
  expect(workOrders(after(keeping.progress, started()).orders)).toEqual([{ type: 'make-checkpoint', iteration: 1 }])
})

it('a checkpoint made while the sprint is interrupted is kept; the next run does the rest', () => {
  const late = after(keeping.progress, interrupted, kept('c0ffee'))
  const resumed = after(late.progress, started())

  expect(late.progress.live).toMatchObject([{ number: 1, checkpoint: 'c0ffee' }])
  expect(workOrders(late.orders)).toEqual([])
  expect(after(resumed.progress, kept()).progress.iterations).toMatchObject([{ number: 1, checkpoint: 'c0ffee' }])
})

it('a checkpoint that was not ordered is illegal', () => {
  expect(() => after(sprint, started(), kept())).toThrow(expect.objectContaining({ code: 'FACT_ILLEGAL' }))
})
