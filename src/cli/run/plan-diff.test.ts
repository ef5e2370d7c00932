import { expect, it } from 'vitest'
import { buildProgress } from '../../../test/support/builders.ts'
import { diffPlans } from './plan-diff.ts'

const buildCheck = (run: string) => ({ run, timeout: 1000, eachIteration: false, protect: false })

it('shows each changed setting with its old and its new value, and nothing else', () => {
  const before = buildProgress({ goal: 'one\ntwo', doneWhen: [buildCheck('npm test'), buildCheck('npm run lint')] })
  const after = buildProgress({ goal: 'one\nthree', doneWhen: [buildCheck('true')], mayChange: ['test/**'] })
  expect(diffPlans(before, after).filter((line) => !line.includes('[1].'))).toEqual([
    '- goal: two',
    '+ goal: three',
    '- done-when[0].run: npm test',
    '+ done-when[0].run: true',
    '+ may-change[0]: test/**',
  ])
})

it('shows a removed check', () => {
  const before = buildProgress({ doneWhen: [buildCheck('npm test')] })
  expect(diffPlans(before, buildProgress({ doneWhen: [] }))).toContain('- done-when[0].run: npm test')
})
