import { expect, it } from 'vitest'
import { after, started } from '../../../test/support/builders.ts'
import { buildItem, buildPhase, buildStandard, completes, fails, forEach } from '../../../test/support/phases.ts'
import { createPaint } from '../io/paint.ts'
import { phaseLines } from './phase-lines.ts'

const look = { paint: createPaint(false), width: 80 }

it('shows each phase, and the items of the open ones', () => {
  const steps = [buildItem('x'), buildItem('y'), buildItem('z', { dependsOn: ['y'] })]
  const progress = buildStandard([buildPhase('a'), forEach('work', steps, { parallel: true }), buildPhase('c')])
  const now = after(progress, started(), completes('a'), completes('work/x'), fails('work/y', 'no parser')).progress

  expect(phaseLines(now, look)).toEqual([
    '  ✓ a  a ok',
    '  ✗ work  1 of 3 items  y: no parser',
    '    ✗ y  no parser',
    '    – z  depends on y, which failed',
    '  ○ c  do c',
  ])
})

it('does not list thousands of items', () => {
  const steps = Array.from({ length: 1000 }, (_, index) => buildItem(`i${index}`))

  expect(phaseLines(buildStandard([forEach('work', steps)]), look)).toHaveLength(22)
})
