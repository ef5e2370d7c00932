import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  areAllFinished,
  findFirstOpen,
  hasFailed,
  isFinished,
  replaceUnit,
  hasAnyFailed,
  findUnit,
  type WorkUnit,
} from './units.ts'

const status = fc.constantFrom(
  'pending',
  'in-progress',
  'completed',
  'blocked',
  'skipped',
  'failed',
) satisfies fc.Arbitrary<WorkUnit['status']>

it('the cached tally is correct after any changes', () => {
  fc.assert(
    fc.property(
      fc.array(status, { maxLength: 8 }),
      fc.array(fc.record({ index: fc.nat(9), to: status }), { maxLength: 20 }),
      (first, changes) => {
        let units: WorkUnit[] = first.map((each, index) => ({ id: `u${index}`, status: each }))
        for (const { index, to } of changes) {
          const before = units
          const expected = units.map((unit, at) => (at === index ? { ...unit, status: to } : unit))
          units = replaceUnit(Object.freeze(units), `u${index}`, (unit) => ({ ...unit, status: to }))

          expect(units).toEqual(expected)
          expect(units).not.toBe(before)
          expect(areAllFinished(units)).toBe(units.every(isFinished))
          expect(hasAnyFailed(units)).toBe(units.some(hasFailed))
          expect(findFirstOpen(units) ?? -1).toBe(units.findIndex((unit) => !isFinished(unit)))
          expect(findUnit(units, `u${index}`)).toBe(units[index])
        }
      },
    ),
    { seed: 20_261_115, numRuns: 300 },
  )
})

it('an unknown id changes nothing', () => {
  const units: WorkUnit[] = [{ id: 'a', status: 'pending' }]

  expect(replaceUnit(units, 'b', () => ({ id: 'b', status: 'failed' }))).toEqual(units)
  expect([findUnit(units, 'b'), findUnit(units, undefined)]).toEqual([undefined, undefined])
})
