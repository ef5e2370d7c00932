import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { areOver, firstOpenIn, hasFailed, isOver, replaceIn, someFailed, unitIn, type Unit } from './units.ts'

const status = fc.constantFrom(
  'pending',
  'in-progress',
  'completed',
  'blocked',
  'skipped',
  'failed',
) satisfies fc.Arbitrary<Unit['status']>

it('the cached tally is correct after any changes', () => {
  fc.assert(
    fc.property(
      fc.array(status, { maxLength: 8 }),
      fc.array(fc.record({ index: fc.nat(9), to: status }), { maxLength: 20 }),
      (first, changes) => {
        let units: Unit[] = first.map((each, index) => ({ id: `u${index}`, status: each }))
        for (const { index, to } of changes) {
          const before = units
          const expected = units.map((unit, at) => (at === index ? { ...unit, status: to } : unit))
          units = replaceIn(Object.freeze(units), `u${index}`, (unit) => ({ ...unit, status: to }))

          expect(units).toEqual(expected)
          expect(units).not.toBe(before)
          expect(areOver(units)).toBe(units.every(isOver))
          expect(someFailed(units)).toBe(units.some(hasFailed))
          expect(firstOpenIn(units) ?? -1).toBe(units.findIndex((unit) => !isOver(unit)))
          expect(unitIn(units, `u${index}`)).toBe(units[index])
        }
      },
    ),
    { seed: 20_261_115, numRuns: 300 },
  )
})

it('an unknown id changes nothing', () => {
  const units: Unit[] = [{ id: 'a', status: 'pending' }]

  expect(replaceIn(units, 'b', () => ({ id: 'b', status: 'failed' }))).toEqual(units)
  expect([unitIn(units, 'b'), unitIn(units, undefined)]).toEqual([undefined, undefined])
})
