import { expect, it } from 'vitest'
import { settled } from '../../test/support/virtual.ts'
import { limitConcurrency } from './limit-concurrency.ts'

/** Work that ends when the test says so. */
function createControlledTask() {
  let began = false
  let resolve = (_value: string) => {}
  let reject = (_error: Error) => {}
  const over = new Promise<string>((well, badly) => {
    resolve = well
    reject = badly
  })
  const run = () => {
    began = true
    return over
  }
  return { run, resolve, reject, began: () => began }
}

it('runs at most that many at the same time, and the others in order', async () => {
  const inSlots = limitConcurrency(4)
  const works = Array.from({ length: 7 }, createControlledTask)
  const ends = works.map(({ run }) => inSlots(run))
  const running = () => works.map((work) => work.began())
  await settled()
  const before = running()
  works[2]?.resolve('c')
  await settled()
  const after = running()
  for (const { resolve } of works) resolve('over')

  expect(before).toEqual([true, true, true, true, false, false, false])
  expect(after).toEqual([true, true, true, true, true, false, false])
  expect(await Promise.all(ends)).toEqual(['over', 'over', 'c', 'over', 'over', 'over', 'over'])
})

it('gives the slot of failed work to the next one', async () => {
  const inSlots = limitConcurrency(1)
  const [first, second] = [createControlledTask(), createControlledTask()]
  const failed = inSlots(first.run)
  const then = inSlots(second.run)
  first.reject(new Error('no'))
  second.resolve('fine')

  await expect(failed).rejects.toThrow('no')
  expect(await then).toBe('fine')
})

it('can be used again after all work has ended', async () => {
  const inSlots = limitConcurrency(2)
  for (let round = 0; round < 5; round++) {
    expect(await Promise.all([1, 2, 3].map((n) => inSlots(async () => n)))).toEqual([1, 2, 3])
  }
})
