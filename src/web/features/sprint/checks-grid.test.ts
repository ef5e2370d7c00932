import { expect, it } from 'vitest'
import { buildCheck, buildProgress } from '../../../../test/support/builders.ts'
import { buildIteration } from '../../../../test/support/fake-fleet.ts'
import { createCheckGrid } from './checks-grid.ts'

const check = (name: string, passed: boolean) => ({ name, passed })

it('shows when each check turned green and which ones regressed', () => {
  const iterations = [
    buildIteration(1, { checks: [check('npm test', false), check('tsc', true)] }),
    buildIteration(2),
    buildIteration(3, {
      checks: [check('npm test', true), check('tsc', false)],
      review: { passed: true, summary: '' },
    }),
  ]
  expect(createCheckGrid(iterations, buildProgress({ doneWhen: [buildCheck({ run: 'npm test' })] }))).toEqual({
    columns: [1, 3],
    rows: [
      { name: 'npm test', marks: [false, true], firstGreen: 3, regressed: false },
      { name: 'tsc', marks: [true, false], firstGreen: 1, regressed: true },
      { name: 'review', marks: [undefined, true], firstGreen: 3, regressed: false },
    ],
  })
})

it('names checks that have not run yet', () => {
  expect(
    createCheckGrid([], buildProgress({ doneWhen: [buildCheck({ run: 'npm test', name: 'unit tests' })] })),
  ).toEqual({
    columns: [],
    rows: [{ name: 'unit tests', marks: [], firstGreen: undefined, regressed: false }],
  })
})
