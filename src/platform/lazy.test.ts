import { expect, it } from 'vitest'
import { lazy } from './lazy.ts'

it('creates a value once, also if the value is undefined', () => {
  const calls: number[] = []
  const read = lazy(() => void calls.push(1))
  read()
  read()
  expect(calls).toEqual([1])
})

it('creates it again after a failure', () => {
  let failures = 1
  const read = lazy(() => {
    if (failures-- > 0) throw new Error('not yet')
    return 'ready'
  })
  expect(read).toThrow('not yet')
  expect(read()).toBe('ready')
})
